"""Changing a row that one of several arguments names: its id, its number, its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from robustops.gym.domain import Domain, Param, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.checks import scoped
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import UPDATE, key_param

IDENTIFIED_BY = "identified_by"


def identified_key(domain: Domain, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> Any:
    """The key of the row that the first sent one of the tool's identifiers names. Raises ToolFailure."""
    for name in tool.options[IDENTIFIED_BY]:
        if name in arguments:
            return _key(domain, tool, call, _param(tool, name), arguments[name])
    raise ToolFailure(f"{' or '.join(tool.options[IDENTIFIED_BY])} is required")


def _key(domain: Domain, tool: Tool, call: Call, param: Param, value: Any) -> Any:
    key = quoted(tool.table.key)
    collation = " COLLATE NOCASE" if param.match == "same_text" else ""
    text, values = scoped(domain, tool.table, call, f"{quoted(param.column)} = ?{collation}", (value,))
    row = call.database.row(f"SELECT {key} FROM {quoted(tool.table.name)} WHERE {text} ORDER BY {key}", values)
    if row is None:
        raise ToolFailure(f"{param.name} not found", code="NOT_FOUND", field=param.name)
    return row[0]


def _param(tool: Tool, name: str) -> Param:
    return next(param for param in tool.params if param.name == name)


def _update_by(domain: Domain, tool: Tool) -> Operation:
    """Options: `identified_by`, the arguments that may name the row, the first sent one does; `settable`, those of them
    that are a new value when another one names the row. All other options are those of `update`."""
    identifiers: Sequence[str] = tool.options[IDENTIFIED_BY]
    settable = frozenset(tool.options.get("settable", ()))
    key_name = key_param(tool)
    fixed = [name for name in identifiers if name != key_name and name not in settable]
    update = UPDATE.compile(domain, replace(tool, params=tuple(p for p in tool.params if p.name not in fixed)))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        key = identified_key(domain, tool, call, arguments)
        used = next(name for name in identifiers if name in arguments)
        rest = {name: value for name, value in arguments.items() if name not in fixed and name != used}
        return update(call, {**rest, key_name: key})

    return run


UPDATE_BY = Kind(compile=_update_by, is_write=True, place="body")
