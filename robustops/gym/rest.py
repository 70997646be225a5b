"""The /api routes of a served domain: requests in, the databases changed or read, FastAPI-like answers out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from robustops.gym.databases import Databases, Opened, Refusal
from robustops.gym.hashing import quoted
from robustops.gym.wire import DATABASE_HEADER

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
SHOWN_ROWS = 100


class _Body(BaseModel):
    """Bodies of the /api routes; each route says which fields it cannot do without."""

    model_config = ConfigDict(extra="ignore")

    database_id: str = ""
    sql_content: str | None = None
    sql_sha256: str = ""
    source_database_id: str = ""
    query: str = ""


class RestRoutes:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._domain = databases.toolbox.domain

    def add_to(self, router: web.UrlDispatcher) -> None:
        router.add_get("/health", self.health)
        router.add_get("/openapi.json", self.openapi)
        router.add_post("/api/seed-database", self.seed)
        router.add_delete("/api/delete-database", self.delete)
        router.add_post("/api/reset-database", self.reset)
        router.add_post("/api/clone-database", self.clone)
        router.add_get("/api/database-state", self.state)
        router.add_get("/api/schema", self.schema)
        router.add_post("/api/sql-runner", self.query)

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
        engine = opened_for(request, self._databases).engine
        body = await _body(request, "query")
        reply = engine.sql_runner.run(body.query)
        return web.json_response(reply, status=400 if "detail" in reply else 200)

    async def state(self, request: web.Request) -> web.Response:
        engine = opened_for(request, self._databases).engine
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


def opened_for(request: web.Request, databases: Databases) -> Opened:
    """The database that the request's header names. Raises Refusal without the header, and for an absent one."""
    database_id = request.headers.get(DATABASE_HEADER, "")
    if not database_id:
        raise Refusal(422, f"{DATABASE_HEADER} header is required")
    return databases.opened(database_id)


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


@web.middleware
async def refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal is `{"detail": ...}`, as FastAPI servers write it."""
    try:
        return await handler(request)
    except Refusal as refusal:
        return web.json_response({"detail": refusal.detail}, status=refusal.status)
    except web.HTTPException as error:
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else None
        return web.json_response({"detail": error.reason}, status=error.status, headers=headers)
