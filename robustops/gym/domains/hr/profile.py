"""Profiles of employees: joining, changing, leaving. A profile has one user, and a manager who is one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.identified import UPDATE_BY, identified_key
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.reads import LIST
from robustops.gym.operations.rows import RowShape
from robustops.gym.operations.writes import CREATE, select_by_key

TAX_INPUT = re.compile(r"\d{3}")
END = "employment_end_date"
EMPLOYED = "null"  # how a caller asks for profiles without a last day


def _onboard(domain: Domain, tool: Tool) -> Operation:
    create = CREATE.compile(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        _require_manager(call, arguments.get("manager"))
        return create(call, _with_tax_number(call, arguments))

    return run


def _update_profile(domain: Domain, tool: Tool) -> Operation:
    update = UPDATE_BY.compile(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        own = identified_key(domain, tool, call, arguments)
        if str(arguments.get("manager")) == str(own):
            raise ToolFailure("manager must be another profile")
        _require_manager(call, arguments.get("manager"))
        return update(call, _with_tax_number(call, arguments))

    return run


def _with_tax_number(call: Call, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Three digits become a number of the organisation; a whole number stays as it is."""
    number = arguments.get("national_tax_id")
    if number is None:
        return arguments
    prefix = f"TAX-{call.caller['org_id']}-"
    if TAX_INPUT.fullmatch(number):
        return {**arguments, "national_tax_id": prefix + number}
    if not TAX_INPUT.fullmatch(number.removeprefix(prefix)):
        raise ToolFailure("national_tax_id: expected three digits")
    return arguments


def _require_manager(call: Call, profile_id: Any) -> None:
    if profile_id is None:
        return
    sql = (
        "SELECT user.role FROM hr_profile JOIN user ON user.user_id = hr_profile.user_id "
        "WHERE hr_profile_id = ? AND hr_profile.org_id = ?"
    )
    if call.database.row(sql, (profile_id, call.caller["org_id"])) != ("manager",):
        raise ToolFailure("manager not found, or no manager")


def _offboard(domain: Domain, tool: Tool) -> Operation:
    """The last day becomes today, however often it is asked for."""
    shape = RowShape(domain, tool.table, tool.reply)
    select = select_by_key(tool.table, shape)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        key = identified_key(domain, tool, call, arguments)
        call.database.update(tool.table, key, _leaving(call))
        return shape.show(call.database.rows(select, (key,))[0])

    return run


def _offboard_all(domain: Domain, tool: Tool) -> Operation:
    """Every matching profile without a last day, but for the caller's own."""
    shape = RowShape(domain, tool.table, tool.reply)
    select = select_by_key(tool.table, shape)
    filters = Filters(domain, tool.table, tool.params, [f"{END} IS NULL", "user_id != ?"])

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, {name: value for name, value in arguments.items() if value != EMPLOYED})
        sql = f"SELECT hr_profile_id FROM hr_profile{where.text} ORDER BY hr_profile_id"
        keys = call.database.rows(sql, (call.caller["user_id"], *where.values))
        for (key,) in keys:
            call.database.update(tool.table, key, _leaving(call))
        gone = [shape.show(call.database.rows(select, key)[0]) for key in keys]
        return {"count": len(gone), "offboarded_profiles": gone}

    return run


def _leaving(call: Call) -> dict[str, Any]:
    return {END: f"{call.now[:10]} 00:00:00", "updated_at": call.now}


def _list_profiles(domain: Domain, tool: Tool) -> Operation:
    everyone = LIST.compile(domain, tool)
    shape = RowShape(domain, tool.table, tool.reply)
    filters = Filters(domain, tool.table, tool.params, [f"{END} IS NULL"])

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        if arguments.get(END) != EMPLOYED:
            return everyone(call, arguments)
        where = filters.where(call, {name: value for name, value in arguments.items() if name != END})
        rows = call.database.rows(f"SELECT {shape.columns} FROM hr_profile{where.text} ORDER BY 1", where.values)
        return {tool.options["wrap"]: [shape.show(row) for row in rows], tool.options["count_as"]: len(rows)}

    return run


ONBOARD = Kind(compile=_onboard, is_write=True, place="body")
UPDATE_PROFILE = Kind(compile=_update_profile, is_write=True, place="body")
OFFBOARD = Kind(compile=_offboard, is_write=True, place="body")
OFFBOARD_ALL = Kind(compile=_offboard_all, is_write=True, place="body")
LIST_PROFILES = Kind(compile=_list_profiles)
