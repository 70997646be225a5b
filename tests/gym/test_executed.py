"""The counter of executed tools counts only what holds: wrong cases are told, one line each."""

from dataclasses import replace

import pytest
from cases_itsm import CASES
from executed import execute
from tool_cases import Refused, Success

RENAMED = {"group_id": "GROUP_002", "active": True}


async def fault_of(tmp_path, name, case):
    """What the counter says of one tool's case, all others being as they are."""
    kind = "successes" if isinstance(case, Success) else "refusals"
    executed = await execute(replace(CASES, **{kind: {**getattr(CASES, kind), name: case}}), tmp_path, only=[name])
    counted = executed.succeeded if isinstance(case, Success) else executed.refused
    assert (name in counted) is (executed.faults == [])
    return executed.faults


@pytest.mark.parametrize(
    ("name", "case", "said"),
    [
        ("get_user", Success(arguments={"user_id": "USER_001"}, reply={"first_name": "Eva"}), "replied"),
        ("get_user", Success(arguments={"user_id": "USER_001"}, reply={"active": 1}), "replied"),
        ("get_user", Success(arguments={"user_id": "USER_099"}, reply={}), "is_error True"),
        ("get_user", Success(arguments={"user_id": "USER_001"}), "neither reply nor change"),
        ("update_user_group", Success(arguments=RENAMED, reply={"active": True}), "changed"),
        ("update_user_group", Success(arguments=RENAMED, changes={"user_group": {"GROUP_002": {}}}), "changed"),
        ("update_user_group", Success(arguments=RENAMED, changes={"users": {"USER_001": {"active": 1}}}), "changed"),
        ("get_user", Refused(arguments={"user_id": "USER_001"}), "is_error False"),
        ("update_user_group", Refused(arguments=RENAMED), "is_error False"),
        ("get_user", Refused(arguments={"user_id": "USER_099"}, text="no such"), "refused with {}"),
    ],
)
async def test_a_case_that_does_not_hold_is_told_and_not_counted(tmp_path, name, case, said):
    (fault,) = await fault_of(tmp_path, name, case)
    assert fault.startswith(f"{name}, {'success' if isinstance(case, Success) else 'error'}: ")
    assert said in fault


async def test_a_tool_without_a_case_is_told_and_not_counted(tmp_path):
    successes = {name: case for name, case in CASES.successes.items() if name != "get_user"}
    executed = await execute(replace(CASES, successes=successes), tmp_path)
    assert executed.faults == ["get_user, success: no case"]
    assert executed.line == "itsm: success 92 of 93, error 93 of 93"


async def test_right_cases_are_all_counted(tmp_path):
    assert await fault_of(tmp_path, "get_user", CASES.successes["get_user"]) == []
