"""Synthetic databases of calendars and mail: they load whole, answer calls, grow, and can be had again."""

import json
from random import Random
from typing import get_args

import pytest
from synth_session import session_of

from robustops.core.task import Part
from robustops.data.synth import calendar_world, email_world
from robustops.data.synth.names import part_of_name
from robustops.data.synth.world import sql_of
from robustops.gym.domains import load_domain
from robustops.gym.seed import build_seed

BUILDERS = {"calendar": calendar_world.build, "email": email_world.build}
MAIN_TABLES = {"calendar": "events", "email": "threads"}
ROWS = 24


def world_of(domain, *, part="train", rows=ROWS, seed=7):
    return BUILDERS[domain](part, Random(seed), rows)


@pytest.fixture(params=BUILDERS)
def domain(request):
    return request.param


async def reply(session, name, arguments):
    result = await session.call(name, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text)


async def rows(session, sql):
    return [tuple(row.values()) for row in (await session.query(sql))["data"]]


def test_the_same_seed_gives_the_same_database_and_another_one_another(domain):
    assert sql_of(world_of(domain)) == sql_of(world_of(domain))
    assert sql_of(world_of(domain)) != sql_of(world_of(domain, seed=8))


@pytest.mark.parametrize("part", get_args(Part))
@pytest.mark.parametrize("rows", [8, 60])
def test_a_database_of_any_size_loads_into_the_schema_as_it_is(domain, part, rows):
    world = world_of(domain, part=part, rows=rows)
    seed = build_seed(load_domain(domain), sql_of(world))
    assert (seed.added_columns, seed.added_tables) == ((), ())
    assert (
        rows <= len(world.tables[MAIN_TABLES[domain]]) <= rows + 12
    )  # two series of five rows and two days; up to ten drafts


def test_titles_belong_to_their_part(domain):
    table, column = {"calendar": ("events", "summary"), "email": ("messages", "subject")}[domain]
    for part in get_args(Part):
        titles = {row[column].removeprefix("Re: ") for row in world_of(domain, part=part).tables[table]}
        assert {part_of_name(title) for title in titles} == {part}


async def test_the_caller_of_a_calendar_world_sees_what_the_rows_say(tmp_path):
    world = world_of("calendar")
    (caller,) = [row for row in world.tables["users"] if row["static_token"] == world.context["x-access-token"]]
    own = world.rows("calendars", {"user_id": caller["user_id"]})
    async with session_of("calendar", world, tmp_path) as session:
        listed = await reply(session, "get_calendar_list", {})
        assert [item["id"] for item in listed["items"]] == [row["calendar_id"] for row in own]
        for calendar in own:
            found = await reply(session, "list_events", {"calendarId": calendar["calendar_id"]})
            kept = world.rows("events", {"calendar_id": calendar["calendar_id"]})
            shown = sorted(row["event_id"] for row in kept if row["status"] != "cancelled")
            assert sorted(item["id"] for item in found["items"]) == shown
        (series, _) = world.rows("recurring_events")
        (first, *_) = world.rows("events", {"recurring_event_id": series["recurring_event_id"]})
        asked = {"calendarId": first["calendar_id"], "eventId": series["recurring_event_id"]}
        assert len((await reply(session, "get_event_instances", asked))["items"]) == 5
        assert await rows(session, "SELECT id FROM acls WHERE id LIKE 'acl-%'") == []  # the server had nothing to add


async def test_every_free_time_of_a_calendar_world_can_be_asked_for(tmp_path):
    world = world_of("calendar")
    primary = next(row for row in world.tables["calendars"] if row["is_primary"])
    asked = {"timeMin": "2026-06-08T00:00:00Z", "timeMax": "2026-07-20T00:00:00Z"}
    async with session_of("calendar", world, tmp_path) as session:
        found = await reply(session, "query_freebusy", {**asked, "items": [{"id": primary["calendar_id"]}]})
    busy = found["calendars"][primary["calendar_id"]]["busy"]
    assert busy == sorted(busy, key=lambda span: span["start"])
    assert busy


async def test_the_caller_of_a_mail_world_sees_what_the_rows_say(tmp_path):
    world = world_of("email")
    (caller,) = [row for row in world.tables["users"] if row["token"] == world.context["x-email-user-token"]]
    me = {"userId": "me"}
    async with session_of("email", world, tmp_path) as session:
        profile = await reply(session, "get_user_profile", me)
        assert profile["messagesTotal"] == len(world.tables["messages"])
        everything = {**me, "includeSpamTrash": True, "maxResults": 500}
        threads = await reply(session, "list_threads", everything)
        assert {item["id"] for item in threads["threads"]} == {row["id"] for row in world.tables["threads"]}
        unread = await reply(session, "list_messages", {**everything, "q": "is:unread"})
        linked = {row["message_id"] for row in world.tables["message_labels"] if row["label_id"] == "UNREAD"}
        assert {item["id"] for item in unread["messages"]} == linked
        assert len(linked) >= 3
        drafts = await reply(session, "list_drafts", {})
        assert {item["id"] for item in drafts["drafts"]} == {row["id"] for row in world.tables["drafts"]}
        history = await reply(session, "list_history", {**me, "startHistoryId": "", "maxResults": 500})
        assert len(history["history"]) == len(world.tables["history"])
        for label in world.rows("labels", {"user_id": caller["id"]}):
            shown = await reply(session, "get_label", {**me, "id": label["id"]})
            held = f"SELECT COUNT(*) FROM message_labels WHERE label_id = '{label['id']}'"
            assert await rows(session, held) == [(shown["messagesTotal"],)]
