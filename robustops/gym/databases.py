"""The databases of one served domain, by the id that a client chose. Seeds in, engines out; all of it in memory.

Changes to the set of databases are made one after the other, so that a deletion sent after a seed also finds it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from robustops.core.errors import SeedError
from robustops.gym.clock import VirtualClock
from robustops.gym.engine import Engine
from robustops.gym.seed import Seed
from robustops.gym.seeds import SeedStore
from robustops.gym.toolbox import Toolbox

logger = logging.getLogger(__name__)

_DATABASE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_NO_CONTEXT: Mapping[str, str] = {}


class Refusal(Exception):
    """What the server answers instead: an HTTP status and the `detail` of its body."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


@dataclass(slots=True, kw_only=True)
class Opened:
    """One database; `used_at`: seconds of the clock that its `Databases` look at."""

    engine: Engine
    seed: Seed
    clock: VirtualClock
    used_at: float


class Databases:
    """`max_databases`: how many may be open at a time; each holds its whole content in memory. `now`: for tests."""

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        max_databases: int,
        seeds: SeedStore | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.toolbox = toolbox
        self._max_databases = max_databases
        self._seeds = seeds if seeds is not None else SeedStore()
        self._now = now
        self._open: dict[str, Opened] = {}
        self._changing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._open)

    def opened(self, database_id: str) -> Opened:
        """Raises Refusal for a bad id and for a database that is not there. Counts as a use."""
        entry = self._entry(database_id)
        entry.used_at = self._now()
        return entry

    def engine(self, database_id: str) -> Engine:
        return self.opened(database_id).engine

    async def sweep(self, max_idle_s: float) -> int:
        """Delete what nobody used for that long: a client that was killed deletes nothing. Returns how many went."""
        async with self._changing:
            oldest = self._now() - max_idle_s
            idle = [database_id for database_id, entry in self._open.items() if entry.used_at < oldest]
            for database_id in idle:
                self._drop(database_id)
        if idle:
            logger.warning(
                "%s: %d databases idle for %g s were deleted", self.toolbox.domain.name, len(idle), max_idle_s
            )
        return len(idle)

    async def seed_again(self, database_id: str, sha256: str) -> None:
        """Make the database from a seed that was loaded before. Raises Refusal (409) where it is not known any more."""
        checked_id(database_id)
        async with self._changing:
            self._make_room(database_id)
            seed = self._seeds.known(self.toolbox.domain, sha256)
            if seed is None:
                raise Refusal(409, "no seed of this hash is loaded; send sql_content")
            self._put(database_id, seed)

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
            database, copy = source.engine.database, self._open[database_id]
            copy.engine.database.load(database.dump(), database.digests)
            copy.clock.num_writes = source.clock.num_writes

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
        clock = VirtualClock()
        engine = Engine(self.toolbox, seed, clock, _NO_CONTEXT)
        self._open[database_id] = Opened(engine=engine, seed=seed, clock=clock, used_at=self._now())

    def _drop(self, database_id: str) -> None:
        self._open.pop(database_id).engine.close()

    def _make_room(self, database_id: str) -> None:
        if database_id not in self._open and len(self._open) >= self._max_databases:
            raise Refusal(
                503, f"{len(self._open)} databases are open, the most allowed; delete some or raise max_databases"
            )

    def _entry(self, database_id: str) -> Opened:
        checked_id(database_id)
        if database_id not in self._open:
            raise Refusal(404, f"Database not found: {database_id}")
        return self._open[database_id]


def checked_id(database_id: str) -> None:
    """Ids name nothing on disk here, but clients must not get used to ones that other servers could not take."""
    if not _DATABASE_ID.fullmatch(database_id):
        raise Refusal(400, f"Invalid database_id {database_id[:40]!r}: expected up to 128 letters, digits, _ and -")
