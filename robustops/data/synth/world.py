"""One synthetic database: rows by table, ids random with gaps, and its SQL. Knows no domain.

A world belongs to one part (train, val or test) and hosts several tasks; nothing in it changes after it was built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

from robustops.core.task import Part
from robustops.data.synth.names import Names

SEED_TIME = "2025-01-15 08:00:00"  # bookkeeping time of every seed row; a later one tells that a row was written to
MAX_ID = 9_899  # leaves room below 10,000 for rows that a task creates

Row = dict[str, Any]


class IdPool:
    """Distinct ids of one table: random, with gaps, and of a random size, so that none can be guessed."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._top = rng.randint(1_000, MAX_ID)
        self._used: set[int] = set()

    def next(self) -> int:
        while (number := self._rng.randint(1, self._top)) in self._used:
            pass
        self._used.add(number)
        return number


@dataclass(slots=True, kw_only=True)
class World:
    """`context`: the headers of the person on whose behalf the tools are called.

    `key_prefixes`: of tables whose ids are text such as INC_0421. `uuid_keys`: tables whose ids are UUIDs. All others
    have integers; a row that brings its id keeps it, and a table without a key column has none.
    """

    part: Part
    rng: Random
    names: Names
    key_columns: Mapping[str, str]
    key_prefixes: Mapping[str, str] = field(default_factory=dict)
    uuid_keys: frozenset[str] = frozenset()
    tables: dict[str, list[Row]] = field(default_factory=dict)
    context: dict[str, str] = field(default_factory=dict)
    _ids: dict[str, IdPool] = field(default_factory=dict)

    def add(self, table: str, row: Mapping[str, Any]) -> Row:
        """Add a row under a fresh id, which comes first; returns it."""
        key = self.key_columns.get(table)
        full = dict(row) if key is None or key in row else {key: self._fresh_id(table), **row}
        self.tables.setdefault(table, []).append(full)
        return full

    def _fresh_id(self, table: str) -> int | str:
        if table in self.uuid_keys:
            return str(UUID(int=self.rng.getrandbits(128), version=4))
        number = self._ids.setdefault(table, IdPool(self.rng)).next()
        prefix = self.key_prefixes.get(table)
        return f"{prefix}_{number:04d}" if prefix else number

    def rows(self, table: str, where: Mapping[str, Any] | None = None) -> list[Row]:
        """Rows in key order, as tools list them; those of a table without a key as they were added."""
        key = self.key_columns.get(table)
        wanted = (where or {}).items()
        found = [row for row in self.tables[table] if all(row[name] == value for name, value in wanted)]
        return found if key is None else sorted(found, key=lambda row: row[key])

    def one(self, table: str, where: Mapping[str, Any]) -> Row:
        (row,) = self.rows(table, where)
        return row


def sql_of(world: World) -> str:
    """INSERT statements only, as public seed files have them: the server makes its own schema first."""
    statements = []
    for table in world.tables:
        rows = world.rows(table)
        columns = list(rows[0])
        assert all(list(row) == columns for row in rows), f"{table}: rows differ in columns"
        values = ",\n".join(f"({', '.join(literal(row[name]) for name in columns)})" for row in rows)
        statements.append(f"INSERT INTO {table} ({', '.join(columns)}) VALUES\n{values};\n")
    return "\n".join(statements)


def literal(value: Any) -> str:
    """A value as SQLite reads it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
