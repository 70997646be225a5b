"""Operations that are written in Python: rows as objects in, reply objects out. What a domain says only once is YAML.

A value that is an object or a list is stored as JSON text, as Python writes it; a truth value as 0 or 1.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from robustops.gym.domain import Domain, Table, Tool
from robustops.gym.hashing import quoted
from robustops.gym.ids import Ids
from robustops.gym.operations.checks import initial_value, next_key
from robustops.gym.operations.kind import Call, Kind, Operation

Row = dict[str, Any]


class Records:
    """The rows that one call may see and change. Conditions are column values, all of which must hold."""

    __slots__ = ("_call", "_domain")

    def __init__(self, domain: Domain, call: Call) -> None:
        self._domain = domain
        self._call = call

    @property
    def caller(self) -> Mapping[str, Any]:
        return self._call.caller

    @property
    def now(self) -> str:
        return self._call.now

    @property
    def ids(self) -> Ids:
        return self._call.ids

    def find(self, table: str, where: Mapping[str, Any] | None = None, *, order: str = "rowid") -> list[Row]:
        """`order`: SQL, by default the order in which the rows were written."""
        text, values = _condition(where or {})
        return self._call.database.records(f"SELECT * FROM {quoted(table)}{text} ORDER BY {order}", values)

    def first(self, table: str, where: Mapping[str, Any]) -> Row | None:
        text, values = _condition(where)
        found = self._call.database.records(f"SELECT * FROM {quoted(table)}{text} ORDER BY rowid LIMIT 1", values)
        return found[0] if found else None

    def select(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """A query of the operation's own, for conditions that are more than equal values."""
        return self._call.database.records(sql, values)

    def count(self, table: str, where: Mapping[str, Any]) -> int:
        text, values = _condition(where)
        return int(self._call.database.rows(f"SELECT COUNT(*) FROM {quoted(table)}{text}", values)[0][0])

    def add(self, table: str, values: Mapping[str, Any]) -> Row:
        """Insert the values, and for every other column its initial one; returns the whole row."""
        declared = self._domain.tables[table]
        row = {
            column.name: _stored(values[column.name])
            if column.name in values
            else initial_value(self._call, declared, column, None)
            for column in declared.columns
            if column.name in values or column.name != declared.key
        }
        if declared.key and declared.key not in row:
            row[declared.key] = next_key(self._call, declared)
        self._call.database.insert(declared, row)
        return row

    def change(self, table: str, where: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        text, bound = _condition(where)
        declared = self._domain.tables[table]
        stored = {name: _stored(value) for name, value in values.items()}
        self._call.database.change(declared, text, bound, stored)

    def remove(self, table: str, where: Mapping[str, Any]) -> int:
        """The number of rows that are gone."""
        text, values = _condition(where)
        return len(self._call.database.delete(self._domain.tables[table], text, values))

    def table(self, name: str) -> Table:
        return self._domain.tables[name]


Handler = Callable[[Records, Mapping[str, Any]], Any]


def reading(run: Handler) -> Kind:
    """The word for an operation that never writes."""
    return Kind(compile=lambda domain, _tool: _bound_to(domain, run), output=_no_output)


def writing(run: Handler) -> Kind:
    return Kind(compile=lambda domain, _tool: _bound_to(domain, run), output=_no_output, is_write=True, place="body")


def _bound_to(domain: Domain, run: Handler) -> Operation:
    return lambda call, arguments: run(Records(domain, call), arguments)


def _no_output(_tool: Tool) -> None:
    return None


def _condition(where: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    if not where:
        return "", ()
    texts = [f"{quoted(name)} IS NULL" if value is None else f"{quoted(name)} = ?" for name, value in where.items()]
    return " WHERE " + " AND ".join(texts), tuple(value for value in where.values() if value is not None)


def _stored(value: Any) -> Any:
    if isinstance(value, dict | list):
        return json.dumps(value)
    return int(value) if isinstance(value, bool) else value
