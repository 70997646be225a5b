"""The state of one remote database: its hash, its contents out, contents back in. Knows no task and no other server.

Our own servers give bytes and hash away. Of any other, read-only SQL shows the rows: they are dumped, a fresh database
is seeded from them, and what came out is compared with what went in.
"""

from __future__ import annotations

import json
import logging
import random
import string
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from robustops.core.errors import GymError, GymTimeout, GymUnavailable, SeedError, SnapshotUnsupported
from robustops.core.task import ToolSchema
from robustops.gym.domains import volatile_columns
from robustops.gym.dump import DatabaseDump, dump, from_wire, seed_sql, to_wire
from robustops.gym.ledger import Ledger
from robustops.gym.remote import RemoteServer
from robustops.gym.seed_texts import SeedText, seed_text
from robustops.gym.snapshot import ServerSnapshot, Snapshot, pack, unpack
from robustops.gym.wire import DATABASE, SNAPSHOT_PATH, STATE_PATH

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
    """One server as one session uses it. `database_id` is the present database; `made` holds all that may exist.

    `has_failed`: it did not answer while the session was opened.
    """

    server: RemoteServer
    headers: Mapping[str, str]
    seed_file: str = ""
    ledger: Ledger | None = None
    database_id: str = ""
    made: set[str] = field(default_factory=set)
    has_failed: bool = False

    async def tools(self) -> tuple[ToolSchema, ...]:
        try:
            return await self.server.tools()
        except (GymTimeout, GymUnavailable):
            self._fail()
            raise

    async def query(self, sql: str) -> Any:
        return await self.server.query(self.database_id, sql, self.headers)

    async def seed(self, seed: SeedText) -> str:
        database_id = new_database_id()
        # Noted first: a request that was cancelled or timed out may have made the database all the same.
        self.made.add(database_id)
        if self.ledger is not None:
            self.ledger.made(self.server.url, database_id)
        try:
            await self.server.seed(database_id, seed)
        except (GymTimeout, GymUnavailable):
            self._fail()
            raise
        return database_id

    async def delete(self, database_id: str) -> None:
        """Raises GymError; the database is then still noted."""
        await self.server.delete(database_id)
        self.made.discard(database_id)
        if self.ledger is not None:
            self.ledger.deleted(self.server.url, database_id)

    def _fail(self) -> None:
        self.has_failed = True
        self.server.forget()


class RemoteState:
    """What is known of the present contents is kept until `touched`."""

    def __init__(self, partner: Partner) -> None:
        self._partner = partner
        self._name = partner.server.name
        self._digest = ""
        self._dump: DatabaseDump | None = None

    def touched(self) -> None:
        self._digest, self._dump = "", None

    async def digest(self) -> str:
        """Raises SnapshotUnsupported, naming the server, where it shows neither bytes nor rows."""
        if not self._digest:
            if self._partner.server.is_extended:
                answer = await self._partner.server.send("GET", STATE_PATH, self._partner.database_id)
                self._digest = str(answer.body["digest"])
            else:
                self._digest = (await self._dumped()).digest
        return self._digest

    async def masked_digest(self) -> str:
        """Without the columns that the server's own clock writes; our servers have none."""
        if self._partner.server.is_extended:
            return await self.digest()
        return (await self._dumped()).without(volatile_columns(self._name)).digest

    async def take(self) -> ServerSnapshot:
        """Raises SnapshotUnsupported, naming the server, where it shows neither bytes nor rows."""
        if not self._partner.server.is_extended:
            rows = zlib.compress(json.dumps(to_wire(await self._dumped())).encode(), level=1)
            return ServerSnapshot(name=self._name, form="rows", content=rows)
        answer = await self._partner.server.send("GET", SNAPSHOT_PATH, self._partner.database_id)
        (server,) = unpack(answer.body, expected=[DATABASE]).servers
        return ServerSnapshot(name=self._name, form="sqlite", content=server.content, digests=server.digests)

    async def bring_back(self, wanted: ServerSnapshot, num_writes: int | None) -> None:
        """Raises SnapshotUnsupported, naming the server, when its database does not come back equal."""
        if wanted.form == "rows":
            await self._seed_rows(_rows(wanted))
        elif self._partner.server.is_extended and num_writes is not None:
            server = ServerSnapshot(name=DATABASE, form="sqlite", content=wanted.content, digests=wanted.digests)
            content = pack(Snapshot(num_writes=num_writes, servers=(server,)))
            self.touched()
            answer = await self._partner.server.send("PUT", SNAPSHOT_PATH, self._partner.database_id, content)
            self._digest = str(answer.body["digest"])
        else:
            raise SnapshotUnsupported(f"{self._name}: takes no database bytes; this snapshot is of a server that does")

    async def _seed_rows(self, wanted: DatabaseDump) -> None:
        partner, before = self._partner, self._partner.database_id
        try:
            fresh = await partner.seed(seed_text(seed_sql(wanted), "a snapshot"))
        except SeedError as error:
            raise SnapshotUnsupported(f"{self._name}: refuses its own dump as a seed: {error}") from error
        found = await self._dump_of(lambda sql: partner.server.query(fresh, sql, partner.headers))
        if found != wanted:
            tables = ", ".join(found.differences(wanted)) or "the autoincrement counters"
            raise SnapshotUnsupported(f"{self._name}: a database seeded from its dump differs from it in: {tables}")
        partner.database_id = fresh
        self._digest, self._dump = "", found
        try:
            await partner.delete(before)
        except GymError as error:
            logger.info("%s: database %s not deleted yet: %s", self._name, before, error)  # close() tries again

    async def _dumped(self) -> DatabaseDump:
        if self._dump is None:
            self._dump = await self._dump_of(self._partner.query)
        return self._dump

    async def _dump_of(self, query: Callable[[str], Awaitable[Any]]) -> DatabaseDump:
        try:
            return await dump(query)
        except (GymTimeout, GymUnavailable) as error:
            raise type(error)(f"{self._name}: {error}") from error
        except GymError as error:
            raise SnapshotUnsupported(f"{self._name}: {error}") from error


def _rows(wanted: ServerSnapshot) -> DatabaseDump:
    try:
        return from_wire(json.loads(zlib.decompress(wanted.content)))
    except (zlib.error, ValueError, TypeError, KeyError, AttributeError) as error:
        raise GymError(f"restore: the rows of {wanted.name} cannot be read ({error})") from error
