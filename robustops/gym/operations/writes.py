"""Writing operations: create, update, assign, delete. Each runs inside a transaction that its caller opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Table, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.checks import (
    column_values,
    copied_values,
    has_row,
    initial_value,
    next_key,
    require_one_of,
    require_unique,
)
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape, row_schema


def _create(domain: Domain, tool: Tool) -> Operation:
    """Insert arguments plus defaults under the next key; the reply is the stored row."""
    shape = RowShape(domain, tool.table, tool.reply, tool.labels)
    select = select_by_key(tool.table, shape)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        key = insert_row(domain, tool, call, arguments)
        return shape.show(call.database.rows(select, (key,))[0])

    return run


def insert_row(domain: Domain, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Any:
    """Check and write one new row; returns its key. Raises ToolFailure."""
    require_one_of(tool, arguments)
    table = tool.table
    key = next_key(call, table)
    sent = column_values(domain, tool, call, arguments)
    row = {column.name: initial_value(call, table, column, key) for column in table.columns}
    row = {**row, **sent, table.key: key}
    row = {**row, **copied_values(domain, call, table, row)}
    require_unique(call, table, row)
    call.database.insert(table, row)
    return key


def _update(domain: Domain, tool: Tool) -> Operation:
    """Set the sent fields of one row. Options: `refuse_unchanged` where writing the present values is an error,
    `counts_always`, columns that count as a change whatever they hold, `keeps_stamp` where the time of change stays,
    `changes_as`, the reply's name for the list of columns whose value is another now."""
    table = tool.table
    key_name = key_param(tool)
    shape = RowShape(domain, table, tool.reply, tool.labels)
    select = select_by_key(table, shape)
    keeps_stamp = bool(tool.options.get("keeps_stamp"))
    stamped = [column.name for column in table.columns if column.stamp == "update" and not keeps_stamp]
    always = frozenset(tool.options.get("counts_always", ()))
    refuses, changes_as = bool(tool.options.get("refuse_unchanged")), tool.options.get("changes_as")
    settable = {param.name for param in tool.params if param.columns and param.name != key_name}

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        key = arguments[key_name]
        if settable.isdisjoint(arguments):
            raise ToolFailure("No fields to update")
        if not has_row(domain, call, table.name, key):
            raise ToolFailure(f"{key_name} not found", code="NOT_FOUND", field=key_name)
        sent = column_values(domain, tool, call, arguments)
        sent.pop(table.key, None)
        before = _whole_row(call, table, key)
        differing = [name for name, value in sent.items() if not _is_same(before[name], value)]
        if refuses and not differing and always.isdisjoint(sent):
            raise ToolFailure("No changes detected", code="NO_CHANGES_DETECTED")
        changed = [unique for unique in table.unique if not sent.keys().isdisjoint(unique)]
        if changed:
            require_unique(call, table, {**before, **sent}, own_key=key)
        call.database.update(table, key, {**sent, **dict.fromkeys(stamped, call.now)})
        reply = shape.show(call.database.rows(select, (key,))[0])
        return {**reply, changes_as: differing} if changes_as else reply

    return run


def key_param(tool: Tool) -> str:
    """The parameter that names the row to change: the one that stands for the table's key."""
    for param in tool.params:
        if param.column == tool.table.key:
            return param.name
    raise ValueError(f"tool {tool.name}: none of its parameters is {tool.table.name}'s key {tool.table.key!r}")


def _whole_row(call: Call, table: Table, key: Any) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    columns = ", ".join(quoted(name) for name in names)
    row = call.database.row(f"SELECT {columns} FROM {quoted(table.name)} WHERE {quoted(table.key)} = ?", (key,))
    return dict(zip(names, row or (), strict=True))


def _is_same(stored: Any, sent: Any) -> bool:
    """An id that comes as text is the stored number."""
    return bool(stored == sent) or (isinstance(sent, str) and str(stored) == sent)


def select_by_key(table: Table, shape: RowShape) -> str:
    return f"SELECT {shape.columns} FROM {quoted(table.name)} WHERE {quoted(table.key)} = ?"


def _assign(domain: Domain, tool: Tool) -> Operation:
    """Set one reference of a row; the reply is `answer`, where `$name` is an argument and `$now` the time."""
    table = tool.table
    key_name = key_param(tool)
    (target,) = (param for param in tool.params if param.name != key_name)
    other = table.by_name[target.column].references
    stamped = [column.name for column in table.columns if column.stamp == "update"]
    answer: Mapping[str, str] = tool.options["answer"]

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        key = arguments[key_name]
        for name, referenced in ((key_name, table.name), (target.name, other)):
            if not has_row(domain, call, referenced, arguments[name]):
                raise ToolFailure(f"{name} not found", code="NOT_FOUND", field=name)
        call.database.update(table, key, {target.column: arguments[target.name], **dict.fromkeys(stamped, call.now)})
        values = {**arguments, "now": call.now}
        return {name: values[text[1:]] if text.startswith("$") else text for name, text in answer.items()}

    return run


def _delete(domain: Domain, tool: Tool) -> Operation:
    """Delete by ANDed filters. Options: `needs`, the argument sets of which one must be complete (default: any filter);
    `missing: error` where no match is a failure; `answer`, a fixed reply; `count_as`, the name of the count."""
    filters = Filters(domain, tool.table, tool.params)
    count_as, answer = tool.options.get("count_as", "deleted"), tool.options.get("answer")
    is_error = tool.options.get("missing") == "error"

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        require_one_of(tool, arguments)
        where = filters.where(call, arguments)
        if not where.num_filters:
            raise ToolFailure("At least one filter is required")
        num_rows = len(call.database.delete(tool.table, where.text, where.values))
        if not num_rows and is_error:
            raise ToolFailure("not found", code="NOT_FOUND")
        return answer if answer is not None else {count_as: num_rows}

    return run


def _row_output(tool: Tool) -> dict[str, Any]:
    return row_schema(tool.table, tool.reply, tool.labels)


def _assign_output(tool: Tool) -> dict[str, Any]:
    schemas = {param.name: dict(param.schema) for param in tool.params}
    answer: Mapping[str, str] = tool.options["answer"]
    properties = {name: schemas.get(text.removeprefix("$"), {"type": "string"}) for name, text in answer.items()}
    return {"type": "object", "properties": properties}


def _delete_output(tool: Tool) -> dict[str, Any]:
    answer: Mapping[str, str] | None = tool.options.get("answer")
    properties = (
        {tool.options.get("count_as", "deleted"): {"type": "integer", "description": "How many rows were deleted."}}
        if answer is None
        else {name: {"type": "string"} for name in answer}
    )
    return {"type": "object", "properties": properties}


CREATE = Kind(compile=_create, output=_row_output, is_write=True, place="body")
UPDATE = Kind(compile=_update, output=_row_output, is_write=True, place="body")
ASSIGN = Kind(compile=_assign, output=_assign_output, is_write=True, place="body")
DELETE = Kind(compile=_delete, output=_delete_output, is_write=True, place="query")
