"""One task on remote servers: each server's database under a name we chose. Calls in, `ToolResult`s out.

A snapshot is a dump through read-only SQL; restoring seeds a fresh database from it and compares the contents.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import string
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.errors import GymError, SeedError, SnapshotUnsupported
from robustops.core.task import ToolSchema
from robustops.gym.dump import DatabaseDump, dump, from_wire, seed_sql, to_wire
from robustops.gym.engine import envelope
from robustops.gym.hashing import combined_digest
from robustops.gym.remote import RemoteServer

logger = logging.getLogger(__name__)

_SUFFIX_ALPHABET = string.ascii_lowercase + string.digits
_SUFFIX_CHARS = 9
# Names must differ between processes and runs, so no seed: nothing of an episode depends on them.
_NAMES = random.SystemRandom()


def new_database_id() -> str:
    suffix = "".join(_NAMES.choices(_SUFFIX_ALPHABET, k=_SUFFIX_CHARS))
    return f"db_{time.time_ns() // 1_000_000}_{suffix}"


@dataclass(slots=True, kw_only=True)
class Partner:
    """One server as this session uses it; `database_id` changes with every restore."""

    server: RemoteServer
    headers: Mapping[str, str]
    seed_file: str = ""
    database_id: str = ""

    async def query(self, sql: str) -> Any:
        return await self.server.query(self.database_id, sql, self.headers)


class HttpSession:
    """Tools of several servers are merged in the task's order: the first server that advertises a name has it."""

    def __init__(self, selected: Sequence[str], partners: Sequence[Partner]) -> None:
        self.tools: tuple[ToolSchema, ...] = ()
        self._selected = frozenset(selected)
        self._partners = tuple(partners)
        self._route: dict[str, Partner] = {}
        self._dumps: dict[str, DatabaseDump] = {}  # by server name, until the next call
        self._started: list[tuple[RemoteServer, str]] = []  # every database that may exist and is ours

    async def start(self, seeds: Sequence[str]) -> None:
        """Shake hands and seed. Raises SeedError, GymError."""
        advertised = await asyncio.gather(*(partner.server.tools() for partner in self._partners))
        merged: dict[str, ToolSchema] = {}
        for partner, tools in zip(self._partners, advertised, strict=True):
            for tool in tools:
                if tool.name not in merged:
                    merged[tool.name] = tool
                    self._route[tool.name] = partner
        self.tools = tuple(tool for tool in merged.values() if not self._selected or tool.name in self._selected)
        for partner, sql in zip(self._partners, seeds, strict=True):
            partner.database_id = await self._seed(partner, sql, partner.seed_file)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        partner = self._route.get(name)
        if partner is None:
            # The benchmark's own run crashes here; for us it is an error that the model sees.
            text = f"Unknown tool: {name}"
            return ToolResult(text=text, observation=envelope(text, is_error=True), is_error=True, executed=False)
        self._dumps.pop(partner.server.name, None)
        return await partner.server.call(partner.database_id, name, arguments, partner.headers)

    async def query(self, sql: str, gym: str | None = None) -> Any:
        """The sql-runner's reply; a refusal is `{"detail": message}`. Without `gym`, the first server's database."""
        for partner in self._partners:
            if not gym or partner.server.name == gym:
                return await partner.query(sql)
        names = ", ".join(partner.server.name for partner in self._partners)
        raise ValueError(f"gym {gym!r}: not in this session, expected one of {names}")

    async def state_hash(self) -> str:
        dumped = await self._dumped()
        return combined_digest({name: one.digest for name, one in dumped.items()})

    async def snapshot(self) -> bytes:
        """Every server's rows and counters. The servers' clocks are their own and cannot be saved."""
        dumped = await self._dumped()
        return zlib.compress(json.dumps({name: to_wire(one) for name, one in dumped.items()}).encode(), level=1)

    async def restore(self, snapshot: bytes) -> None:
        """Raises SnapshotUnsupported, naming the server, when its database does not come back equal.

        Raises GymError, leaving the session as it is, for bytes that are no snapshot of these servers.
        """
        try:
            wanted = {name: from_wire(one) for name, one in json.loads(zlib.decompress(snapshot)).items()}
        except (zlib.error, ValueError, TypeError, KeyError, AttributeError) as error:
            raise GymError(f"restore: these {len(snapshot)} bytes are no snapshot ({error})") from error
        names = [partner.server.name for partner in self._partners]
        if set(wanted) != set(names):
            raise GymError(f"restore: a snapshot of {', '.join(wanted)}, but this session has {', '.join(names)}")
        for partner in self._partners:
            await self._bring_back(partner, wanted[partner.server.name])

    async def close(self) -> None:
        """Delete every database this session made. A server that fails to is logged: the episode is over anyway."""
        started, self._started = self._started, []
        outcomes = await asyncio.gather(
            *(server.delete(database_id) for server, database_id in started), return_exceptions=True
        )
        for (server, database_id), outcome in zip(started, outcomes, strict=True):
            if isinstance(outcome, GymError):
                logger.warning("%s: database %s may be left behind: %s", server.name, database_id, outcome)
            elif isinstance(outcome, BaseException):
                raise outcome

    async def _seed(self, partner: Partner, sql: str, description: str) -> str:
        database_id = new_database_id()
        # Noted first: a request that was cancelled or timed out may have made the database all the same.
        self._started.append((partner.server, database_id))
        await partner.server.seed(database_id, sql, description=description)
        return database_id

    async def _bring_back(self, partner: Partner, wanted: DatabaseDump) -> None:
        name, before = partner.server.name, partner.database_id
        try:
            fresh = await self._seed(partner, seed_sql(wanted), "a snapshot")
        except SeedError as error:
            raise SnapshotUnsupported(f"{name}: refuses its own dump as a seed: {error}") from error
        found = await dump(lambda sql: partner.server.query(fresh, sql, partner.headers))
        if found != wanted:
            tables = ", ".join(found.differences(wanted)) or "the autoincrement counters"
            raise SnapshotUnsupported(f"{name}: a database seeded from its dump differs from it in: {tables}")
        partner.database_id = fresh
        self._dumps[name] = found
        try:
            await partner.server.delete(before)
        except GymError as error:
            logger.info("%s: database %s not deleted yet: %s", name, before, error)  # close() tries again
        else:
            self._started.remove((partner.server, before))

    async def _dumped(self) -> dict[str, DatabaseDump]:
        for partner in self._partners:
            name = partner.server.name
            if name not in self._dumps:
                try:
                    self._dumps[name] = await dump(partner.query)
                except GymError as error:
                    raise type(error)(f"{name}: {error}") from error
        return {partner.server.name: self._dumps[partner.server.name] for partner in self._partners}
