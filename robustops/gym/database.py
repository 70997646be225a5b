"""One server's SQLite database in memory: schema, rows, transactions, bytes, digests. Knows no tool and no task."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from robustops.gym.domain import Table
from robustops.gym.hashing import changed_digest, combined_digest, quoted, table_digest
from robustops.gym.memory import Idle, Memory, uses_table_functions

# Affinity matters: checks compare `location_id = '907'`, which holds only for an INTEGER column.
AFFINITIES: Mapping[str, str] = {
    "integer": "INTEGER",
    "boolean": "INTEGER",
    "real": "REAL",
    "text": "TEXT",
    "timestamp": "TEXT",
    "json": "TEXT",
}
_IDLE: Idle[Memory] = Idle()


def create_table_sql(table: Table) -> str:
    """No NOT NULL, UNIQUE or foreign key: seeds leave columns out and the tools check what servers check."""
    columns = []
    for column in table.columns:
        text = f"{quoted(column.name)} {AFFINITIES[column.type]}"
        if column.name == table.key and table.id_format != "given":
            text += " PRIMARY KEY" if table.id_format else " PRIMARY KEY AUTOINCREMENT"
        elif column.default is not None:
            text += f" DEFAULT {literal(column.default)}"
        columns.append(text)
    return f"CREATE TABLE {quoted(table.name)} ({', '.join(columns)})"


def create_index_sql(table: Table) -> list[str]:
    return [
        f"CREATE INDEX {quoted('_by_'.join((table.name, '_'.join(columns))))} ON {quoted(table.name)} "
        f"({', '.join(map(quoted, columns))})"
        for columns in table.indexes
    ]


def literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


class Database:
    """Holds one connection. `version` changes with every content change, so that readers know when to look again.

    `layout`: that of the content to come, where it is known: a connection that held such a database is faster.
    """

    def __init__(self, layout: str = "") -> None:
        self._memory = _IDLE.take(layout) or Memory()
        self._is_closed = False
        self._digests: dict[str, int] = {}
        self._names: tuple[str, ...] = ()
        self.version = 0

    def load(self, content: bytes | memoryview, digests: Mapping[str, int]) -> None:
        """Replace everything. `digests`: those known for the content; the rest are computed when asked for."""
        if not self._memory.load(content):
            self._memory.close()
            self._memory = Memory()
            self._memory.load(content)
        self._digests = dict(digests)
        self._names = ()
        self.version += 1

    @property
    def layout(self) -> str:
        return self._memory.layout

    def dump(self) -> bytes:
        return self._memory.connection.serialize()

    @property
    def digests(self) -> Mapping[str, int]:
        """Digest by table; computed where it is not known, kept up to date by the writes."""
        if not self._names:
            self._names = tuple(name for (name,) in self._execute(_TABLE_NAMES))
        for name in self._names:
            if name not in self._digests:
                self._digests[name] = table_digest(self._memory.connection, name)
        return self._digests

    def digest(self) -> str:
        return combined_digest(self.digests)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._execute(sql, values).fetchone()
        return found

    def records(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Rows as objects, for statements that name no columns."""
        cursor = self._execute(sql, values)
        names = [item[0] for item in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def insert(self, table: Table, row: Mapping[str, Any]) -> None:
        names = ", ".join(map(quoted, row))
        marks = ", ".join("?" for _ in row)
        sql = f"INSERT INTO {quoted(table.name)} ({names}) VALUES ({marks})"
        rowid = self._execute(sql, tuple(row.values())).lastrowid
        self._changed(table, added=self.rows(f"SELECT * FROM {quoted(table.name)} WHERE rowid = ?", (rowid,)))

    def update(self, table: Table, key: Any, values: Mapping[str, Any]) -> None:
        before = self._by_key(table, key)
        settings = ", ".join(f"{quoted(name)} = ?" for name in values)
        sql = f"UPDATE {quoted(table.name)} SET {settings} WHERE {quoted(table.key)} = ?"
        self._execute(sql, (*values.values(), key))
        self._changed(table, removed=before, added=self._by_key(table, key))

    def change(self, table: Table, where: str, values: Sequence[Any], settings: Mapping[str, Any]) -> int:
        """Set columns in every row of a WHERE clause (` WHERE ...`); returns how many there were."""
        name = quoted(table.name)
        before = self.rows(f"SELECT rowid, * FROM {name}{where}", values)
        marks = ", ".join("?" for _ in before)
        chosen = [row[0] for row in before]
        setters = ", ".join(f"{quoted(column)} = ?" for column in settings)
        sql = f"UPDATE {name} SET {setters} WHERE rowid IN ({marks})"
        self._execute(sql, (*settings.values(), *chosen))
        after = self.rows(f"SELECT * FROM {name} WHERE rowid IN ({marks})", chosen)
        self._changed(table, removed=[row[1:] for row in before], added=after)
        return len(before)

    def delete(self, table: Table, where: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Delete the rows of a WHERE clause (` WHERE ...`); returns them, whole, in the order of the key."""
        order = f" ORDER BY {quoted(table.key)}" if table.key else ""
        gone = self.rows(f"SELECT * FROM {quoted(table.name)}{where}{order}", values)
        self._execute(f"DELETE FROM {quoted(table.name)}{where}", values)
        self._changed(table, removed=gone)
        return gone

    def next_sequence(self, table: str) -> int:
        """The id that SQLite's autoincrement would give to the next row."""
        found = self.row("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        return 1 if found is None else int(found[0]) + 1

    def _by_key(self, table: Table, key: Any) -> list[tuple[Any, ...]]:
        return self.rows(f"SELECT * FROM {quoted(table.name)} WHERE {quoted(table.key)} = ?", (key,))

    def _changed(
        self, table: Table, *, removed: Sequence[Sequence[Any]] = (), added: Sequence[Sequence[Any]] = ()
    ) -> None:
        self.version += 1
        if table.name in self._digests:
            self._digests[table.name] = changed_digest(self._digests[table.name], removed=removed, added=added)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: any exception takes back every write since the start."""
        before = dict(self._digests)
        self._execute("BEGIN")
        try:
            yield
        except BaseException:
            self._execute("ROLLBACK")
            self._digests = before
            raise
        self._execute("COMMIT")

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            _IDLE.give(self._memory)
            self._memory = _CLOSED

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        if uses_table_functions(sql):
            self._memory.has_table_functions = True
        return self._memory.connection.execute(sql, values)


_CLOSED = Memory()  # what a closed database holds: every use is an error
_CLOSED.close()
_TABLE_NAMES = (
    r"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name"
)
