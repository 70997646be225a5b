"""Every declared itsm tool, executed: once with success, once refused. A refusal is what clients show of it: `{}`."""

import json
from dataclasses import replace

import pytest
from small_csm import csm_task, differences, table_rows, write_seed

from robustops.core.task import GymServer
from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym

ITSM = load_domain("itsm")
SERVER = "gym-itsm-mcp"
NOW = "2026-06-01 09:00:01.000000"
SEED = """
INSERT INTO organization (org_id, name, active) VALUES ('ORG_001', 'North', 1), ('ORG_002', 'South', 1);
INSERT INTO users (user_id, user_name, first_name, last_name, email, role, active, static_token, org_id, created_on)
VALUES
('USER_001', 'ada', 'Ada', 'Stone', 'ada@north.example', 'admin', 1, 'token-ada', 'ORG_001', '2025-01-01 08:00:00'),
('USER_002', 'ben', 'Ben', 'Reed', 'ben@south.example', 'agent', 1, 'token-ben', 'ORG_002', '2025-01-02 08:00:00');
INSERT INTO user_group (group_id, name, type, active, org_id, created_on) VALUES
('GROUP_001', 'Desk', 'Service Desk', 1, 'ORG_001', '2025-01-01 08:00:00'),
('GROUP_002', 'Desk North', 'Service Desk', 0, 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO user_group_member (member_id, group_id, user_id, org_id, created_on) VALUES
('MEM_001', 'GROUP_001', 'USER_001', 'ORG_001', '2025-01-01 08:00:00');
INSERT INTO configuration_item (configuration_item_id, name, serial_number, owner_id, status, cost, org_id, created_on)
VALUES ('CI_001', 'Printer', 'P-1', 'USER_001', 'in_use', 100.0, 'ORG_001', '2025-01-01 08:00:00'),
('CI_002', 'Laptop', 'L-1', 'USER_002', 'in_use', 900.5, 'ORG_001', '2025-01-02 08:00:00');
INSERT INTO incident_template (incident_template_id, name, caller_id, short_description, impact, active, org_id,
  created_at) VALUES ('TMPL_001', 'Paper', 'USER_001', 'No paper', 'low', 1, 'ORG_001', '2025-01-01 08:00:00');
INSERT INTO incident (incident_id, number, short_description, caller_id, assigned_to, assignment_group, org_id, status,
  category, worknotes, impact, urgency, priority, created_at) VALUES
('INC_001', 'INC0000001', 'Paper jam', 'USER_002', 'USER_001', 'GROUP_001', 'ORG_002', 'new', 'hardware', 'seen',
  'low', 'low', 'low', datetime('2025-02-01 08:00:00')),
('INC_002', 'INC0000002', 'No light', 'USER_001', NULL, NULL, 'ORG_001', 'new', 'hardware', NULL, 'low', 'low', 'low',
  datetime('2025-02-02 08:00:00')),
('INC_009', 'INC0000009', 'Dust', 'USER_001', NULL, NULL, 'ORG_001', 'closed', 'hardware', NULL, 'low', 'low', 'low',
  datetime('2025-02-03 08:00:00'));
INSERT INTO child_incident (child_incident_mapping_id, parent_incident, child_incident) VALUES
('CINC_001', 'INC_001', 'INC_009');
INSERT INTO change (change_id, number, requested_by, status, category, short_description, cab_required, impact,
  priority, risk, org_id) VALUES
('CHG_001', 'CHG0000001', 'USER_001', 'new', 'hardware', 'Swap', 0, 'low', 'low', 'low', 'ORG_001');
INSERT INTO change_request_mapping (change_request_mapping_id, change_id, incident_id, org_id, created_at) VALUES
('CRM_001', 'CHG_001', 'INC_001', 'ORG_001', '2025-03-01 08:00:00');
INSERT INTO sla_definition (sla_def_id, name, org_id) VALUES ('SLA_001', 'Fast', 'ORG_001');
INSERT INTO incident_sla (incident_sla_id, incident_id, sla_def_id, stage, has_breached, org_id, created_on) VALUES
('TSLA_001', 'INC_001', 'SLA_001', 'completed', 1, 'ORG_001', '2025-03-01 08:00:00'),
('TSLA_002', 'INC_002', 'SLA_001', 'paused', 0, 'ORG_001', '2025-03-02 08:00:00');
INSERT INTO notification (notification_id, incident_id, org_id, email, type, status) VALUES
('NOTIF_001', 'INC_001', 'ORG_001', 'ben@south.example', 'update', 'sent');
"""

# Tool: arguments, how the reply reads (a dict: it holds these; a tuple: wrapper, count name, ids).
READS = {
    "get_user_using_email": ({"email": "ben@south.example"}, {"user_id": "USER_002", "active": True}),
    "get_user": ({"user_id": "USER_001"}, {"first_name": "Ada", "created_on": "2025-01-01T08:00:00"}),
    "get_user_using_name": ({"first_name": "BEN", "last_name": "reed"}, {"user_id": "USER_002"}),
    "list_user_groups": ({"name": "desk", "group_id": ""}, ("user_groups", "total_count", "GROUP_002", "GROUP_001")),
    "find_group_by_name": ({"name": "Desk"}, {"group_id": "GROUP_001"}),
    "list_group_members": ({"user_id": "USER_001"}, ("group_members", "total_count", "MEM_001")),
    "get_incident_template_by_name": ({"name": "Paper"}, {"incident_template_id": "TMPL_001", "active": True}),
    "get_incident_templates": ({"active": True}, ("incident_templates", "total_count", "TMPL_001")),
    "find_configuration_items": (
        {"created_before": "2025-01-02T08:00:00"},
        ("configuration_items", "total_count", "CI_002", "CI_001"),
    ),
    "find_change_by_number": ({"number": "CHG0000001"}, {"change_id": "CHG_001", "cab_required": False}),
    "find_incident_by_number": ({"number": "INC0000002"}, {"incident_id": "INC_002"}),
    "find_incident_by_id": ({"incident_id": "INC_001"}, {"created_at": "2025-02-01T08:00:00"}),
    "list_incidents": (
        {"called_id": "USER_001", "created_after": "2025-02-02T08:00:00"},
        (None, None, "INC_009"),
    ),
    "get_incidents_assigned_to": ({"assignment_group": "GROUP_001"}, (None, None, "INC_001")),
    "list_child_incidents": ({"parent_incident": "INC_001"}, (None, None, "CINC_001")),
    "find_parent_incident": ({"child_incident": "INC_009"}, {"parent_incident": "INC_001"}),
    "find_notifications_sent_for_incident": ({"incident_id": "INC_001"}, ("notifications", "count", "NOTIF_001")),
    "list_change_request_mappings": (
        {"created_after": "2025-03-01T08:00:00"},
        ("change_request_mappings", "total_count", "CRM_001"),
    ),
    "find_incident_slas": ({"has_breached": True}, ("incident_slas", "total_count", "TSLA_001")),
}

# Tool: arguments, table, the difference by key (of a new row, a part).
WRITES = {
    "update_configuration_item": (
        {"configuration_item_id": "CI_001", "cost": 120},
        "configuration_item",
        {"CI_001": {"cost": 120.0, "updated_on": NOW}},
    ),
    "update_change": (
        {"change_id": "CHG_001", "cab_required": True},
        "change",
        {"CHG_001": {"cab_required": 1, "updated_on": NOW}},
    ),
    "create_incident": (
        {"caller_id": "USER_002", "short_description": "Smoke", "assigned_to": ""},
        "incident",
        {
            "INC_010": {
                "number": "INC-000010",
                "org_id": "ORG_002",
                "assigned_to": None,
                "status": "new",
                "category": "inquiry-help",
                "priority": "planning",
                "created_at": NOW,
            }
        },
    ),
    "update_incident": (
        {"incident_id": "INC_001", "status": "in_progress", "worknotes": ""},
        "incident",
        {"INC_001": {"status": "in_progress", "worknotes": None, "updated_at": NOW}},
    ),
    "add_child_incident": (
        {"parent_incident": "INC_002", "child_incident": "INC_009"},
        "child_incident",
        {"CINC_002": {"parent_incident": "INC_002", "child_incident": "INC_009", "created_at": NOW}},
    ),
    "remove_child_incident": (
        {"parent_incident": "INC_001", "child_incident": "INC_009"},
        "child_incident",
        {"CINC_001": None},
    ),
    "send_notification": (
        {"incident_id": "INC_001", "email": "ben@south.example", "subject": "Paper"},
        "notification",
        {"NOTIF_002": {"status": "queued", "type": "other", "org_id": "ORG_001", "subject": "Paper", "message": None}},
    ),
    "map_change_request": (
        {"change_id": "CHG_001", "incident_id": "INC_002"},
        "change_request_mapping",
        {"CRM_002": {"incident_id": "INC_002", "problem_id": None, "org_id": "ORG_001"}},
    ),
    "delete_incident_slas": ({"stage": "completed"}, "incident_sla", {"TSLA_001": None}),
}

ERRORS = {
    "get_user_using_email": {"email": "nobody@north.example"},
    "get_user": {"user_id": "USER_099"},
    "get_user_using_name": {"first_name": "Ada"},
    "list_user_groups": {"type": "Helpers"},
    "find_group_by_name": {"name": "desk"},
    "list_group_members": {"member_id": 5},
    "get_incident_template_by_name": {"name": "paper"},
    "get_incident_templates": {"active": "perhaps"},
    "find_configuration_items": {"status": "lost"},
    "find_change_by_number": {"number": "CHG0000099"},
    "find_incident_by_number": {},
    "find_incident_by_id": {"incident_id": "INC_099"},
    "list_incidents": {"status": "open"},
    "get_incidents_assigned_to": {},
    "list_child_incidents": {},
    "find_parent_incident": {"child_incident": "INC_001"},
    "find_notifications_sent_for_incident": {"incident_id": "INC_002"},
    "list_change_request_mappings": {"change_id": 7},
    "find_incident_slas": {"stage": "canceled"},
    "update_configuration_item": {"configuration_item_id": "CI_001", "cost": -1},
    "update_change": {"change_id": "CHG_001", "status": "done"},
    "create_incident": {"caller_id": "USER_099", "short_description": "Smoke"},
    "update_incident": {"incident_id": "INC_001", "status": "new"},  # it is new already
    "add_child_incident": {"parent_incident": "INC_009", "child_incident": "INC_001"},  # the other way round
    "remove_child_incident": {"parent_incident": "INC_001"},
    "send_notification": {"incident_id": "INC_001", "email": "ada@north.example"},  # to oneself
    "map_change_request": {"change_id": "CHG_001"},
    "delete_incident_slas": {"incident_id": "INC_099"},
}


@pytest.fixture
async def session(tmp_path):
    task = csm_task(write_seed(tmp_path, SEED))
    async with EmbeddedGym().open(
        replace(task, domain="itsm", servers=(GymServer(name=SERVER, seed_file="seed.sql"),))
    ) as opened:
        yield opened


def test_each_declared_tool_has_a_success_and_an_error_below():
    assert READS.keys() | WRITES.keys() == ERRORS.keys() == ITSM.tools.keys()


@pytest.mark.parametrize("name", READS)
async def test_a_read_gives_the_stated_reply_and_changes_nothing(session, name):
    arguments, expected = READS[name]
    digest = await session.state_hash()
    result = await session.call(name, arguments)
    assert not result.is_error
    reply = json.loads(result.text)
    if isinstance(expected, dict):
        assert expected.items() <= reply.items()
        assert "static_token" not in reply
    else:
        wrap, count_as, *ids = expected
        rows = reply[wrap] if wrap else reply
        assert [row[ITSM.tools[name].table.key] for row in rows] == ids
        assert count_as is None or reply[count_as] == len(ids)
    assert await session.state_hash() == digest


@pytest.mark.parametrize("name", WRITES)
async def test_a_write_changes_the_stated_rows_and_no_others(session, name):
    arguments, table, expected = WRITES[name]
    keyed = {other: declared.key for other, declared in ITSM.tables.items() if declared.key}
    before = {other: await table_rows(session, other, key, SERVER) for other, key in keyed.items()}
    result = await session.call(name, arguments)
    assert not result.is_error
    after = {other: await table_rows(session, other, key, SERVER) for other, key in keyed.items()}
    changes = {other: found for other in after if (found := differences(before[other], after[other]))}
    assert changes.keys() == {table}
    assert changes[table].keys() == expected.keys()
    for key, row in expected.items():
        if row is not None and key not in before[table]:
            assert row.items() <= changes[table][key].items()
        else:
            assert changes[table][key] == row


@pytest.mark.parametrize("name", ERRORS)
async def test_a_mistake_shows_as_an_empty_object_and_changes_nothing(session, name):
    digest = await session.state_hash()
    result = await session.call(name, ERRORS[name])
    assert (result.text, result.observation, result.is_error) == ("{}", "{}", True)
    assert await session.state_hash() == digest


async def test_deletes_reply_with_a_count_or_a_message(session):
    assert (await session.call("delete_incident_slas", {"incident_id": "INC_001"})).text == '{"deleted_count": 1}'
    reply = await session.call("remove_child_incident", {"child_incident_mapping_id": "CINC_001"})
    assert json.loads(reply.text) == {"message": "Child incident mapping removed successfully"}


async def test_the_acting_user_is_that_of_the_token(tmp_path):
    task = csm_task(write_seed(tmp_path, SEED))
    ben = GymServer(name=SERVER, seed_file="seed.sql", context={"x-itsm-user-token": "token-ben"})
    async with EmbeddedGym().open(replace(task, servers=(ben,))) as session:
        assert (
            await session.call("send_notification", {"incident_id": "INC_001", "email": "ben@south.example"})
        ).is_error
        sent = await session.call("send_notification", {"incident_id": "INC_001", "email": "ada@north.example"})
        assert json.loads(sent.text)["org_id"] == "ORG_002"
