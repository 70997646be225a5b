"""What the cases of the hr tools do not reach: other organisations, permissions, what is shown of rows elsewhere."""

import json
from dataclasses import replace

import pytest
from cases_hr import CASES
from small_csm import SEED as CSM_SEED
from small_csm import csm_task, write_seed
from small_hr import SEED
from tool_cases import all_rows, content, difference

from robustops.core.task import GymServer
from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym

HR = load_domain("hr")
SERVER = "sn-hr-internal"


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize("name", ["get_user", "create_new_hr_case", "delete_notifications"])
async def test_a_refusal_shows_as_an_empty_object(session, name):
    result = await session.call(name, CASES.refusals[name].arguments)
    assert (result.text, result.observation, result.is_error) == ("{}", "{}", True)


@pytest.mark.parametrize("name", ["get_user", "list_users", "add_new_user", "update_user_details"])
async def test_no_reply_shows_a_token(session, name):
    assert "static_token" not in (await session.call(name, CASES.successes[name].arguments)).text


async def test_no_list_shows_rows_of_another_organisation(session):
    """All lists that may be called without a filter: none shows a row of organisation 2."""
    rows = await all_rows(session, HR)
    foreign = {name: {key for key, row in rows[name].items() if row.get("org_id") == 2} for name in HR.tables}
    shown = 0
    for name, tool in HR.tools.items():
        if tool.does in ("list", "list_profiles", "page") and not tool.options.get("needs_filter"):
            reply = content(await session.call(name, {})) if not any(p.is_required for p in tool.params) else {}
            found = next((part for part in reply.values() if isinstance(part, list)), [])
            assert not foreign[tool.table.name] & {row[tool.table.key] for row in found}, name
            shown += len(found)
    assert shown > 10


async def test_a_case_is_the_callers_to_approve_until_it_is_decided(session):
    await session.call("update_hr_case", {"hr_case_id": "1", "request_status": "approved"})
    assert content(await session.call("find_my_cases_to_approve", {})) == {"hr_cases": [], "total_count": 0}


async def test_an_employee_who_left_is_not_asked_to_leave_again(session):
    first = content(await session.call("offboard_hr_profiles", {"gender": "Male"}))
    again = content(await session.call("offboard_hr_profiles", {"gender": "Male"}))
    assert ([row["hr_profile_id"] for row in first["offboarded_profiles"]], first["count"]) == ([2], 1)
    assert again == {"count": 0, "offboarded_profiles": []}
    one = content(await session.call("offboard_hr_profile", {"hr_profile_id": "2"}))
    assert one["employment_end_date"] == first["offboarded_profiles"][0]["employment_end_date"]
    left = content(await session.call("fetch_hr_profiles", {"employment_end_date": "null"}))
    assert [row["hr_profile_id"] for row in left["hr_profiles"]] == [1]


async def test_a_private_address_names_the_profile_when_nothing_else_does(session):
    reply = content(await session.call("update_hr_profile", {"personal_email": "ben@home.example", "gender": "Other"}))
    assert (reply["hr_profile_id"], reply["personal_email"], reply["changes"]) == (2, "ben@home.example", ["gender"])


async def test_all_links_of_a_case_go_with_the_case_alone(session):
    await session.call("link_knowledge_to_hr_case", {"hr_case_id": 1, "knowledge_id": 2})
    before = await all_rows(session, HR)
    asked = {"hr_case_id": 1, "used_as": "suggested"}  # what it was used as does not narrow
    assert content(await session.call("remove_knowledge_link_to_hr_case", asked)) == {"deleted_count": 2}
    assert difference(before, await all_rows(session, HR)) == {"hr_case_knowledge": {1: None, 3: None}}


async def test_numbers_of_tasks_count_on_within_a_day(session):
    asked = {"status": "ready", "short_description": "Ring"}
    numbers = [content(await session.call("create_hr_case_task", asked))["number"] for _ in range(2)]
    assert numbers == ["TASK-20260601-0001", "TASK-20260601-0002"]


async def test_users_come_in_pages_in_the_asked_order(session):
    asked = {"order_by": "first_name", "order_direction": "desc", "limit": 2}
    first = content(await session.call("list_users", asked))
    second = content(await session.call("list_users", {**asked, "offset": 2}))
    assert [row["first_name"] for row in (*first["users"], *second["users"])] == ["Eve", "Ben", "Ada"]
    assert (first["total_count"], first["returned_count"], second["returned_count"]) == (3, 2, 1)


@pytest.mark.parametrize("context", [{}, {"x-hr-user-token": "forged"}])
async def test_without_a_known_token_nothing_is_shown(tmp_path, context):
    server = GymServer(name=SERVER, seed_file="seed.sql", context=context)
    task = replace(csm_task(write_seed(tmp_path, SEED)), domain="hr", servers=(server,))
    async with EmbeddedGym().open(task) as opened:
        assert (await opened.call("list_user_groups", {})).is_error


async def test_one_task_may_use_two_servers_with_one_clock(tmp_path):
    write_seed(tmp_path, SEED, "hr.sql")
    task = csm_task(write_seed(tmp_path, CSM_SEED))
    hr = GymServer(name=SERVER, seed_file="hr.sql", context={"x-hr-user-token": "token-ada"})
    async with EmbeddedGym().open(replace(task, servers=(*task.servers, hr))) as session:
        first = await session.call("add_new_user_group", {"name": "Night", "type": "support", "active": True})
        second = await session.call("link_knowledge_to_hr_case", {"hr_case_id": 1, "knowledge_id": 2})
        assert json.loads(first.text)["sys_created_on"] == "2026-06-01 09:00:01"
        assert json.loads(second.text)["created_at"] == "2026-06-01 09:00:02"
        reply = await session.query("SELECT COUNT(*) AS n FROM hr_case", SERVER)
        assert reply["data"] == [{"n": 3}]
        digest, snapshot = await session.state_hash(), await session.snapshot()
        await session.call("add_new_group_member", {"group_id": 3, "user_id": 1})
        assert await session.state_hash() != digest
        await session.restore(snapshot)
        assert await session.state_hash() == digest
