"""The gym behind HTTP: tasks in, sessions out, each with databases of its own on the task's servers.

Everything is bounded: each wait, the connections, the seeds in flight. A database is deleted when its session closes,
whatever ended it, cancellation included. One `HttpGym` belongs to one event loop, until `close` frees it for another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from robustops.core.errors import ConfigError
from robustops.core.task import GymServer, Task, ToolSchema
from robustops.gym.public import BY_DOMAIN
from robustops.gym.remote import RemoteServer
from robustops.gym.remote_session import HttpSession, Partner
from robustops.gym.seeds import read_seed
from robustops.gym.session import Session
from robustops.gym.transport import Pool, Timeouts, context_headers


class HttpGym:
    """`urls`: base URLs by server name, a comma between replicas; a server not named there is asked at its task's URL.

    `pool`: connections to one server. Replicas are used in turn, one per session.
    """

    def __init__(
        self, urls: Mapping[str, str] | None = None, *, timeouts: Timeouts | None = None, pool: int = 32
    ) -> None:
        self._urls = {name: _replicas(name, value) for name, value in (urls or {}).items()}
        self._timeouts = timeouts or Timeouts()
        self._pool = Pool(limit=pool, connect_s=self._timeouts.connect_s)
        self._servers: dict[tuple[str, str], RemoteServer] = {}
        self._num_opened = 0

    def open(self, task: Task) -> AbstractAsyncContextManager[Session]:
        return self._open(task)

    @asynccontextmanager
    async def _open(self, task: Task) -> AsyncIterator[Session]:
        """Raises SeedError for a seed that cannot be read or run, GymError when a server does not answer."""
        turn = self._num_opened
        self._num_opened += 1
        partners = [self._partner(server, turn) for server in task.servers]
        session = HttpSession(task.tools, partners)
        try:
            seeds = [read_seed(Path(task.seed_root), server.seed_file) for server in task.servers]
            await session.start(seeds)
            yield session
        finally:
            await to_its_end(session.close())

    async def catalogue(self, domain: str) -> Sequence[ToolSchema]:
        if domain not in BY_DOMAIN:
            raise ValueError(f"domain {domain!r}: no public server; expected one of {', '.join(BY_DOMAIN)}")
        public = BY_DOMAIN[domain]
        return await self._server(public.name, public.url, 0).tools()

    async def close(self) -> None:
        await self._pool.close()
        self._servers.clear()  # their locks belong to the loop that waited on them

    def _partner(self, server: GymServer, turn: int) -> Partner:
        remote = self._server(server.name, server.url, turn)
        return Partner(server=remote, headers=context_headers(server.context), seed_file=server.seed_file)

    def _server(self, name: str, task_url: str, turn: int) -> RemoteServer:
        replicas = self._urls.get(name) or ((task_url,) if task_url else ())
        if not replicas:
            raise ConfigError(f"server {name!r}: no URL; set gym.urls={{{name}: http://HOST:PORT}}")
        key = (name, replicas[turn % len(replicas)])
        if key not in self._servers:
            self._servers[key] = RemoteServer(name=name, url=key[1], pool=self._pool, timeouts=self._timeouts)
        return self._servers[key]


def _replicas(name: str, value: str) -> tuple[str, ...]:
    replicas = tuple(url.strip() for url in value.split(",") if url.strip())
    for url in replicas:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"gym.urls.{name}: got {url!r}, expected a URL such as http://localhost:8001")
    return replicas


async def to_its_end(closing: Coroutine[Any, Any, None]) -> None:
    """Await a clean-up even while being cancelled; the cancellation goes on afterwards."""
    running = asyncio.create_task(closing)
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])  # bounded: every request of a clean-up has a timeout of its own
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    running.result()
