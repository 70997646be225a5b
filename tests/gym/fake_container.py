"""A tool server on loopback with one table and three tools, and switches for everything that can go wrong with one."""

import asyncio
import json
import sqlite3
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer

from robustops.core.task import GymServer, Task

SCHEMA = "CREATE TABLE item (item_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)"
SEED = "INSERT INTO item (name) VALUES ('first');\nINSERT INTO item (name) VALUES ('semi; colon');\n"
TOOLS = ("add", "names", "refuse")


class FakeContainer:
    """`hang`, `statuses`, `fixup`: a path that never answers, statuses by path, SQL run after each seed.

    `failures`: statuses of the next requests to a path; `dies`: paths on which the connection is cut; `max_databases`:
    more seeds than that find no descriptor.
    """

    def __init__(self):
        self.databases = {}
        self.deleted = []
        self.requests = []
        self.hang = set()
        self.statuses = {}
        self.failures = {}
        self.dies = set()
        self.max_databases = 10**9
        self.fixup = ""
        self.tools = TOOLS
        self.bodies = {}
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()

    async def handle(self, request):
        body = await request.json()
        route = body.get("method", request.path) if request.path == "/mcp" else request.path
        self.requests.append((route, dict(request.headers), body))
        self.arrived.set()
        if route in self.hang:
            await self.release.wait()
        if route in self.statuses:
            return web.json_response({"detail": f"scripted {route}"}, status=self.statuses[route])
        if self.failures.get(route):
            return web.json_response({"detail": f"scripted {route}"}, status=self.failures[route].pop(0))
        if route in self.dies:
            request.transport.close()
        if route in self.bodies:
            return web.json_response(self.bodies[route])
        return self.answer(route, request.headers.get("x-database-id"), body)

    def answer(self, route, database_id, body):
        match route:
            case "/api/seed-database":
                return self.seed(body)
            case "/api/delete-database":
                self.deleted.append(body["database_id"])
                self.databases.pop(body["database_id"], None)
                return web.json_response({"success": True})
            case "/api/sql-runner":
                return self.query(self.databases[database_id], body["query"])
            case "initialize":
                result = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "fake"}}
                return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": result})
            case "notifications/initialized":
                return web.Response(status=204)
            case "tools/list":
                tools = [{"name": name, "inputSchema": {"type": "object"}, "title": None} for name in self.tools]
                return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": {"tools": tools}})
            case "tools/call":
                return self.call(self.databases[database_id], body)

    def seed(self, body):
        if len(self.databases) >= self.max_databases:
            return web.json_response({"detail": "Failed to seed: unable to open database file"}, status=500)
        connection = sqlite3.connect(":memory:")
        connection.execute(SCHEMA)
        try:
            connection.executescript(body["sql_content"] + self.fixup)
        except sqlite3.Error as error:
            return web.json_response({"detail": f"Failed to seed database: {error}"}, status=500)
        connection.row_factory = sqlite3.Row
        self.databases[body["database_id"]] = connection
        return web.json_response({"success": True})

    def query(self, connection, sql):
        try:
            rows = [dict(row) for row in connection.execute(sql if "LIMIT" in sql else f"{sql} LIMIT 100")]
        except sqlite3.Error as error:
            return web.json_response({"detail": str(error)}, status=400)
        return web.json_response({"success": True, "data": rows, "row_count": len(rows), "query": sql})

    def call(self, connection, body):
        name, arguments = body["params"]["name"], body["params"]["arguments"]
        if name == "refuse":
            return web.json_response({"detail": {"error_code": "VALIDATION_ERROR"}}, status=422)
        if name == "add":
            connection.execute("INSERT INTO item (name) VALUES (?)", (arguments["name"],))
        names = [row["name"] for row in connection.execute("SELECT name FROM item ORDER BY item_id")]
        result = {"content": [{"type": "text", "text": json.dumps(names)}], "isError": False}
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], "result": result})

    def routes(self):
        return [route for route, _, _ in self.requests]


@asynccontextmanager
async def container():
    fake = FakeContainer()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", fake.handle)
    async with TestServer(app, host="127.0.0.1") as server:
        fake.url = str(server.make_url("")).rstrip("/")
        try:
            yield fake
        finally:
            fake.release.set()
            for connection in fake.databases.values():
                connection.close()


def task(folder, *urls, tools=(), context=None):
    """One server a URL; the seed is written into `folder`."""
    (folder / "seed.sql").write_text(SEED)
    servers = tuple(
        GymServer(name=f"server-{number}", seed_file="seed.sql", url=url, context=context or {})
        for number, url in enumerate(urls)
    )
    return Task(
        task_id="t1",
        domain="csm",
        policy="p",
        request="r",
        tools=tuple(tools),
        servers=servers,
        checks=(),
        seed_root=str(folder),
    )
