"""Reading operations: one row, many rows, does a row exist. They never write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape, column_schema, row_schema, rows_schema


def _get(domain: Domain, tool: Tool) -> Operation:
    """One object, the lowest key where several match; `{}` where none does, or a failure with `missing: error`.

    `own_first`: a column by which rows with the caller's value go before others.
    """
    shape = RowShape(domain, tool.table, tool.reply, tool.labels)
    filters = Filters(domain, tool.table, tool.params)
    head = f"SELECT {shape.columns} FROM {quoted(tool.table.name)}"
    is_error = tool.options.get("missing") == "error"
    own: str = tool.options.get("own_first", "")
    tail = f" ORDER BY {f'{quoted(own)} = ? DESC, ' if own else ''}{quoted(tool.table.key)} LIMIT 1"

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        values = (*where.values, call.caller[own]) if own else where.values
        row = call.database.row(head + where.text + tail, values)
        if row is None and is_error:
            raise ToolFailure("not found", code="NOT_FOUND")
        return {} if row is None else shape.show(row)

    return run


def _list(domain: Domain, tool: Tool) -> Operation:
    """Every matching row. Options: `order` (default: the key), `wrap` and `count_as` for `{"users": [...], "n": 1}`,
    `needs_filter`, `missing: error` where no match is a failure, `most: {PARAMETER: NUMBER}` for an argument that
    bounds the number of rows, and its default."""
    shape = RowShape(domain, tool.table, tool.reply, tool.labels)
    filters = Filters(domain, tool.table, [param for param in tool.params if param.columns])
    head = f"SELECT {shape.columns} FROM {quoted(tool.table.name)}"
    tail = f" ORDER BY {tool.options.get('order') or quoted(tool.table.key)}"
    wrap, count_as = tool.options.get("wrap"), tool.options.get("count_as")
    needs_filter = bool(tool.options.get("needs_filter"))
    is_error = tool.options.get("missing") == "error"
    most: Mapping[str, int] = tool.options.get("most", {})

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        if needs_filter and not where.num_filters:
            raise ToolFailure("At least one filter is required")
        found = [shape.show(row) for row in call.database.rows(head + where.text + tail, where.values)]
        for name, number in most.items():
            found = found[: arguments.get(name, number)]
        if is_error and not found:
            raise ToolFailure("not found", code="NOT_FOUND")
        if wrap is None:
            return found
        return {wrap: found, count_as: len(found)} if count_as else {wrap: found}

    return run


def _exists(domain: Domain, tool: Tool) -> Operation:
    """`{"exists": bool, <key>: id or null}`; here the boolean is a real one."""
    key = tool.table.key
    filters = Filters(domain, tool.table, tool.params)
    head, tail = f"SELECT {quoted(key)} FROM {quoted(tool.table.name)}", f" ORDER BY {quoted(key)} LIMIT 1"

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        row = call.database.row(head + where.text + tail, where.values)
        return {"exists": row is not None, key: None if row is None else row[0]}

    return run


def _list_output(tool: Tool) -> dict[str, Any]:
    rows = rows_schema(tool.table, tool.reply, tool.labels)
    if "wrap" not in tool.options:
        return rows
    properties: dict[str, Any] = {tool.options["wrap"]: rows}
    if "count_as" in tool.options:
        properties[tool.options["count_as"]] = {"type": "integer", "description": "How many rows were found."}
    return {"type": "object", "properties": properties}


def _exists_output(tool: Tool) -> dict[str, Any]:
    key = tool.table.key
    exists = {"type": "boolean", "description": "Whether there is such a row."}
    return {"type": "object", "properties": {"exists": exists, key: column_schema(tool.table.by_name[key])}}


GET = Kind(compile=_get, output=lambda tool: row_schema(tool.table, tool.reply, tool.labels))
LIST = Kind(compile=_list, output=_list_output)
EXISTS = Kind(compile=_exists, output=_exists_output)
