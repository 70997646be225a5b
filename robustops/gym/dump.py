"""A server's whole database through its read-only SQL, and back as seed SQL. Rows in and out; sends nothing itself.

Paged with an explicit LIMIT, because servers cut queries that have none at 100 rows, and counted, because a cut reply
looks like a whole one.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from robustops.core.errors import GymError
from robustops.gym.hashing import combined_digest, quoted, rows_digest

Query = Callable[[str], Awaitable[Any]]
PAGE_ROWS = 5000
INSERT_ROWS = 200
SCALE_BITS = 60  # of a power of two whose digits SQLite reads exactly
SEQUENCES = "sqlite_sequence"
Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDump:
    """`rows` are ordered by the primary key, or by all columns where there is none."""

    name: str
    columns: tuple[str, ...]
    rows: Rows

    @property
    def digest(self) -> str:
        return rows_digest(list(self.columns), list(self.rows))

    def without(self, volatile: Collection[str]) -> TableDump:
        kept = [index for index, column in enumerate(self.columns) if column not in volatile]
        rows = tuple(tuple(row[index] for index in kept) for row in self.rows)
        return TableDump(name=self.name, columns=tuple(self.columns[index] for index in kept), rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDump:
    """`tables` in the order of their creation; `sequences`: the autoincrement counters, which outlive deleted rows."""

    tables: tuple[TableDump, ...]
    sequences: Mapping[str, int]

    @property
    def digest(self) -> str:
        return combined_digest({table.name: table.digest for table in self.tables})

    def without(self, volatile: Collection[str]) -> DatabaseDump:
        """The same rows without those columns, in whichever table they are."""
        return DatabaseDump(tables=tuple(table.without(volatile) for table in self.tables), sequences=self.sequences)

    def differences(self, other: DatabaseDump) -> tuple[str, ...]:
        """Names of the tables whose contents differ."""
        mine = {table.name: table.digest for table in self.tables}
        theirs = {table.name: table.digest for table in other.tables}
        return tuple(name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    name: str
    columns: tuple[str, ...]
    order: tuple[str, ...]
    num_rows: int


async def dump(query: Query) -> DatabaseDump:
    """Raises GymError when a reply is refused or shorter than the table."""
    layouts = await _layouts(query)
    tables = await asyncio.gather(*(_table(query, layout) for layout in layouts))
    has_sequences = await _rows(query, f"SELECT name FROM sqlite_master WHERE name = '{SEQUENCES}' LIMIT 1")
    sequences = await _rows(query, f"SELECT name, seq FROM {SEQUENCES} LIMIT {PAGE_ROWS}") if has_sequences else []
    return DatabaseDump(tables=tuple(tables), sequences={row["name"]: row["seq"] for row in sequences})


async def _layouts(query: Query) -> list[_Layout]:
    found = await _rows(
        query,
        r"SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' "
        f"ORDER BY rowid LIMIT {PAGE_ROWS}",
    )
    if not found:
        return []
    names = [row["name"] for row in found]
    counts = " UNION ALL ".join(
        f"SELECT {_text_literal(name)} AS table_name, COUNT(*) AS num_rows FROM {quoted(name)}" for name in names
    )
    num_rows = {row["table_name"]: row["num_rows"] for row in await _rows(query, f"{counts} LIMIT {PAGE_ROWS}")}
    with closing(sqlite3.connect(":memory:")) as scratch:
        return [_layout(scratch, row["name"], row["sql"], num_rows[row["name"]]) for row in found]


def _layout(scratch: sqlite3.Connection, name: str, create_sql: str, num_rows: int) -> _Layout:
    """Read a table's columns and key off its CREATE statement: sql-runners refuse PRAGMA, so SQLite reads it here."""
    if not create_sql.lstrip().upper().startswith("CREATE TABLE"):
        raise GymError(f"table {name}: no CREATE TABLE statement: {create_sql[:120]!r}")
    try:
        scratch.execute(create_sql)
    except sqlite3.Error as error:
        raise GymError(f"table {name}: its CREATE statement cannot be read: {error}") from error
    described = scratch.execute(f"SELECT name, pk FROM pragma_table_info({_text_literal(name)})").fetchall()
    columns = tuple(column for column, _ in described)
    key = tuple(column for column, place in sorted(described, key=lambda item: int(item[1])) if place)
    return _Layout(name=name, columns=columns, order=key or columns, num_rows=num_rows)


async def _table(query: Query, layout: _Layout) -> TableDump:
    columns = ", ".join(map(quoted, layout.columns))
    select = f"SELECT {columns} FROM {quoted(layout.name)} ORDER BY {', '.join(map(quoted, layout.order))}"
    rows: list[tuple[Any, ...]] = []
    while len(rows) < layout.num_rows:
        page = await _rows(query, f"{select} LIMIT {PAGE_ROWS} OFFSET {len(rows)}")
        if not page:
            raise GymError(f"table {layout.name}: {layout.num_rows} rows counted, but only {len(rows)} could be read")
        rows += [tuple(row[name] for name in layout.columns) for row in page]
    return TableDump(name=layout.name, columns=layout.columns, rows=tuple(rows))


async def _rows(query: Query, sql: str) -> list[Mapping[str, Any]]:
    reply = await query(sql)
    rows = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(rows, list):
        raise GymError(f"the sql-runner refuses a dump: {str(reply)[:200]} (query: {sql[:120]})")
    return rows


def seed_sql(dumped: DatabaseDump) -> str:
    """INSERTs that bring the dump back into a server's own, empty schema.

    Statements hold no line break and, but at their end, no semicolon: one of the servers splits its seed at both.
    """
    statements = []
    for table in dumped.tables:
        head = f"INSERT INTO {quoted(table.name)} ({', '.join(map(quoted, table.columns))}) VALUES "
        for start in range(0, len(table.rows), INSERT_ROWS):
            values = (f"({', '.join(map(_literal, row))})" for row in table.rows[start : start + INSERT_ROWS])
            statements.append(head + ", ".join(values))
    if dumped.sequences:
        statements.append(f"DELETE FROM {SEQUENCES}")
        values = (f"({_text_literal(name)}, {int(seq)})" for name, seq in dumped.sequences.items())
        statements.append(f"INSERT INTO {SEQUENCES} (name, seq) VALUES {', '.join(values)}")
    return "".join(statement + ";\n" for statement in statements)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return _float_literal(value)
    if isinstance(value, str):
        return _text_literal(value)
    raise GymError(f"a dump cannot hold the value {value!r}")


def _float_literal(value: float) -> str:
    """A whole number times or by powers of two, exact in any SQLite; decimal digits it may read one bit off."""
    whole, divisor = value.as_integer_ratio()
    extra_bits = max(0, whole.bit_length() - sys.float_info.mant_dig)  # all of them zeros
    literal, left, sign = f"{whole >> extra_bits}.0", extra_bits or divisor.bit_length() - 1, "*" if extra_bits else "/"
    while left:
        step = min(left, SCALE_BITS)
        literal, left = f"{literal}{sign}{2**step}.0", left - step
    return literal


_SPELLED_OUT = {";": "char(59)", "\n": "char(10)", "\r": "char(13)", "\x00": "char(0)"}


def _text_literal(text: str) -> str:
    """A quoted literal; characters that a naive splitter trips over are written as a mark and put back by replace()."""
    literal = "'" + text.replace("'", "''") + "'"
    for character, spelled in _SPELLED_OUT.items():
        if character in text:
            # Its first character occurs nowhere else in a mark, so no mark can begin in the text before it.
            mark = next(mark for n in itertools.count() if (mark := f"<{ord(character)}.{n}>") not in text)
            literal = f"replace({literal.replace(character, mark)}, '{mark}', {spelled})"
    return literal


def to_wire(dumped: DatabaseDump) -> dict[str, Any]:
    tables = [{"name": table.name, "columns": table.columns, "rows": table.rows} for table in dumped.tables]
    return {"tables": tables, "sequences": dict(dumped.sequences)}


def from_wire(value: Mapping[str, Any]) -> DatabaseDump:
    tables = tuple(
        TableDump(name=table["name"], columns=tuple(table["columns"]), rows=tuple(tuple(row) for row in table["rows"]))
        for table in value["tables"]
    )
    return DatabaseDump(tables=tables, sequences=dict(value["sequences"]))
