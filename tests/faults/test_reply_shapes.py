"""Every kind of fault over every form in which servers reply: which calls it may hit, and that it keeps the form."""

import json
from typing import Any

import pytest
from fault_laws import Call, plan_for, play_by_the_laws
from shaped_gym import FORMS, Form, ShapedSession

from robustops.core.episode import ToolResult
from robustops.faults.catalogue import KINDS
from robustops.faults.injector import Injector
from robustops.faults.shapes import list_reply

LIST_ALL: Call = ("list_people", {})
LIST_USERS: Call = ("list_people", {"role": "user"})
ONE: Call = ("list_people", {"role": "admin"})
PAGE: Call = ("list_people", {"limit": "1"})
GET: Call = ("get_person", {"person_id": "u2"})
MISS: Call = ("get_person", {"person_id": "u9"})
WRITE: Call = ("rename_person", {"person_id": "u2", "full_name": "Ben Kohl"})
SAME: Call = ("rename_person", {"person_id": "u2", "full_name": "Ben Cole"})  # writes what is there
CALLS = {
    "throttled": [LIST_USERS, GET, MISS, WRITE],
    "unavailable": [LIST_USERS, GET, MISS, WRITE],
    "partial_list": [LIST_ALL, LIST_USERS],
    "truncated_reply": [LIST_ALL, LIST_USERS],
    "swapped_reply": [GET],
    "lost_ack": [WRITE],
    "dropped_filter": [LIST_USERS, ONE],
    "timeout_not_committed": [WRITE],
    "silent_noop": [WRITE],
}
EVERY_CALL = [LIST_ALL, LIST_USERS, ONE, PAGE, GET, MISS, WRITE, SAME]
forms = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


async def shown(form: Form, subtype: str, call: Call, **options: Any) -> tuple[ToolResult, Injector]:
    injector = Injector(ShapedSession(form), plan_for(subtype, call, **options))
    return await injector.call(*call), injector


def rows_of(reply: ToolResult) -> list[dict[str, Any]]:
    found = list_reply(reply)
    assert found is not None
    return list(found.rows)


@forms
@pytest.mark.parametrize("subtype", sorted(CALLS))
async def test_a_kind_hits_exactly_the_calls_it_may_hit(form: Form, subtype: str) -> None:
    wanted = [*CALLS[subtype]]
    if subtype in ("throttled", "unavailable"):
        wanted = EVERY_CALL
    if subtype == "truncated_reply":  # a reply of 80 characters is worth cutting
        texts = {repr(call): (await ShapedSession(form).call(*call)).text for call in EVERY_CALL}
        wanted = [call for call in EVERY_CALL if call not in (MISS, WRITE) and len(texts[repr(call)].strip()) >= 80]
        wanted = [call for call in wanted if texts[repr(call)].startswith(("{", "["))]
    hit = [call for call in EVERY_CALL if (await shown(form, subtype, call))[1].events]
    assert hit == [call for call in EVERY_CALL if call in wanted]


@forms
@pytest.mark.parametrize("subtype", sorted(KINDS))
@pytest.mark.parametrize("call", EVERY_CALL, ids=lambda call: f"{call[0]}{len(call[1])}")
async def test_the_laws_hold_in_every_form(form: Form, subtype: str, call: Call) -> None:
    plan = plan_for(subtype, call, cap=2)
    await play_by_the_laws(ShapedSession(form), ShapedSession(form), plan, [call, WRITE, call, GET, call])


@forms
async def test_a_partial_list_stays_where_the_list_was(form: Form) -> None:
    native = await ShapedSession(form).call(*LIST_ALL)
    reply, _ = await shown(form, "partial_list", LIST_ALL)
    value = json.loads(reply.text)
    kept = value["items" if form.key is None else form.key]
    assert value["incomplete"] is True
    assert value["returned"] == len(kept) < 3
    assert all(row in rows_of(native) for row in kept)
    if form.key is not None:
        assert {key: value[key] for key, _ in form.around} == dict(form.around)
    assert ("\n" in reply.text) == ("\n" in native.text)


@forms
async def test_a_swapped_reply_is_what_the_server_says_of_another(form: Form) -> None:
    others = [(await ShapedSession(form).call("get_person", {"person_id": name})).text for name in ("u1", "u3")]
    assert {(await shown(form, "swapped_reply", GET, seed=seed))[0].text for seed in range(12)} == set(others)


@forms
async def test_a_dropped_filter_gives_all_rows_in_the_same_form(form: Form) -> None:
    reply, _ = await shown(form, "dropped_filter", LIST_USERS)
    assert reply.text == (await ShapedSession(form).call(*LIST_ALL)).text


@forms
async def test_a_cut_reply_no_longer_parses(form: Form) -> None:
    reply, _ = await shown(form, "truncated_reply", LIST_ALL)
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.text)


@pytest.mark.parametrize(
    ("text", "num_rows", "key"),
    [
        ("[]", 0, None),
        ('[{"id": 1}]', 1, None),
        ('{"users": [{"id": 1}, {"id": 2}], "total_count": 2}', 2, "users"),
        ('{"@odata.context": "x", "value": [{"id": 1}]}', 1, "value"),
        ('{"kind": "c", "defaultReminders": [{"minutes": 5}], "items": [{"id": 1}, {"id": 2}]}', 2, "items"),
        ('{"kind": "c", "defaultReminders": [], "items": []}', 0, "items"),
        ('{"history": [{"id": 1}], "historyId": "h-2"}', 1, "history"),
    ],
)
def test_lists_are_found_wherever_a_server_puts_them(text: str, num_rows: int, key: str | None) -> None:
    found = list_reply(ToolResult(text=text, observation="{}"))
    assert found is not None
    assert (len(found.rows), found.key) == (num_rows, key)


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "f1", "parents": [{"id": "a"}, {"id": "b"}]}',  # one object and its own array
        '{"case_id": 7, "notes": [{"text": "x"}, {"text": "y"}]}',
        '{"proposalId": "p", "rolesAndViews": [{"role": "reader"}]}',
        '{"ids": ["a", "b", "c"]}',  # no records
        '{"added": [{"x": 1}], "removed": [{"x": 2}]}',  # two lists: neither is the list
        '{"deleted": 1}',
        "3",
        "Operation completed successfully",
        "Error: [not a list]",
    ],
)
def test_what_is_no_list_of_records_is_none(text: str) -> None:
    assert list_reply(ToolResult(text=text, observation="{}")) is None
