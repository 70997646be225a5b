"""Cases: changing one, and those that wait for the caller's approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape
from robustops.gym.operations.writes import UPDATE

NOT_WRITTEN = ("number", "created_before", "created_after")


def _update_case(domain: Domain, tool: Tool) -> Operation:
    """The number, where it is sent, must be that of the case; it is not a new value."""
    update = UPDATE.compile(domain, replace(tool, params=tuple(p for p in tool.params if p.name not in NOT_WRITTEN)))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        if "number" in arguments:
            found = call.database.row("SELECT number FROM hr_case WHERE hr_case_id = ?", (arguments["hr_case_id"],))
            if found != (arguments["number"],):
                raise ToolFailure("number is not that of the case")
        return update(call, {name: value for name, value in arguments.items() if name not in NOT_WRITTEN})

    return run


def _to_approve(domain: Domain, tool: Tool) -> Operation:
    shape = RowShape(domain, tool.table, tool.reply)
    filters = Filters(domain, tool.table, (), ["request_status = 'requested'", "approver = ?"])
    wrap, count_as = tool.options["wrap"], tool.options["count_as"]

    def run(call: Call, _arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, {})
        sql = f"SELECT {shape.columns} FROM hr_case{where.text} ORDER BY hr_case_id"
        found = [shape.show(row) for row in call.database.rows(sql, (call.caller["user_id"], *where.values))]
        return {wrap: found, count_as: len(found)}

    return run


UPDATE_CASE = Kind(compile=_update_case, is_write=True, place="body")
TO_APPROVE = Kind(compile=_to_approve)
