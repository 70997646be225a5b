"""What a served domain offers beyond the benchmark's protocol: a database's hash, bytes and clock, in one request each.

Told to clients in the handshake; the real containers have none of it, and clients fall back to read-only SQL there.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

from aiohttp import web

from robustops.core.errors import GymError
from robustops.gym.databases import Databases, Refusal
from robustops.gym.memory import connect
from robustops.gym.rest import opened_for
from robustops.gym.snapshot import ServerSnapshot, Snapshot, pack, unpack
from robustops.gym.wire import DATABASE, SNAPSHOT_PATH, STATE_PATH

_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"


class ExtensionRoutes:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases

    def add_to(self, router: web.UrlDispatcher) -> None:
        router.add_get(STATE_PATH, self.state)
        router.add_get(SNAPSHOT_PATH, self.snapshot)
        router.add_put(SNAPSHOT_PATH, self.restore)

    async def state(self, request: web.Request) -> web.Response:
        opened = opened_for(request, self._databases)
        return web.json_response({"digest": opened.engine.database.digest(), "writes": opened.clock.num_writes})

    async def snapshot(self, request: web.Request) -> web.Response:
        opened = opened_for(request, self._databases)
        database = opened.engine.database
        server = ServerSnapshot(name=DATABASE, form="sqlite", content=database.dump(), digests=dict(database.digests))
        content = pack(Snapshot(num_writes=opened.clock.num_writes, servers=(server,)))
        return web.Response(body=content, content_type="application/octet-stream")

    async def restore(self, request: web.Request) -> web.Response:
        """Takes bytes of a database with the same schema alone: a snapshot changes rows, and nothing else."""
        content = await request.read()
        opened = opened_for(request, self._databases)
        try:
            wanted = unpack(content, expected=[DATABASE])
        except GymError as error:
            raise Refusal(400, str(error)) from error
        (server,), database = wanted.servers, opened.engine.database
        if server.form != "sqlite" or wanted.num_writes is None:
            raise Refusal(400, "restore: expected a snapshot that holds the database's bytes and the clock")
        if _schema_of(server.content) != database.rows(_SCHEMA):
            raise Refusal(400, "restore: the snapshot has another schema than the database")
        database.load(server.content, server.digests)
        opened.clock.num_writes = wanted.num_writes
        return web.json_response({"digest": database.digest(), "writes": opened.clock.num_writes})


def _schema_of(content: bytes | memoryview) -> list[tuple[object, ...]]:
    """Raises Refusal for bytes that are no SQLite database."""
    try:
        with closing(connect()) as scratch:
            scratch.deserialize(content)
            return scratch.execute(_SCHEMA).fetchall()
    except (sqlite3.Error, OverflowError, ValueError) as error:
        raise Refusal(400, f"restore: no SQLite database: {error}") from error
