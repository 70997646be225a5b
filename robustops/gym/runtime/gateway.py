"""One URL before a succession of containers: requests in, the answer of the container that holds the database out.

Containers leak descriptors with every seeded database. After `restart_after` of them a fresh one is started beside the
old one and takes the new databases; the old one is stopped when its last database is deleted, or was not used for
`max_idle_s`. No session notices. A container that ends by itself is replaced too; its databases are lost, and say so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from robustops.core.errors import ConfigError, GymError
from robustops.gym.guard import guard
from robustops.gym.runtime.container import Container
from robustops.gym.transport import KEEPALIVE_S, streamed
from robustops.gym.wire import DATABASE_HEADER

logger = logging.getLogger(__name__)

SEED, DELETE = "/api/seed-database", "/api/delete-database"
_BODY_NAMES = {SEED: "database_id", DELETE: "database_id", "/api/reset-database": "database_id"}
_NAMES_SOURCE = "/api/clone-database"
_NOT_FORWARDED = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "content-encoding", "authorization"}
)
REQUEST_TIMEOUT_S = 1500.0
SWEEP_PERIOD_S = 30.0


@dataclass(slots=True, kw_only=True, eq=False)
class _Generation:
    """One container. `databases`: when each was last used."""

    container: Container
    num_seeds: int = 0
    databases: dict[str, float] = field(default_factory=dict)
    watcher: asyncio.Task[None] | None = None


class Gateway:
    """`new_container`: one that was not started yet. `now`: for tests, seconds of any clock that goes forward."""

    def __init__(
        self,
        new_container: Callable[[], Container],
        *,
        restart_after: int,
        max_idle_s: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._new_container = new_container
        self._restart_after = restart_after
        self._max_idle_s = max_idle_s
        self._now = now
        self._generations: list[_Generation] = []  # the last one takes new databases
        self._replacing: asyncio.Task[None] | None = None
        self._stopping: set[asyncio.Task[None]] = set()
        self._http: aiohttp.ClientSession | None = None

    @property
    def containers(self) -> tuple[str, ...]:
        return tuple(generation.container.name for generation in self._generations)

    async def start(self) -> None:
        """Raises as `Container.start` does."""
        timeout = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S)
        self._http = aiohttp.ClientSession(
            timeout=timeout, connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S)
        )
        await self._add()

    async def close(self) -> None:
        """Stop every container, those on their way included."""
        if self._replacing is not None:
            self._replacing.cancel()
            await asyncio.wait([self._replacing])
        generations, self._generations = self._generations, []
        await asyncio.gather(*(self._stop(generation) for generation in generations), *self._stopping)
        if self._http is not None:
            await self._http.close()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        database_id = _database_id(request, content)
        generation = self._owner(database_id)
        if generation is None:
            self._replace()
            detail = "the container is being started again; its databases are lost"
            return web.json_response({"detail": detail}, status=503)
        if request.path == SEED and request.method == "POST":
            generation.num_seeds += 1
            if generation.num_seeds >= self._restart_after:
                self._replace()
        if database_id and request.path != DELETE:
            generation.databases[database_id] = self._now()
        response = await self._forward(generation, request, content)
        if request.path == DELETE and response.status in (200, 204, 404, 405):
            generation.databases.pop(database_id, None)
            self._retire()
        return response

    async def sweep(self) -> None:
        """Delete what nobody used for `max_idle_s`, and stop old containers that hold nothing any more."""
        oldest = self._now() - self._max_idle_s
        for generation in tuple(self._generations):
            for database_id in [name for name, used in generation.databases.items() if used < oldest]:
                logger.warning("%s: database %s was left behind and is deleted", generation.container.name, database_id)
                generation.databases.pop(database_id, None)
                await self._delete(generation, database_id)
        self._retire()

    async def sweep_forever(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_PERIOD_S)
            await self.sweep()

    def _owner(self, database_id: str) -> _Generation | None:
        """The container that holds the database; the newest one for what none holds; None while there is none."""
        for generation in self._generations:
            if database_id in generation.databases:
                return generation
        return self._generations[-1] if self._generations else None

    async def _forward(self, generation: _Generation, request: web.Request, content: bytes) -> web.Response:
        assert self._http is not None
        url = f"{generation.container.url}{request.rel_url}"
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _NOT_FORWARDED}
        try:
            async with self._http.request(
                request.method, url, data=streamed(content) if content else None, headers=headers, allow_redirects=False
            ) as answer:
                body = await answer.read()
                back = {name: value for name, value in answer.headers.items() if name.lower() not in _NOT_FORWARDED}
                return web.Response(status=answer.status, body=body, headers=back)
        except TimeoutError:
            return web.json_response({"detail": f"{generation.container.name} does not answer"}, status=504)
        except aiohttp.ClientError as error:
            return web.json_response({"detail": f"{generation.container.name}: {error}"}, status=502)

    async def _delete(self, generation: _Generation, database_id: str) -> None:
        assert self._http is not None
        body = {"database_id": database_id}
        try:
            async with self._http.delete(f"{generation.container.url}{DELETE}", json=body) as answer:
                await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            logger.info("%s: database %s not deleted: %s", generation.container.name, database_id, error)

    def _replace(self) -> None:
        """Start the next container beside the present one, unless one is on its way."""
        if self._replacing is None or self._replacing.done():
            self._replacing = asyncio.create_task(self._add_and_retire())

    async def _add_and_retire(self) -> None:
        try:
            await self._add()
        except (GymError, ConfigError) as error:
            logger.error("no fresh container: %s", error)
            return
        self._retire()

    async def _add(self) -> None:
        container = self._new_container()
        await container.start()
        generation = _Generation(container=container)
        generation.watcher = asyncio.create_task(self._watch(generation))
        self._generations.append(generation)

    async def _watch(self, generation: _Generation) -> None:
        await generation.container.ended()
        if generation not in self._generations:  # it is being stopped
            return
        lost = len(generation.databases)
        logger.error("%s ended by itself; %d databases are lost", generation.container.name, lost)
        was_newest = self._generations[-1] is generation
        self._generations.remove(generation)
        generation.watcher = None
        self._drop(generation)
        if was_newest:
            self._replace()

    def _retire(self) -> None:
        """Stop every container but the newest that holds no database."""
        for generation in [old for old in self._generations[:-1] if not old.databases]:
            self._generations.remove(generation)
            self._drop(generation)

    def _drop(self, generation: _Generation) -> None:
        stopping = asyncio.create_task(self._stop(generation))
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    async def _stop(self, generation: _Generation) -> None:
        if generation.watcher is not None:
            generation.watcher.cancel()
        await generation.container.stop()


def _database_id(request: web.Request, content: bytes) -> str:
    """By the header, or by the body on the routes that name it there; empty where a request is about none."""
    name = "source_database_id" if request.path == _NAMES_SOURCE else _BODY_NAMES.get(request.path, "")
    if not name:
        return request.headers.get(DATABASE_HEADER, "")
    try:
        body = json.loads(content)
    except ValueError:
        return ""
    return str(body.get(name, "")) if isinstance(body, dict) else ""


def make_gateway_app(gateway: Gateway, *, max_body_bytes: int, token: str | None) -> web.Application:
    app = web.Application(client_max_size=max_body_bytes, middlewares=[guard(token)])
    app.router.add_route("*", "/{path:.*}", gateway.handle)
    return app
