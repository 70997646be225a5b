"""What the cases of the itsm tools do not reach: how refusals show, who acts, what empty and shared values mean."""

import json
from dataclasses import replace

import pytest
from cases_itsm import CASES
from tool_cases import all_rows, content, difference

from robustops.core.task import GymServer
from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym

ITSM = load_domain("itsm")


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize("name", ["get_user", "create_incident", "delete_notifications"])
async def test_a_refusal_shows_as_an_empty_object(session, name):
    result = await session.call(name, CASES.refusals[name].arguments)
    assert (result.text, result.observation, result.is_error) == ("{}", "{}", True)


async def test_the_acting_user_is_that_of_the_token(tmp_path):
    task = CASES.task(tmp_path)
    ben = replace(task.servers[0], context={"x-itsm-user-token": "token-ben"})
    async with EmbeddedGym().open(replace(task, servers=(ben,))) as session:
        assert (
            await session.call("send_notification", {"incident_id": "INC_001", "email": "ben@south.example"})
        ).is_error
        sent = await session.call("send_notification", {"incident_id": "INC_001", "email": "ada@north.example"})
        assert json.loads(sent.text)["org_id"] == "ORG_002"


async def test_of_one_number_in_two_organisations_the_callers_is_found(tmp_path):
    cases = replace(CASES, seed=f"{CASES.seed}UPDATE incident SET number = 'INC0000001' WHERE incident_id = 'INC_002';")
    task = cases.task(tmp_path)
    for token, own in (("token-ada", "INC_002"), ("token-ben", "INC_001")):
        server = replace(task.servers[0], context={"x-itsm-user-token": token})
        async with EmbeddedGym().open(replace(task, servers=(server,))) as session:
            found = content(await session.call("find_incident_by_number", {"number": "INC0000001"}))
            assert found["incident_id"] == own


async def test_a_token_of_nobody_is_refused(tmp_path):
    task = CASES.task(tmp_path)
    forged = GymServer(
        name=task.servers[0].name, seed_file=task.servers[0].seed_file, context={"x-itsm-user-token": "x"}
    )
    async with EmbeddedGym().open(replace(task, servers=(forged,))) as session:
        assert (await session.call("list_users", {})).is_error


@pytest.mark.parametrize("name", ["get_user", "get_user_using_email", "get_user_using_name", "add_new_user"])
async def test_no_reply_shows_a_token(session, name):
    assert "static_token" not in content(await session.call(name, CASES.successes[name].arguments))


async def test_bulk_children_are_linked_together_or_not_at_all(session):
    before = await all_rows(session, ITSM)
    asked = {"parent_incident": "INC_002", "child_incidents": ["INC_009", "INC_002"]}
    assert (await session.call("add_child_incidents", asked)).is_error
    assert difference(before, await all_rows(session, ITSM)) == {}


async def test_one_mapping_that_goes_is_named_and_several_are_counted(session):
    one = content(await session.call("delete_change_request_mappings", {"problem_id": "PRB_001"}))
    assert (one["deleted_count"], "CRM_002" in one["message"]) == (1, True)
    await session.call("map_change_request", {"change_id": "CHG_001", "incident_id": "INC_002"})
    two = content(await session.call("delete_change_request_mappings", {"change_id": "CHG_001"}))
    assert (two["deleted_count"], two["message"].startswith("2 ")) == (2, True)


async def test_without_a_list_the_metrics_are_empty_and_the_counts_are_of_what_there_is(session):
    assert content(await session.call("count_notifications_by_type", {})) == {"metrics": {}}
    assert content(await session.call("get_count_of_incident_priority_wise", {})) == {"critical": 1, "low": 2}
    assert content(await session.call("count_notifications_by_incident", {})) == {
        "metrics": {"INC_001": 2, "INC_009": 1}
    }
    assert content(await session.call("find_stage_wise_breached_incident_sla_counts", {})) == {
        "counts": {"SLAStage.COMPLETED": 1}
    }


async def test_averages_have_two_decimals(session):
    for incident_id in ("INC_001", "INC_002"):
        await session.call("send_notification", {"incident_id": incident_id, "email": "ben@south.example"})
    # INC_001 has three, INC_002 one, INC_009 one: five for three incidents.
    assert content(await session.call("average_notifications_by_incident", {})) == {"average": 1.67}


async def test_a_problem_found_by_number_keeps_its_number(session):
    reply = content(await session.call("update_problem", {"number": "PRB0000004", "status": "new"}))
    assert (reply["problem_id"], reply["number"], reply["status"]) == ("PRB_001", "PRB0000004", "new")


async def test_an_item_may_be_written_with_the_status_that_it_has(session):
    """Of the other fields the present value alone is refused."""
    assert not (
        await session.call("update_configuration_item", {"configuration_item_id": "CI_001", "status": "in_use"})
    ).is_error
    assert (
        await session.call("update_configuration_item", {"configuration_item_id": "CI_001", "name": "Printer"})
    ).is_error


async def test_a_highest_id_that_was_deleted_is_given_again(session):
    await session.call("delete_notifications", {"notification_id": "NOTIF_003"})
    sent = await session.call("send_notification", {"incident_id": "INC_001", "email": "ben@south.example"})
    assert content(sent)["notification_id"] == "NOTIF_003"


async def test_times_with_a_zone_filter_by_the_moment(session):
    exact = {"created_after": "2025-03-01T10:00:00+02:00", "created_before": "2025-03-01T08:00:00Z"}
    reply = content(await session.call("find_incident_slas", exact))
    assert [row["incident_sla_id"] for row in reply["incident_slas"]] == ["TSLA_001"]
