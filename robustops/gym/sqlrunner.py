"""Checks read here: one SELECT on a copy of the database that nothing can write to. SQL in, the sql-runner's reply out.

A refusal is a reply too, `{"detail": message}`, as in the HTTP 400 of a real server; it is never an exception.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any

from robustops.gym.database import Database
from robustops.gym.memory import Idle, Memory, uses_table_functions
from robustops.gym.sqlbounds import bound_functions
from robustops.gym.sqltime import at_time

REFUSAL = "Only read-only SELECT queries are allowed"
MAX_STEPS = 20_000_000  # virtual machine instructions; a scan of the largest public table takes some 50,000
STEPS_PER_LOOK = 100_000
MAX_ROWS = 20_000  # more than a dump asks for at a time, and than any check could want
MAX_VALUE_BYTES = 8_000_000  # no `zeroblob(1e9)`
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})


class _Reader:
    """A connection that nothing can be written through. `steps_left`: looks that a query may still take.

    SQLite loads a copy by an ATTACH of its own, which is allowed while `_is_loading` and at no other time.
    """

    def __init__(self) -> None:
        self.steps_left = MAX_STEPS // STEPS_PER_LOOK
        self._is_loading = False
        self._memory = Memory()
        connection = self._memory.connection
        connection.execute("PRAGMA query_only = ON")
        bound_functions(connection)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.set_progress_handler(self._look, STEPS_PER_LOOK)
        connection.set_authorizer(self._authorize)

    @property
    def layout(self) -> str:
        return self._memory.layout

    @property
    def is_reusable(self) -> bool:
        return self._memory.is_reusable

    @property
    def has_table_functions(self) -> bool:
        return self._memory.has_table_functions

    def load(self, content: bytes) -> bool:
        """As of `Memory`."""
        self._is_loading = True
        try:
            return self._memory.load(content)
        finally:
            self._is_loading = False

    def set_up_table_functions(self) -> None:
        """SQLite makes json_each and json_tree tables on first use, which the authorizer would not allow."""
        self._memory.has_table_functions = True
        self._is_loading = True
        try:
            self._memory.connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").fetchall()
        finally:
            self._is_loading = False

    def execute(self, sql: str) -> sqlite3.Cursor:
        self.steps_left = MAX_STEPS // STEPS_PER_LOOK
        return self._memory.connection.execute(sql)

    def close(self) -> None:
        self._memory.close()

    def _look(self) -> int:
        self.steps_left -= 1
        return 1 if self.steps_left < 0 else 0

    def _authorize(
        self, action: int, first: str | None, second: str | None, _database: str | None, _source: str | None
    ) -> int:
        if action in _ALLOWED or self._is_loading:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _FORBIDDEN_FUNCTIONS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY


_IDLE: Idle[_Reader] = Idle()


class SqlRunner:
    """Holds the copy and renews it after a write. `limit`: rows returned when the query names no LIMIT of its own.

    `now`: the present of the queries, UTC as YYYY-MM-DD HH:MM:SS.
    """

    def __init__(self, database: Database, *, limit: int | None, now: Callable[[], str]) -> None:
        self._database = database
        self._limit = limit
        self._now = now
        self._reader: _Reader | None = None
        self._version = -1

    def run(self, sql: str) -> dict[str, Any]:
        query = sql.strip().rstrip(";").rstrip()
        if not re.match(r"select\b", query, re.IGNORECASE):
            return {"detail": REFUSAL}
        if self._limit is not None and not re.search(r"\blimit\b", query, re.IGNORECASE):
            query = f"{query} LIMIT {self._limit}"
        try:
            reader = self._current(has_table_functions=uses_table_functions(query))
            cursor = reader.execute(at_time(query, self._now()))
            names = [item[0] for item in cursor.description or ()]
            rows = cursor.fetchmany(MAX_ROWS + 1)
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            return {"detail": str(error)}
        if len(rows) > MAX_ROWS:
            return {"detail": f"more than {MAX_ROWS} rows; ask for fewer with LIMIT and OFFSET"}
        data = [dict(zip(names, row, strict=True)) for row in rows]
        return {
            "success": True,
            "message": "Query executed successfully",
            "data": data,
            "row_count": len(data),
            "query": query,
        }

    def close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            _IDLE.give(reader)

    def _current(self, *, has_table_functions: bool) -> _Reader:
        """A reader of the database as it is now."""
        reader, is_current = self._reader, self._version == self._database.version
        if reader is not None and is_current and reader.has_table_functions >= has_table_functions:
            return reader
        content = self._database.dump()
        if reader is None:
            reader = _IDLE.take(self._database.layout)
        if reader is not None and not reader.load(content):
            reader.close()
            reader = None
        if reader is None:
            reader = _Reader()
            reader.load(content)
        if has_table_functions:
            reader.set_up_table_functions()
        self._reader, self._version = reader, self._database.version
        return reader
