"""Synthetic databases of teams and drives: they load whole, answer calls, grow, and can be had again."""

import json
from collections import Counter
from random import Random
from typing import get_args

import pytest
from synth_session import session_of

from robustops.core.task import Part
from robustops.data.synth import drive_world, teams_world
from robustops.data.synth.names import part_of_name
from robustops.data.synth.world import sql_of
from robustops.gym.domains import load_domain
from robustops.gym.seed import build_seed

BUILDERS = {"teams": teams_world.build, "drive": drive_world.build}
FOLDER = "application/vnd.google-apps.folder"


def world_of(domain, *, part="train", rows=24, seed=7):
    return BUILDERS[domain](part, Random(seed), rows)


@pytest.fixture(params=BUILDERS)
def domain(request):
    return request.param


async def reply(session, tool, **arguments):
    result = await session.call(tool, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text) if result.text.startswith("{") else result.text


def test_the_same_seed_gives_the_same_database_and_another_one_another(domain):
    assert sql_of(world_of(domain)) == sql_of(world_of(domain))
    assert sql_of(world_of(domain)) != sql_of(world_of(domain, seed=8))


@pytest.mark.parametrize("part", get_args(Part))
@pytest.mark.parametrize("rows", [8, 60])
def test_a_database_of_any_size_loads_into_the_schema_as_it_is(domain, part, rows):
    world = world_of(domain, part=part, rows=rows)
    seed = build_seed(load_domain(domain), sql_of(world))
    assert (seed.added_columns, seed.added_tables) == ((), ())
    if domain == "teams":
        assert rows <= len(world.tables["channel_messages"]) <= rows + 1
    else:
        documents = [row for row in world.tables["files"] if row["mime_type"] != FOLDER]
        assert len(documents) == rows + 6  # three pairs of twins


def test_names_belong_to_their_part(domain):
    table, column = {"teams": ("chats", "topic"), "drive": ("files", "name")}[domain]
    for part in get_args(Part):
        names = {row[column] for row in world_of(domain, part=part).tables[table] if row[column]}
        assert {part_of_name(name.split(".")[0]) for name in names} == {part}


async def test_the_caller_of_a_teams_world_sees_what_the_rows_say(tmp_path):
    world = world_of("teams")
    (caller,) = world.rows("teams_users", {"static_token": world.context["x-teams-access-token"]})
    mine = {row["chat_id"] for row in world.tables["chat_members"] if row["user_id"] == caller["user_id"]}
    async with session_of("teams", world, tmp_path) as session:
        users = await reply(session, "list_users", _top=999, _select="id")
        colleagues = world.rows("teams_users", {"org_id": caller["org_id"]})
        assert {item["id"] for item in users["value"]} == {row["user_id"] for row in colleagues}
        assert len(colleagues) < len(world.tables["teams_users"])
        teams = await reply(session, "list_teams", _select="id,displayName")
        assert {item["id"] for item in teams["value"]} == {row["team_id"] for row in world.tables["teams"]}
        for team in teams["value"]:
            channels = await reply(session, "list_channels", teamId=team["id"])
            kept = [row["channel_id"] for row in world.rows("channels", {"team_id": team["id"]})]
            assert [item["id"] for item in channels["value"]] == kept
            primary = await reply(session, "get_primary_channel", teamId=team["id"], _expand="tabs")
            assert len(primary["tabs"]) == 2
            members = await reply(session, "list_team_members", teamId=team["id"])
            assert any(item["userId"] == caller["user_id"] for item in members["value"])
            assert any(item["roles"] == ["owner"] for item in members["value"])
        chats = await reply(session, "list_chats")
        assert {item["id"] for item in chats["value"]} == mine
        assert len(mine) < len(world.tables["chats"])
        drafts = world.rows("virtual_event_webinars", {"status": "draft", "created_by_user_id": caller["user_id"]})
        assert len(drafts) >= 2
        for event in drafts:
            await reply(session, "publish_virtual_event_webinar", webinar_id=event["id"])


async def test_messages_of_a_teams_world_can_be_read_and_the_caller_s_be_changed(tmp_path):
    world = world_of("teams")
    (caller,) = world.rows("teams_users", {"static_token": world.context["x-teams-access-token"]})
    own = [
        row
        for row in world.tables["channel_messages"]
        if json.loads(row["from_json"])["user"]["id"] == caller["user_id"]
    ]
    openings = [row for row in own if row["reply_to_id"] is None]
    assert len(openings) >= 3
    async with session_of("teams", world, tmp_path) as session:
        for row in openings:
            place = {"teamId": row["team_id"], "channelId": row["channel_id"]}
            listed = await reply(session, "list_channel_messages", **place, _top=50)
            assert row["message_id"] in {item["id"] for item in listed["value"]}
            await reply(session, "update_channel_message", **place, messageId=row["message_id"], importance="urgent")


async def test_the_caller_of_a_drive_world_sees_what_the_rows_say(tmp_path):
    world = world_of("drive")
    (caller,) = world.rows("users", {"me": 1})
    async with session_of("drive", world, tmp_path) as session:
        own = await reply(session, "list_files", q=f"'{caller['email']}' in owners", pageSize=1000)
        kept = {row["id"] for row in world.rows("files", {"created_by": caller["id"], "drive_id": None})}
        assert {item["id"] for item in own["files"]} == kept
        shared = await reply(session, "list_files", q="sharedWithMe = true", pageSize=1000)
        assert len(shared["files"]) == 3  # every seventh of 24
        everything = await reply(session, "list_files", corpora="allDrives", pageSize=1000)
        assert len(everything["files"]) == len(world.tables["files"])
        drives = await reply(session, "list_drives")
        assert len(drives["drives"]) == len(world.tables["drives"]) >= 4
        labels = await reply(session, "list_files_labels", fileId=world.tables["files"][0]["id"])
        assert labels["labels"][0]["name"] == "Sensitivity"


async def test_names_that_occur_twice_lie_in_different_folders(tmp_path):
    world = world_of("drive")
    twins = [name for name, count in Counter(row["name"] for row in world.tables["files"]).items() if count > 1]
    assert len(twins) == 3
    async with session_of("drive", world, tmp_path) as session:
        for name in twins:
            found = (await reply(session, "list_files", q=f"name = '{name}'"))["files"]
            assert len({item["parents"][0] for item in found}) == len(found) == 2


async def test_open_requests_for_access_can_be_resolved(tmp_path):
    world = world_of("drive")
    pending = world.rows("access_proposals", {"status": "pending"})
    assert len(pending) >= 3
    async with session_of("drive", world, tmp_path) as session:
        for row in pending:
            asked = {"fileId": row["file_id"], "proposalId": row["id"], "action": "ACCEPT", "role": ["reader"]}
            await reply(session, "resolve_accessproposals", **asked)
        left = await session.query("SELECT COUNT(*) AS n FROM access_proposals WHERE status = 'pending'")
    assert left["data"] == [{"n": 0}]
