"""The embedded engine behind the benchmark's container protocol: a domain in, an aiohttp application out.

Databases live in memory and end with the process. Knows no task: clients bring their seeds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from robustops.core.errors import ConfigError
from robustops.gym.databases import Databases, Refusal
from robustops.gym.domains import FOLDERS, load_toolbox
from robustops.gym.engine import Engine
from robustops.gym.extension import ExtensionRoutes
from robustops.gym.guard import guard
from robustops.gym.hashing import quoted
from robustops.gym.listening import Served, listen, public_port, warn_of_open_host
from robustops.gym.rpc import RpcEndpoint
from robustops.gym.seeds import SeedStore
from robustops.gym.stream import StreamEndpoint
from robustops.gym.tool_snapshots import Advertised, advertising
from robustops.gym.wire import DATABASE_HEADER, EXTENSION

logger = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
DATABASES = web.AppKey("databases", Databases)
MAX_BODY_BYTES = 64 * 2**20  # the largest public seed has some 2 MB
SHOWN_ROWS = 100
MAX_IDLE_S = 4 * 3600.0  # an episode may last half an hour; what is idle for longer belongs to nobody


class _Body(BaseModel):
    """Bodies of the /api routes; each route says which fields it cannot do without."""

    model_config = ConfigDict(extra="ignore")

    database_id: str = ""
    sql_content: str | None = None
    sql_sha256: str = ""
    source_database_id: str = ""
    query: str = ""


def make_app(
    domain: str,
    *,
    max_databases: int = 512,
    max_body_bytes: int = MAX_BODY_BYTES,
    max_idle_s: float = MAX_IDLE_S,
    token: str | None = None,
    extended: bool = True,
    seeds: SeedStore | None = None,
    snapshots: Advertised | None = None,
) -> web.Application:
    """`seeds`: loaded seeds to share with other applications. Raises ValueError, listing the domains there are.

    `token`: a bearer token that every request but /health must carry. `max_idle_s`: unused databases go after that.
    `extended`: False leaves out what the benchmark's containers do not have. `snapshots`: as `gym.tool_snapshots`.
    """
    toolbox = advertising(load_toolbox(domain), snapshots or {})
    databases = Databases(toolbox, max_databases=max_databases, seeds=seeds)
    app = web.Application(client_max_size=max_body_bytes, middlewares=[guard(token), _refusals])
    app[DATABASES] = databases
    routes = _Api(databases)
    app.router.add_get("/health", routes.health)
    app.router.add_get("/openapi.json", routes.openapi)
    app.router.add_post("/api/seed-database", routes.seed)
    app.router.add_delete("/api/delete-database", routes.delete)
    app.router.add_post("/api/reset-database", routes.reset)
    app.router.add_post("/api/clone-database", routes.clone)
    app.router.add_get("/api/database-state", routes.state)
    app.router.add_get("/api/schema", routes.schema)
    app.router.add_post("/api/sql-runner", routes.query)
    app.router.add_post("/mcp", RpcEndpoint(databases, EXTENSION if extended else {}).handle)
    app.router.add_post("/mcp/stream", StreamEndpoint(databases).handle)
    if extended:
        ExtensionRoutes(databases).add_to(app.router)

    async def sweeping(_app: web.Application) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(_sweep(databases, max_idle_s))
        yield
        sweeper.cancel()
        with suppress(asyncio.CancelledError):
            await sweeper

    app.cleanup_ctx.append(sweeping)
    app.on_cleanup.append(_close)
    return app


async def serve(
    domains: Sequence[str],
    *,
    port: int | None = None,
    port_offset: int = 0,
    host: str = "127.0.0.1",
    max_databases: int = 512,
    max_idle_s: float = MAX_IDLE_S,
    token: str | None = None,
    snapshots: Advertised | None = None,
    on_ready: Callable[[Sequence[Served]], None] | None = None,
) -> None:
    """Serve until cancelled: each domain on its public port plus `port_offset`, or a single one on `port`.

    `domains`: names, or "all". Raises ConfigError for an unknown domain and for a port that cannot be bound.
    """
    warn_of_open_host(host, token)
    names = tuple(FOLDERS) if tuple(domains) == ("all",) else tuple(domains)
    for name in names:
        if name not in FOLDERS:
            raise ConfigError(f"domain={name}: not served; expected all or one of {', '.join(FOLDERS)}")
    if port is not None and len(names) != 1:
        raise ConfigError(f"port={port} is for one domain, but {len(names)} are served; use port_offset=N")
    async with AsyncExitStack() as stack:
        served = []
        for name in names:
            runner = web.AppRunner(
                make_app(name, max_databases=max_databases, max_idle_s=max_idle_s, token=token, snapshots=snapshots),
                access_log=None,
            )
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            url = await listen(runner, host, public_port(name, port, port_offset))
            served.append(Served(domain=name, url=url))
        for one in served:
            logger.info("%s is served at %s", one.domain, one.url)
        if on_ready is not None:
            on_ready(served)
        await asyncio.Event().wait()


async def _sweep(databases: Databases, max_idle_s: float) -> None:
    while True:
        await asyncio.sleep(max_idle_s / 4)
        await databases.sweep(max_idle_s)


async def _close(app: web.Application) -> None:
    app[DATABASES].close()


@web.middleware
async def _refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal is `{"detail": ...}`, as FastAPI servers write it."""
    try:
        return await handler(request)
    except Refusal as refusal:
        return web.json_response({"detail": refusal.detail}, status=refusal.status)
    except web.HTTPException as error:
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None
        return web.json_response({"detail": error.reason}, status=error.status, headers=headers)


class _Api:
    """The REST routes of one served domain."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._domain = databases.toolbox.domain

    async def health(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "healthy", "service": self._domain.servers[0]})

    async def openapi(self, request: web.Request) -> web.Response:
        paths: dict[str, dict[str, Any]] = {}
        for route in request.app.router.routes():
            if route.resource is not None and route.method != "HEAD":
                answers = {"200": {"description": "OK"}}
                paths.setdefault(route.resource.canonical, {})[route.method.lower()] = {"responses": answers}
        info = {"title": f"{self._domain.name} API", "version": "1.0.0"}
        return web.json_response({"openapi": "3.1.0", "info": info, "paths": paths})

    async def seed(self, request: web.Request) -> web.Response:
        """With `sql_sha256` in place of `sql_content`: again from SQL that was sent before."""
        body = await _body(request, "database_id")
        if body.sql_content:
            await self._databases.seed(body.database_id, body.sql_content)
        elif body.sql_sha256:
            await self._databases.seed_again(body.database_id, body.sql_sha256)
        else:
            raise Refusal(400, "sql_content is required")
        return _done("Database seeded successfully", database_id=body.database_id, sql_stored=True)

    async def delete(self, request: web.Request) -> web.Response:
        body = await _body(request, "database_id")
        await self._databases.delete(body.database_id)
        return _done("Database deleted successfully", database_id=body.database_id)

    async def reset(self, request: web.Request) -> web.Response:
        body = await _body(request, "database_id")
        await self._databases.reset(body.database_id, body.sql_content)
        return _done("Database reset successfully", database_id=body.database_id)

    async def clone(self, request: web.Request) -> web.Response:
        body = await _body(request, "source_database_id", "database_id")
        await self._databases.clone(body.source_database_id, body.database_id)
        return _done("Database cloned successfully", database_id=body.database_id)

    async def query(self, request: web.Request) -> web.Response:
        engine = self._engine(request)
        body = await _body(request, "query")
        reply = engine.sql_runner.run(body.query)
        return web.json_response(reply, status=400 if "detail" in reply else 200)

    async def state(self, request: web.Request) -> web.Response:
        engine = self._engine(request)
        counts, data = {}, {}
        for name in engine.database.digests:
            counts[name] = engine.database.rows(f"SELECT COUNT(*) FROM {quoted(name)}")[0][0]
            shown = f"SELECT * FROM {quoted(name)} LIMIT {SHOWN_ROWS}"
            columns = [column[1] for column in engine.database.rows(f"PRAGMA table_info({quoted(name)})")]
            data[name] = [dict(zip(columns, row, strict=True)) for row in engine.database.rows(shown)]
        return web.json_response(
            {
                "success": True,
                "database_id": request.headers[DATABASE_HEADER],
                "service": self._domain.servers[0],
                "database_info": {"path": ":memory:", "total_tables": len(counts)},
                "table_counts": counts,
                "table_data": data,
            }
        )

    async def schema(self, _request: web.Request) -> web.Response:
        tables = {
            name: [{"name": column.name, "type": column.type} for column in table.columns]
            for name, table in self._domain.tables.items()
        }
        return web.json_response({"success": True, "service": self._domain.servers[0], "tables": tables})

    def _engine(self, request: web.Request) -> Engine:
        database_id = request.headers.get(DATABASE_HEADER, "")
        if not database_id:
            raise Refusal(422, f"{DATABASE_HEADER} header is required")
        return self._databases.engine(database_id)


async def _body(request: web.Request, *required: str) -> _Body:
    try:
        body = _Body.model_validate_json(await request.read())
    except ValidationError as error:
        fault = error.errors()[0]
        raise Refusal(422, f"{'.'.join(map(str, fault['loc'])) or 'body'}: {fault['msg']}") from error
    for name in required:
        if not getattr(body, name):
            raise Refusal(400, f"{name} is required")
    return body


def _done(message: str, *, database_id: str, sql_stored: bool | None = None) -> web.Response:
    reply: dict[str, Any] = {"success": True, "message": message, "database_id": database_id}
    return web.json_response(reply if sql_stored is None else {**reply, "sql_stored": sql_stored})
