"""Every declared hr tool, executed: once with success, once refused; and rows of other organisations stay unseen."""

import json
from dataclasses import replace

import pytest
from small_csm import SEED as CSM_SEED
from small_csm import csm_task, differences, table_rows, write_seed

from robustops.core.task import GymServer
from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym

HR = load_domain("hr")
SERVER = "sn-hr-internal"
NOW = "2026-06-01 09:00:01"
SEED = """
INSERT INTO organization (org_id, name, active) VALUES (1, 'North', TRUE), (2, 'South', TRUE);
INSERT INTO user (user_id, first_name, last_name, email, role, active, static_token, org_id) VALUES
(1, 'Ada', 'Stone', 'ada@north.example', 'manager', TRUE, 'token-ada', 1), -- a comment inside the list
(2, 'Ben', 'Reed', 'ben@north.example', 'agent', TRUE, 'token-ben', 1),
(3, 'Cy', 'Orr', 'cy@south.example', 'agent', TRUE, 'token-cy', 2); -- and one behind it
INSERT INTO user_group (group_id, name, type, active, org_id, created_at) VALUES
(1, 'Payroll Desk', 'Service Desk', TRUE, 1, CURRENT_TIMESTAMP), (2, 'Far Desk', 'Service Desk', TRUE, 2, NULL);
INSERT INTO user_group_member (group_id, user_id, org_id) VALUES (1, 1, 1);
INSERT INTO skill (skill_id, name, active, org_id) VALUES (1, 'Tax law', TRUE, 1), (2, 'Tax in the south', TRUE, 2);
INSERT INTO user_skill (skill, user, org_id) VALUES (1, 2, 1);
INSERT INTO hr_service (hr_service_id, service_name, fulfillment_type, active, org_id) VALUES
(1, 'Pay', 'manual', TRUE, 1);
INSERT INTO hr_case (hr_case_id, number, status, opened_for, opened_by, priority, assigned_to, assignment_group,
  short_description, coe_type, org_id) VALUES
(1, 'HRC0000711', 'draft', 2, 1, 'low', 2, 1, 'Wrong pay', 'Payroll', 1),
(2, 'HRC0000712', 'draft', 3, 3, 'low', NULL, 2, 'Desk', 'HRIT', 2);
INSERT INTO knowledge (knowledge_id, kb_number, title, body, state, visibility, owner_id, org_id) VALUES
(1, 'KB0040001', 'How pay works', 'It''s monthly; always.', 'published', 'internal', 1, 1),
(2, 'KB0040002', 'How pay is mended', NULL, 'draft', 'internal', 1, 1);
INSERT INTO hr_case_knowledge (hr_case_kb_id, hr_case_id, knowledge_id, used_as, org_id) VALUES (1, 1, 1, 'applied', 1);
INSERT INTO notification (notification_id, hr_case_id, email, type, status, org_id) VALUES
(1, 1, 'ben@north.example', 'update', 'draft', 1), (2, 2, 'cy@south.example', 'update', 'draft', 2);
"""

READS = {
    "get_user": ({"user_id": "2"}, {"first_name": "Ben", "active": True}),
    "get_user_using_email": ({"email": "BEN@north.example"}, {"user_id": 2}),
    "list_user_groups": ({}, ("user_groups", 1)),
    "find_group_by_name": ({"name": "Payroll Desk"}, {"group_id": 1}),
    "list_group_members": ({"group_id": 1}, ("group_members", 1)),
    "list_skills": ({"name": "TAX"}, ("skills", 1)),
    "list_user_skills": ({"user": "2"}, ("user_skills", 1)),
    "find_hr_case_by_number": ({"number": "HRC0000711"}, {"hr_case_id": 1, "short_description": "Wrong pay"}),
    "get_cases_assigned_to": ({"assigned_to": "Ben Reed", "assignment_group": "Payroll Desk"}, ("hr_cases", 1)),
    "retrieve_knowledge_articles": ({"body": "Monthly;"}, ("knowledges", 1)),
    "find_hr_case_knowledge_links": ({"used_as": "applied"}, ("hr_case_knowledge_links", 1)),
    "find_notifications": ({"type": "update"}, ("notifications", 1)),
}
WRITES = {
    "add_new_group_member": (
        {"group_id": "1", "user_id": "2"},
        "user_group_member",
        {2: {"group_id": 1, "user_id": 2, "org_id": 1, "created_at": NOW}},
    ),
    "create_new_hr_case": (
        {
            "short_description": "Late pay",
            "coe_type": "Payroll",
            "opened_for": "Ben Reed",
            "assignment_group": "Payroll Desk",
            "hr_service": "1",
            "skills": [1],
        },
        "hr_case",
        {
            3: {
                "number": "HRC0000713",
                "status": "draft",
                "priority": "planning",
                "opened_for": 2,
                "opened_by": 1,
                "assignment_group": 1,
                "hr_service": 1,
                "skills": "[1]",
                "assigned_to": None,
                "org_id": 1,
                "created_at": NOW,
            }
        },
    ),
    "update_hr_case": (
        {"hr_case_id": "1", "status": "ready", "assigned_to": "Ada Stone"},
        "hr_case",
        {1: {"status": "ready", "assigned_to": 1, "updated_at": NOW}},
    ),
    "link_knowledge_to_hr_case": (
        {"hr_case_id": 1, "knowledge_id": 2},
        "hr_case_knowledge",
        {2: {"hr_case_id": 1, "knowledge_id": 2, "used_as": "suggested", "org_id": 1}},
    ),
    "send_notification": (
        {"hr_case_id": 1, "email": "ada@north.example"},
        "notification",
        {3: {"type": "other", "status": "draft", "email": "ada@north.example", "org_id": 1}},
    ),
}
ERRORS = {
    "get_user": {"user_id": "3"},  # another organisation
    "get_user_using_email": {"email": "cy@south.example"},
    "list_user_groups": {"type": "Helpers"},
    "find_group_by_name": {"name": "payroll desk"},
    "list_group_members": {},
    "list_skills": {},
    "list_user_skills": {},
    "find_hr_case_by_number": {"number": "HRC-711"},
    "get_cases_assigned_to": {},
    "retrieve_knowledge_articles": {"state": "lost"},
    "find_hr_case_knowledge_links": {"used_as": "read"},
    "find_notifications": {"hr_case_id": "one"},
    "add_new_group_member": {"group_id": "1", "user_id": "3"},
    "create_new_hr_case": {"short_description": "Late", "coe_type": "Payroll", "opened_for": "Cy Orr"},
    "update_hr_case": {"hr_case_id": "1", "status": "draft"},
    "link_knowledge_to_hr_case": {"hr_case_id": 1, "knowledge_id": 1},
    "send_notification": {"hr_case_id": 1, "email": "cy@south.example"},
}


@pytest.fixture
async def session(tmp_path):
    server = GymServer(name=SERVER, seed_file="seed.sql", context={"x-hr-user-token": "token-ada"})
    task = replace(csm_task(write_seed(tmp_path, SEED)), domain="hr", servers=(server,))
    async with EmbeddedGym().open(task) as opened:
        yield opened


def test_each_declared_tool_has_a_success_and_an_error_below():
    assert READS.keys() | WRITES.keys() == ERRORS.keys() == HR.tools.keys()


@pytest.mark.parametrize("name", READS)
async def test_a_read_gives_the_callers_rows_and_changes_nothing(session, name):
    arguments, expected = READS[name]
    digest = await session.state_hash()
    result = await session.call(name, arguments)
    assert not result.is_error
    reply = json.loads(result.text)
    if isinstance(expected, dict):
        assert expected.items() <= reply.items()
    else:
        wrap, key = expected
        assert [row[HR.tools[name].table.key] for row in reply[wrap]] == [key]
    assert await session.state_hash() == digest


@pytest.mark.parametrize("name", WRITES)
async def test_a_write_changes_the_stated_rows_and_no_others(session, name):
    arguments, table, expected = WRITES[name]
    keys = {other: declared.key for other, declared in HR.tables.items()}
    before = {other: await table_rows(session, other, key, SERVER) for other, key in keys.items()}
    result = await session.call(name, arguments)
    assert not result.is_error
    after = {other: await table_rows(session, other, key, SERVER) for other, key in keys.items()}
    changes = {other: found for other in after if (found := differences(before[other], after[other]))}
    assert changes.keys() == {table}
    assert changes[table].keys() == expected.keys()
    for key, row in expected.items():
        assert row.items() <= changes[table][key].items()


@pytest.mark.parametrize("name", ERRORS)
async def test_a_mistake_shows_as_an_empty_object_and_changes_nothing(session, name):
    digest = await session.state_hash()
    result = await session.call(name, ERRORS[name])
    assert (result.text, result.observation, result.is_error) == ("{}", "{}", True)
    assert await session.state_hash() == digest


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
        assert reply["data"] == [{"n": 2}]
        digest, snapshot = await session.state_hash(), await session.snapshot()
        await session.call("add_new_group_member", {"group_id": 3, "user_id": 1})
        assert await session.state_hash() != digest
        await session.restore(snapshot)
        assert await session.state_hash() == digest
