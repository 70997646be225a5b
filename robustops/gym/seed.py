"""Seed SQL in, database bytes out. The SQL runs unchanged on the domain's own schema.

Seeds hold INSERTs only. A column or table that the schema lacks is added from the INSERT's column list and reported.
The present, where a seed speaks of it, is the start of the virtual clock.
"""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from robustops.core.errors import SeedError
from robustops.gym.clock import SQL_TIME, VirtualClock
from robustops.gym.database import Database, create_index_sql, create_table_sql
from robustops.gym.domain import Domain
from robustops.gym.hashing import quoted
from robustops.gym.memory import connect
from robustops.gym.sqlbounds import bound_functions
from robustops.gym.sqltime import at_time

logger = logging.getLogger(__name__)

# Strings, comments and semicolons: what decides where a statement ends. A `;` inside a literal does not.
_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|;""", re.DOTALL)
MAX_SEED_STEPS = 100_000_000  # virtual machine instructions; the largest public seed takes a few million
STEPS_PER_LOOK = 100_000
MAX_SEED_PAGES = 65_536  # of 4 KiB
_NAME = r"""(?:"(?:[^"]|"")+"|`[^`]+`|\[[^\]]+\]|\w+)"""
_INSERT = re.compile(rf"\s*(?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+)?INTO\s+({_NAME})\s*(?:\(([^)]*)\))?", re.IGNORECASE)
_SKIPPED_PRAGMAS = frozenset({"foreign_keys", "defer_foreign_keys", "journal_mode", "synchronous"})
_ALLOWED = frozenset(
    {
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_RECURSIVE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A seeded database as bytes, with the digests of its tables, and what the schema lacked."""

    database: bytes
    digests: Mapping[str, int]
    layout: str = ""  # which tables lie where in the bytes
    added_columns: tuple[str, ...] = ()
    added_tables: tuple[str, ...] = ()


def build_seed(domain: Domain, sql: str, *, source: str = "seed") -> Seed:
    """Raises SeedError for SQL that SQLite refuses, naming `source` and the line."""
    connection = connect()
    connection.execute(f"PRAGMA max_page_count = {MAX_SEED_PAGES}")
    bound_functions(connection)
    budget = iter(range(MAX_SEED_STEPS // STEPS_PER_LOOK))
    connection.set_progress_handler(lambda: next(budget, None) is None, STEPS_PER_LOOK)
    now = VirtualClock().now(SQL_TIME)
    added_columns: list[str] = []
    added_tables: list[str] = []
    try:
        for table in domain.tables.values():
            for creation in (create_table_sql(table), *create_index_sql(table)):
                connection.execute(creation)
        for line, statement in statements(sql):
            try:
                _extend_schema(connection, statement, added_columns, added_tables)
                _execute(connection, at_time(statement, now))
            except (sqlite3.Error, sqlite3.Warning) as error:
                raise SeedError(f"{source}:{line}: {error}; the statement starts {statement[:60]!r}") from error
        if connection.in_transaction:
            connection.execute("COMMIT")
        for statement in domain.after_seed:
            connection.execute(statement.replace("{now}", VirtualClock().now(domain.time_format)))
        content = connection.serialize()
    finally:
        connection.close()
    if added_columns or added_tables:
        logger.warning(
            "seed %s: not in the %s schema and added as found: tables %s, columns %s",
            *(source, domain.name, ", ".join(added_tables) or "none", ", ".join(added_columns) or "none"),
        )
    digests, layout = _described(content)
    return Seed(
        database=content,
        digests=digests,
        layout=layout,
        added_columns=tuple(added_columns),
        added_tables=tuple(added_tables),
    )


def statements(sql: str) -> Iterator[tuple[int, str]]:
    """(line number, statement) of every statement that is more than comments; comments are blanked out."""
    sql += "\n;"  # on a line of its own, as the last one may be a comment
    start, line = 0, 1
    pieces: list[str] = []
    for match in _TOKEN.finditer(sql):
        token = match.group()
        if token == ";":
            statement = "".join([*pieces, sql[start : match.start()]])
            text = statement.lstrip()
            if text:
                yield line + statement[: len(statement) - len(text)].count("\n"), text.rstrip()
            line += statement.count("\n")
            pieces, start = [], match.end()
        elif token.startswith(("--", "/*")):
            pieces += [sql[start : match.start()], "\n" * token.count("\n") or " "]
            start = match.end()


def _execute(connection: sqlite3.Connection, statement: str) -> None:
    """Raises sqlite3.Error for anything but changes to rows: no files, no schema, no settings."""
    connection.set_authorizer(_authorize)
    try:
        connection.execute(statement)
    finally:
        connection.set_authorizer(None)


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _source: str | None) -> int:
    if action in _ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() != "load_extension":
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _SKIPPED_PRAGMAS:
        return sqlite3.SQLITE_IGNORE
    return sqlite3.SQLITE_DENY


def _extend_schema(
    connection: sqlite3.Connection, statement: str, added_columns: list[str], added_tables: list[str]
) -> None:
    match = _INSERT.match(statement)
    if match is None or match.group(2) is None:
        return
    table = _bare(match.group(1))
    names = [_bare(name.strip()) for name in match.group(2).split(",")]
    known = {row[1].lower() for row in connection.execute(f"PRAGMA table_info({quoted(table)})")}
    if not known:
        connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(map(quoted, names))})")
        added_tables.append(table)
        return
    for name in names:
        if name.lower() not in known:
            connection.execute(f"ALTER TABLE {quoted(table)} ADD COLUMN {quoted(name)}")
            added_columns.append(f"{table}.{name}")


def _bare(identifier: str) -> str:
    if identifier[:1] in ('"', "`"):
        return identifier[1:-1].replace(identifier[0] * 2, identifier[0])
    return identifier[1:-1] if identifier.startswith("[") else identifier


def _described(content: bytes) -> tuple[Mapping[str, int], str]:
    """The digests of the tables, and the layout."""
    database = Database()
    try:
        database.load(content, {})
        return dict(database.digests), database.layout
    finally:
        database.close()
