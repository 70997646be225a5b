"""Checks read here: one SELECT on a copy of the database that nothing can write to. SQL in, the sql-runner's reply out.

A refusal is a reply too, `{"detail": message}`, as in the HTTP 400 of a real server; it is never an exception.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any

from robustops.gym.database import Database, connect
from robustops.gym.sqlbounds import bound_functions
from robustops.gym.sqltime import at_time

REFUSAL = "Only read-only SELECT queries are allowed"
MAX_STEPS = 20_000_000  # virtual machine instructions; a scan of the largest public table takes some 50,000
STEPS_PER_LOOK = 100_000
MAX_ROWS = 20_000  # more than a dump asks for at a time, and than any check could want
MAX_VALUE_BYTES = 8_000_000  # no `zeroblob(1e9)`
_JSON_TABLES = re.compile(r"\bjson_(?:each|tree)\b", re.IGNORECASE)
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"})


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _source: str | None) -> int:
    if action in _ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class SqlRunner:
    """Holds the copy and renews it after a write. `limit`: rows returned when the query names no LIMIT of its own.

    `now`: the present of the queries, UTC as YYYY-MM-DD HH:MM:SS.
    """

    def __init__(self, database: Database, *, limit: int | None, now: Callable[[], str]) -> None:
        self._database = database
        self._limit = limit
        self._now = now
        self._connection: sqlite3.Connection | None = None
        self._version = -1
        self._has_json_tables = False
        self._steps_left = 0

    def run(self, sql: str) -> dict[str, Any]:
        query = sql.strip().rstrip(";").rstrip()
        if not re.match(r"select\b", query, re.IGNORECASE):
            return {"detail": REFUSAL}
        if self._limit is not None and not re.search(r"\blimit\b", query, re.IGNORECASE):
            query = f"{query} LIMIT {self._limit}"
        self._steps_left = MAX_STEPS // STEPS_PER_LOOK
        try:
            self._renew(has_json_tables=_JSON_TABLES.search(query) is not None)
            assert self._connection is not None
            cursor = self._connection.execute(at_time(query, self._now()))
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
        if self._connection is not None:
            self._connection.close()
            self._connection, self._has_json_tables = None, False

    def _renew(self, *, has_json_tables: bool) -> None:
        """Bring the copy up to date.

        SQLite sets json_each and json_tree up on first use, which the authorizer would not allow, and keeps of them
        what is freed when another copy is loaded: a connection that has them is used for one copy only.
        """
        is_current = self._version == self._database.version
        if self._connection is not None and is_current and self._has_json_tables >= has_json_tables:
            return
        if self._has_json_tables or has_json_tables:
            self.close()
        if self._connection is None:
            self._connection = self._new_reader()
        self._connection.set_authorizer(None)  # SQLite loads a copy by an ATTACH of its own
        try:
            self._connection.deserialize(self._database.dump())
            if has_json_tables:
                self._connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").fetchall()
        finally:
            self._connection.set_authorizer(_authorize)
        self._version, self._has_json_tables = self._database.version, has_json_tables

    def _new_reader(self) -> sqlite3.Connection:
        connection = connect()
        connection.execute("PRAGMA query_only = ON")
        bound_functions(connection)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.set_progress_handler(self._look, STEPS_PER_LOOK)
        return connection

    def _look(self) -> int:
        self._steps_left -= 1
        return 1 if self._steps_left < 0 else 0
