"""Rows that a user has several of, declared: get one by its key, list them all, delete one.

Parameters that stand for a column find the row; the reply's keys and columns are declared with the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.domains.email.caller import checked
from robustops.gym.hashing import quoted
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape


def _where(tool: Tool, call: Call, arguments: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    named = {param.column: arguments[param.name] for param in tool.params if param.columns and param.name in arguments}
    wanted = {"user_id": call.caller["id"], **named}
    return " WHERE " + " AND ".join(f"{quoted(name)} = ?" for name in wanted), tuple(wanted.values())


def _missing(tool: Tool, arguments: Mapping[str, Any]) -> ToolFailure:
    return ToolFailure(tool.options["missing"].format(**arguments))


def _get(domain: Domain, tool: Tool) -> Operation:
    """Options: `missing`, the text for no such row, with arguments in braces."""
    shape = RowShape(domain, tool.table, tool.reply, tool.labels)
    head = f"SELECT {shape.columns} FROM {quoted(tool.table.name)}"

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        checked(call, arguments)
        where, values = _where(tool, call, arguments)
        row = call.database.row(f"{head}{where} LIMIT 1", values)
        if row is None:
            raise _missing(tool, arguments)
        return shape.show(row)

    return run


def _list(domain: Domain, tool: Tool) -> Operation:
    """Options: `wrap`, the key of the list."""
    shape = RowShape(domain, tool.table, tool.reply, tool.labels)
    head = f"SELECT {shape.columns} FROM {quoted(tool.table.name)}"

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        checked(call, arguments)
        where, values = _where(tool, call, arguments)
        rows = call.database.rows(f"{head}{where} ORDER BY rowid", values)
        return {tool.options["wrap"]: [shape.show(row) for row in rows]}

    return run


def _delete(_domain: Domain, tool: Tool) -> Operation:
    def run(call: Call, arguments: Mapping[str, Any]) -> None:
        checked(call, arguments)
        where, values = _where(tool, call, arguments)
        if not call.database.delete(tool.table, where, values):
            raise _missing(tool, arguments)

    return run


def _no_output(_tool: Tool) -> None:
    return None


KINDS = {
    "get_mine": Kind(compile=_get, output=_no_output),
    "list_mine": Kind(compile=_list, output=_no_output),
    "delete_mine": Kind(compile=_delete, output=_no_output, is_write=True),
}
