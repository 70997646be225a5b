"""The gym behind HTTP: tasks in, sessions out, each with databases of its own on the task's servers.

Everything is bounded: each wait, the connections, the seeds in flight. A database is deleted when its session closes,
whatever ended it, cancellation included. One `HttpGym` belongs to one event loop, until `close` frees it for another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from robustops.core.errors import ConfigError, GymError, GymTimeout, GymUnavailable
from robustops.core.task import GymServer, Task, ToolSchema
from robustops.gym.context import context_headers
from robustops.gym.guard import LOOPBACK
from robustops.gym.latency import Latencies
from robustops.gym.ledger import Ledger
from robustops.gym.public import BY_DOMAIN, BY_NAME, PUBLIC_SERVERS
from robustops.gym.remote import RemoteServer
from robustops.gym.remote_session import HttpSession
from robustops.gym.remote_state import Partner
from robustops.gym.replicas import Replicas
from robustops.gym.seed_texts import SeedText, SeedTexts
from robustops.gym.session import Session
from robustops.gym.transport import Pool, Timeouts, Traffic

logger = logging.getLogger(__name__)

NUM_SLOWEST = 10  # tools that are named in the log when a gym closes


class HttpGym:
    """`urls`: base URLs by domain or server name: one, a comma between several, or a list; several are replicas.

    A server not named there is asked at its task's URL, then at its public one. `pool`: connections to one server.
    `token`: sent as a bearer token, to `urls` and to this machine alone. `ledger`: notes the databases, so that those
    of a killed process can be deleted.
    """

    def __init__(
        self,
        urls: Mapping[str, str | Sequence[str] | None] | None = None,
        *,
        timeouts: Timeouts | None = None,
        pool: int = 32,
        token: str | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self._urls = {_server_name(name): _replica_urls(name, value) for name, value in (urls or {}).items() if value}
        self._timeouts = timeouts or Timeouts()
        self._pool = Pool(limit=pool, connect_s=self._timeouts.connect_s, token=token)
        self._has_token = token is not None
        self._servers: dict[tuple[str, tuple[str, ...]], Replicas] = {}
        self._seeds = SeedTexts()
        self._ledger = ledger
        self._janitor: asyncio.Task[None] | None = None
        self.latencies = Latencies()

    @property
    def traffic(self) -> Traffic:
        return self._pool.traffic

    def open(self, task: Task) -> AbstractAsyncContextManager[Session]:
        return self._open(task)

    @asynccontextmanager
    async def _open(self, task: Task) -> AsyncIterator[Session]:
        """Raises SeedError for a seed that cannot be read or run, GymError when a server does not answer."""
        if self._ledger is not None and self._janitor is None:
            self._janitor = asyncio.create_task(self._clean_up_forever(self._ledger))
        pools = [self._replicas(server.name, server.url) for server in task.servers]
        seeds = [self._seeds.read(Path(task.seed_root), server.seed_file) for server in task.servers]
        session = await self._started(task, pools, seeds)
        try:
            yield session
        finally:
            await self._end(session, pools)

    async def _started(self, task: Task, pools: Sequence[Replicas], seeds: Sequence[SeedText]) -> HttpSession:
        """Try one replica after another; the last one's failure is raised."""
        num_attempts = max(map(len, pools), default=1)
        for attempt in range(1, num_attempts + 1):
            partners = [self._partner(server, pool) for server, pool in zip(task.servers, pools, strict=True)]
            session = HttpSession(task.tools, partners)
            try:
                await session.start(seeds)
            except BaseException as error:
                await self._end(session, pools)
                if attempt == num_attempts or not isinstance(error, GymTimeout | GymUnavailable):
                    raise
                logger.warning("task %s is opened again on another replica: %s", task.task_id, error)
            else:
                return session
        raise AssertionError("the last attempt returns or raises")

    async def _end(self, session: HttpSession, pools: Sequence[Replicas]) -> None:
        await to_its_end(session.close())
        for pool, partner in zip(pools, session.partners, strict=True):
            pool.give_back(partner.server)
            if partner.has_failed:
                pool.failed(partner.server)

    async def catalogue(self, domain: str) -> Sequence[ToolSchema]:
        if domain not in BY_DOMAIN:
            raise ValueError(f"domain {domain!r}: no public server; expected one of {', '.join(BY_DOMAIN)}")
        replicas = self._replicas(BY_DOMAIN[domain].name, "")
        server = replicas.take()
        try:
            return await server.tools()
        finally:
            replicas.give_back(server)

    async def clean_up(self) -> int:
        """Delete the databases of killed processes on the servers known here; returns how many went."""
        if self._ledger is None:
            return 0
        public = {server.url: server.name for server in PUBLIC_SERVERS}
        known = public | {url: name for name, urls in self._urls.items() for url in urls}
        num_deleted = 0
        for left in self._ledger.left_behind():
            outcomes = [await self._delete_left(known, url, name) for url, name in left.databases]
            num_deleted += sum(outcomes)
            if all(outcomes):
                left.path.unlink(missing_ok=True)
        return num_deleted

    async def close(self) -> None:
        if self._janitor is not None:
            self._janitor.cancel()
            await asyncio.wait([self._janitor])
            self._janitor = None
        if self._ledger is not None:
            self._ledger.close()
        for row in self.latencies.rows()[:NUM_SLOWEST]:
            logger.debug(
                "%s: %s took %.1f ms on average, %.1f ms at most, in %d calls",
                *(row.gym, row.tool, row.mean_s * 1000, row.max_s * 1000, row.num_calls),
            )
        await self._pool.close()
        self._servers.clear()  # their locks belong to the loop that waited on them

    async def _clean_up_forever(self, ledger: Ledger) -> None:
        while True:
            try:
                if num_deleted := await self.clean_up():
                    logger.info("%d databases of processes that were killed are deleted", num_deleted)
            except OSError as error:
                logger.warning("databases of killed processes cannot be looked for: %s", error)
            await asyncio.sleep(ledger.ttl_s / 4)

    async def _delete_left(self, known: Mapping[str, str], url: str, database_id: str) -> bool:
        if url not in known:
            return False  # another gym's server: its own janitor comes
        server = RemoteServer(name=known[url], url=url, pool=self._pool, timeouts=self._timeouts)
        try:
            await server.delete(database_id)
        except GymError as error:
            logger.info("%s: left-behind database %s not deleted yet: %s", known[url], database_id, error)
            return False
        return True

    def _partner(self, server: GymServer, replicas: Replicas) -> Partner:
        headers = context_headers(server.context)
        return Partner(server=replicas.take(), headers=headers, seed_file=server.seed_file, ledger=self._ledger)

    def _replicas(self, name: str, task_url: str) -> Replicas:
        public = (BY_NAME[name].url,) if name in BY_NAME else ()
        urls = self._urls.get(name) or ((task_url,) if task_url else public)
        if not urls:
            raise ConfigError(f"server {name!r}: no URL; set gym.urls={{{name}: http://HOST:PORT}}")
        if self._has_token and name not in self._urls and urlsplit(urls[0]).hostname not in LOOPBACK:
            # A task file is data from elsewhere: it may not choose who is told the secret.
            raise ConfigError(
                f"server {name!r}: the token of gym.token_env goes to this machine and to gym.urls alone, and its task "
                f"names {urls[0]}; set gym.urls={{{name}: {urls[0]}}} if that is right"
            )
        if (name, urls) not in self._servers:
            self._servers[name, urls] = Replicas([self._server(name, url) for url in urls])
        return self._servers[name, urls]

    def _server(self, name: str, url: str) -> RemoteServer:
        return RemoteServer(name=name, url=url, pool=self._pool, timeouts=self._timeouts, latencies=self.latencies)


def _server_name(name: str) -> str:
    return BY_DOMAIN[name].name if name in BY_DOMAIN else name


def _replica_urls(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else value
    urls = tuple(str(url).strip().rstrip("/") for url in parts if str(url).strip())
    for url in urls:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(f"gym.urls.{name}: got {url!r}, expected a URL such as http://localhost:8001")
    return urls


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
