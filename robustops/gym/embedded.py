"""The embedded gym: a task in, a session out whose servers are SQLite databases in memory. No network, no clock."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.errors import GymError, TaskError
from robustops.core.task import GymServer, Task, ToolSchema
from robustops.gym.clock import VirtualClock
from robustops.gym.context import context_headers
from robustops.gym.domains import FOLDERS, load_toolbox
from robustops.gym.engine import Engine, unknown_tool
from robustops.gym.hashing import combined_digest
from robustops.gym.seeds import SeedStore
from robustops.gym.snapshot import ServerSnapshot, Snapshot, pack, unpack
from robustops.gym.toolbox import Toolbox


class EmbeddedGym:
    """Opens sessions. Seeds are cached here, so sessions of one task share the work of loading its seed."""

    def __init__(self, *, toolboxes: Sequence[Toolbox] | None = None, seeds: SeedStore | None = None) -> None:
        self._toolboxes = tuple(toolboxes) if toolboxes is not None else tuple(map(load_toolbox, FOLDERS))
        self._by_server = {name: toolbox for toolbox in self._toolboxes for name in toolbox.domain.servers}
        self._seeds = seeds if seeds is not None else SeedStore()

    def open(self, task: Task) -> AbstractAsyncContextManager[EmbeddedSession]:
        """Raises TaskError for a server that is not embedded, SeedError for a seed that cannot be loaded."""
        return self._open(task)

    async def catalogue(self, domain: str) -> Sequence[ToolSchema]:
        for toolbox in self._toolboxes:
            if toolbox.domain.name == domain:
                return toolbox.domain.catalogue
        known = ", ".join(toolbox.domain.name for toolbox in self._toolboxes)
        raise ValueError(f"domain {domain!r}: not embedded, expected one of {known}")

    async def close(self) -> None:
        """There is nothing to give back: sessions close their own databases."""

    @asynccontextmanager
    async def _open(self, task: Task) -> AsyncIterator[EmbeddedSession]:
        clock = VirtualClock()
        engines: dict[str, Engine] = {}
        try:
            for server in task.servers:
                engines[server.name] = self._engine(task, server, clock)
            session = EmbeddedSession(engines, clock, selected=task.tools)
            yield session
        finally:
            for engine in engines.values():
                engine.close()

    def _engine(self, task: Task, server: GymServer, clock: VirtualClock) -> Engine:
        toolbox = self._by_server.get(server.name)
        if toolbox is None:
            raise TaskError(
                f"task {task.task_id}: server {server.name!r} is not embedded, expected one of "
                f"{', '.join(self._by_server)}; use gym=http or gym=docker for it"
            )
        seed = self._seeds.from_file(toolbox.domain, Path(task.seed_root), server.seed_file)
        context = {name.lower(): value for name, value in context_headers(server.context).items()}
        return Engine(toolbox, seed, clock, context)


class EmbeddedSession:
    """One task's servers, in the task's order. A tool that several have belongs to the first of them."""

    def __init__(self, engines: Mapping[str, Engine], clock: VirtualClock, *, selected: Sequence[str]) -> None:
        self._engines = engines
        self._clock = clock
        merged = _merged(tuple((name, engine.toolbox) for name, engine in engines.items()))
        self._owners = merged.owners
        wanted = frozenset(selected)
        # Without a selection the benchmark shows every tool; with one, the server's order stays.
        self.tools = tuple(schema for schema in merged.advertised if not wanted or schema.name in wanted)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A tool that is advertised but not selected runs too, as on the benchmark's servers."""
        owner = self._owners.get(name)
        if owner is None:
            return unknown_tool(name)
        return self._engines[owner].call(name, arguments)

    async def query(self, sql: str, gym: str | None = None) -> Any:
        """The sql-runner's reply; a refusal is `{"detail": message}`. Without `gym`, the first server's database."""
        if gym is None or gym == "":
            return next(iter(self._engines.values())).sql_runner.run(sql)
        if gym not in self._engines:
            raise ValueError(f"gym {gym!r}: not in this session, expected one of {', '.join(self._engines)}")
        return self._engines[gym].sql_runner.run(sql)

    async def snapshot(self) -> bytes:
        servers = tuple(
            ServerSnapshot(
                name=name, form="sqlite", content=engine.database.dump(), digests=dict(engine.database.digests)
            )
            for name, engine in self._engines.items()
        )
        return pack(Snapshot(num_writes=self._clock.num_writes, servers=servers))

    async def restore(self, snapshot: bytes) -> None:
        """Raises GymError, leaving the session as it is, for bytes that are no snapshot of these servers."""
        wanted = unpack(snapshot, expected=list(self._engines))
        if wanted.num_writes is None or any(server.form != "sqlite" for server in wanted.servers):
            raise GymError("restore: a snapshot of servers that give rows away alone; the embedded gym needs bytes")
        for server, engine in zip(wanted.servers, self._engines.values(), strict=True):
            engine.database.load(server.content, server.digests)
        self._clock.num_writes = wanted.num_writes

    async def state_hash(self) -> str:
        return combined_digest({name: engine.database.digest() for name, engine in self._engines.items()})

    async def close(self) -> None:
        for engine in self._engines.values():
            engine.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Merged:
    """The tools of several servers; `owners`: every tool's server."""

    advertised: tuple[ToolSchema, ...]
    owners: Mapping[str, str]


@lru_cache(maxsize=64)
def _merged(servers: tuple[tuple[str, Toolbox], ...]) -> _Merged:
    """The first server that has a name owns it."""
    owners: dict[str, str] = {}
    advertised: list[ToolSchema] = []
    for name, toolbox in servers:
        for schema in toolbox.domain.catalogue:
            if schema.name not in owners:
                owners[schema.name] = name
                advertised.append(_served_by(schema, name))
    return _Merged(advertised=tuple(advertised), owners=owners)


def _served_by(schema: ToolSchema, gym: str) -> ToolSchema:
    if schema.gym == gym:
        return schema
    return ToolSchema(
        name=schema.name,
        description=schema.description,
        input_schema=schema.input_schema,
        gym=gym,
        output_schema=schema.output_schema,
    )
