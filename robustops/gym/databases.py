"""The databases of one served domain, by the id that a client chose. Seeds in, engines out; all of it in memory.

Changes to the set of databases are made one after the other, so that a deletion sent after a seed also finds it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass

from robustops.core.errors import SeedError
from robustops.gym.clock import VirtualClock
from robustops.gym.engine import Engine
from robustops.gym.seeds import Seed, SeedStore
from robustops.gym.toolbox import Toolbox

_DATABASE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_NO_CONTEXT: Mapping[str, str] = {}


class Refusal(Exception):
    """What the server answers instead: an HTTP status and the `detail` of its body."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    engine: Engine
    seed: Seed


class Databases:
    """`max_databases`: how many may be open at a time; each holds its whole content in memory."""

    def __init__(self, toolbox: Toolbox, *, max_databases: int, seeds: SeedStore | None = None) -> None:
        self.toolbox = toolbox
        self._max_databases = max_databases
        self._seeds = seeds if seeds is not None else SeedStore()
        self._open: dict[str, _Open] = {}
        self._changing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._open)

    def engine(self, database_id: str) -> Engine:
        return self._entry(database_id).engine

    async def seed(self, database_id: str, sql: str) -> None:
        """Make the database, or make it anew. Raises Refusal for a bad id, bad SQL, or one database too many."""
        checked_id(database_id)
        async with self._changing:
            await self._seed(database_id, sql)

    async def reset(self, database_id: str, sql: str | None) -> None:
        """Back to the seed it came from, or to another one."""
        async with self._changing:
            entry = self._entry(database_id)
            if sql is None:
                self._put(database_id, entry.seed)
            else:
                await self._seed(database_id, sql)

    async def clone(self, source_id: str, database_id: str) -> None:
        """A second database with the contents that the first has now."""
        checked_id(database_id)
        async with self._changing:
            source = self._entry(source_id)
            self._make_room(database_id)
            self._put(database_id, source.seed)
            database = source.engine.database
            self._open[database_id].engine.database.load(database.dump(), database.digests)

    async def delete(self, database_id: str) -> None:
        """Raises Refusal for a database that is not there."""
        async with self._changing:
            self._entry(database_id)
            self._drop(database_id)

    def close(self) -> None:
        for database_id in tuple(self._open):
            self._drop(database_id)

    async def _seed(self, database_id: str, sql: str) -> None:
        self._make_room(database_id)
        try:
            # In a thread: loading a large seed takes a tenth of a second, in which other sessions go on.
            seed = await asyncio.to_thread(self._seeds.from_sql, self.toolbox.domain, sql, source=database_id)
        except SeedError as error:
            raise Refusal(500, f"Failed to seed database: {error}") from error
        self._put(database_id, seed)

    def _put(self, database_id: str, seed: Seed) -> None:
        if database_id in self._open:
            self._drop(database_id)
        self._open[database_id] = _Open(engine=Engine(self.toolbox, seed, VirtualClock(), _NO_CONTEXT), seed=seed)

    def _drop(self, database_id: str) -> None:
        self._open.pop(database_id).engine.close()

    def _make_room(self, database_id: str) -> None:
        if database_id not in self._open and len(self._open) >= self._max_databases:
            raise Refusal(
                503, f"{len(self._open)} databases are open, the most allowed; delete some or raise max_databases"
            )

    def _entry(self, database_id: str) -> _Open:
        checked_id(database_id)
        if database_id not in self._open:
            raise Refusal(404, f"Database not found: {database_id}")
        return self._open[database_id]


def checked_id(database_id: str) -> None:
    """Ids name nothing on disk here, but clients must not get used to ones that other servers could not take."""
    if not _DATABASE_ID.fullmatch(database_id):
        raise Refusal(400, f"Invalid database_id {database_id[:40]!r}: expected up to 128 letters, digits, _ and -")
