"""How a stored row becomes a reply object: which columns, in which order, booleans and times as the server shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from robustops.gym.domain import JSON_TYPES, Column, Domain, Table
from robustops.gym.hashing import quoted

Converter = Callable[[Any], Any]


class RowShape:
    """`columns` is the SELECT list; `show` turns one fetched row into the reply object.

    `labels`: the keys of the reply, where they are not the names of the columns.
    """

    def __init__(self, domain: Domain, table: Table, names: Sequence[str], labels: Sequence[str] = ()) -> None:
        self.names = tuple(labels or names)
        self.columns = ", ".join(quoted(name) for name in names)
        self._converters = tuple(
            (position, converter)
            for position, name in enumerate(names)
            if (converter := _converter(domain, table.by_name[name])) is not None
        )

    def show(self, row: Sequence[Any]) -> dict[str, Any]:
        if not self._converters:
            return dict(zip(self.names, row, strict=True))
        values = list(row)
        for position, converter in self._converters:
            values[position] = converter(values[position])
        return dict(zip(self.names, values, strict=True))


def _converter(domain: Domain, column: Column) -> Converter | None:
    if column.type == "boolean" and domain.json_booleans:
        return lambda value: None if value is None else bool(value)
    if column.type == "timestamp" and domain.iso_timestamps:
        return lambda value: value.replace(" ", "T", 1) if isinstance(value, str) else value
    if column.type == "json":
        return decoded
    return None


def decoded(value: Any) -> Any:
    """Seeds hold texts that are no JSON in such columns, which the servers show as they are."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def column_schema(column: Column) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": JSON_TYPES[column.type]}
    if column.values:
        schema["enum"] = list(column.values)
    if column.doc:
        schema["description"] = column.doc
    return schema


def row_schema(table: Table, names: Sequence[str], labels: Sequence[str] = ()) -> dict[str, Any]:
    schemas = [column_schema(table.by_name[name]) for name in names]
    properties: Mapping[str, Any] = dict(zip(labels or names, schemas, strict=True))
    return {"type": "object", "properties": properties}


def rows_schema(table: Table, names: Sequence[str], labels: Sequence[str] = ()) -> dict[str, Any]:
    return {"type": "array", "items": row_schema(table, names, labels)}
