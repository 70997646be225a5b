"""The four kinds beyond the seven: what each does, and what an agent can still do about it."""

import json

import pytest
from desk_gym import DeskSession
from fault_laws import Call, plan_for

from robustops.core.task import ToolSchema
from robustops.faults.catalogue import KINDS, subtypes_of, tag_table
from robustops.faults.injector import Injector
from robustops.faults.mechanisms.interface_drift import native_arguments, renaming

CREATE: Call = ("create_case", {"account_id": 1, "title": "new"})
LIST: Call = ("list_cases", {"account_id": 1})
CLOSE: Call = ("update_case", {"case_id": 1, "state": "closed"})


def injector_for(subtype: str, call: Call, *, cap: int = 1) -> tuple[DeskSession, Injector]:
    session = DeskSession()
    return session, Injector(session, plan_for(subtype, call, cap=cap))


async def test_a_stale_read_shows_the_rows_as_they_were_when_the_episode_began() -> None:
    session, injector = injector_for("stale_read", LIST)
    at_first = await injector.call(*LIST)
    assert injector.events == []  # nothing is older yet
    await injector.call(*CLOSE)
    now = await session.state_hash()
    stale, fresh = await injector.call(*LIST), await injector.call(*LIST)
    assert stale.text == at_first.text
    assert [row["state"] for row in json.loads(stale.text)] == ["open", "closed"]
    assert [row["state"] for row in json.loads(fresh.text)] == ["closed", "closed"]
    assert await session.state_hash() == now


async def test_a_read_of_something_that_was_not_touched_is_never_stale() -> None:
    other = ("find_account", {"name": "Birch"})
    _, injector = injector_for("stale_read", other)
    await injector.call(*CLOSE)
    await injector.call(*other)
    assert injector.events == []


async def test_a_silent_noop_acknowledges_a_write_that_is_not_there() -> None:
    session, injector = injector_for("silent_noop", CLOSE)
    before = await session.state_hash()
    shown = await injector.call(*CLOSE)
    assert (json.loads(shown.text)["state"], shown.is_error) == ("closed", False)
    assert await session.state_hash() == before
    await injector.call(*CLOSE)  # a read back would show it, and a second write does it
    assert await session.state_hash() != before


async def test_an_outage_hits_every_call_of_its_tool_and_no_other() -> None:
    session, injector = injector_for("permanent_outage", CREATE, cap=KINDS["permanent_outage"].caps.low)
    for title in ("new", "other", "new"):
        shown = await injector.call("create_case", {"account_id": 1, "title": title})
        assert json.loads(shown.text)["executed"] is False
    assert session.num_executed == 0
    assert not (await injector.call(*CLOSE)).is_error
    assert len(injector.events) == 3


async def test_a_drifted_tool_takes_the_new_name_and_refuses_the_old_one() -> None:
    session, injector = injector_for("schema_drift", CREATE, cap=KINDS["schema_drift"].caps.low)
    refused = await injector.call(*CREATE)
    assert json.loads(refused.text)["renamed"] == {"account_id": "accountId"}
    assert session.num_executed == 0
    done = await injector.call("create_case", {"accountId": 1, "title": "new"})
    assert json.loads(done.text)["account_id"] == 1
    assert len(injector.events) == 1
    assert (await injector.call(*CREATE)).is_error  # the old name stays wrong
    assert not (await injector.call(*LIST)).is_error  # other tools keep theirs


@pytest.mark.parametrize(
    ("properties", "required", "expected"),
    [
        ({"limit": {}, "case_id": {}}, ["case_id"], ("case_id", "caseId")),
        ({"name": {}}, [], ("name", "nameValue")),
        ({"user_id": {}, "userId": {}}, [], ("user_id", "userIdNew")),
        ({}, [], None),
    ],
)
def test_the_drifting_parameter_is_the_first_required_one(properties, required, expected) -> None:
    schema = {"type": "object", "properties": properties, "required": required}
    assert renaming(ToolSchema(name="t", description="", input_schema=schema, gym="g")) == expected


def test_a_call_with_both_names_is_left_as_it_is() -> None:
    schema = {"type": "object", "properties": {"case_id": {}}, "required": ["case_id"]}
    tool = ToolSchema(name="t", description="", input_schema=schema, gym="g")
    assert native_arguments(tool, {"caseId": 1}) == {"case_id": 1}
    assert native_arguments(tool, {"caseId": 1, "case_id": 2}) == {"caseId": 1, "case_id": 2}


def test_every_kind_is_tagged() -> None:
    tags = tag_table()
    assert set(tags) == set(KINDS)
    implicit = {name for name, tag in tags.items() if tag["visibility"] == "implicit"}
    assert implicit == {"swapped_reply", "dropped_filter", "stale_read", "silent_noop"}
    permanent = {name for name, tag in tags.items() if tag["persistence"] == "permanent"}
    assert permanent == {"permanent_outage", "schema_drift"}
    assert {name for name, tag in tags.items() if tag["pack"] == "stress"} == set(subtypes_of("stress"))
    assert {name for name, tag in tags.items() if tag["held_out"]} == set(subtypes_of("heldout"))


@pytest.mark.parametrize(("intensity", "num_kept"), [(0.0, 4), (0.6, 2), (1.0, 1)])
async def test_intensity_is_the_share_of_rows_that_is_missing(intensity: float, num_kept: int) -> None:
    session = DeskSession()
    for title in ("a", "b", "c"):
        await session.call("create_case", {"account_id": 1, "title": title})  # five cases in all
    injector = Injector(session, plan_for("partial_list", LIST, intensity=intensity))
    assert json.loads((await injector.call(*LIST)).text)["returned"] == num_kept


@pytest.mark.parametrize(("intensity", "left_out"), [(0.0, 1), (1.0, 1 / 2)])
async def test_intensity_is_how_much_is_cut_off(intensity: float, left_out: float) -> None:
    native = (await DeskSession().call(*LIST)).text
    injector = Injector(DeskSession(), plan_for("truncated_reply", LIST, intensity=intensity))
    shown = (await injector.call(*LIST)).text
    assert len(shown) == (len(native) - 1 if left_out == 1 else len(native) // 2)
