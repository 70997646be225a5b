"""What the calendar's cases do not show: times as texts, access, colours, pages, seeds, what an event may have."""

import json

import pytest
from calendar_seed import CONTEXT, SEED
from calendar_session import TIMES, create, listed, reply, rows
from cases_calendar import CASES

from robustops.gym.embedded import EmbeddedGym


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as opened:
        yield opened


async def test_bounds_are_compared_as_texts_so_that_seeded_times_sort_after_their_day(session):
    assert await listed(session, timeMax="2026-03-02T23:00:00Z") == ["e-plan"]  # and not the lunch at 12
    assert await listed(session, timeMin="2026-03-02T23:00:00Z") == ["e-lunch"]
    assert await listed(session, timeMin="2026-03-02T10:30:00+09:00") == ["e-plan", "e-lunch"]  # the offset is dropped
    assert await listed(session, timeMin="yesterday") == "Invalid datetime format: yesterday"


async def test_deleted_events_are_listed_alone(session):
    assert await listed(session, showDeleted=True) == ["e-off"]


async def test_searching_lists_and_their_refusals(session):
    assert await listed(session, q="CAKE") == ["e-lunch"]
    assert await listed(session, iCalUID="plan@desk.example", q="cake") == ["e-plan"]
    assert await listed(session, orderBy="updated") == ["e-lunch", "e-plan"]
    assert await listed(session, maxResults=1, pageToken="1") == ["e-lunch"]
    assert (await listed(session, pageToken="MQ==")).startswith("Please enter a valid pageToken value.")
    assert await listed(session, timeZone="Europe/Berlin") == "Calendar c-work not found with timezone Europe/Berlin"
    assert (await listed(session, privateExtendedProperty="project=north")).startswith("Internal server error: Neither")
    assert (await listed(session, eventTypes="default,birthday")).startswith(
        "Validation errors:\n- eventTypes[0]: Input should be 'birthday', 'default', "
    )


async def test_attendees_beyond_the_limit_are_left_out_and_it_is_said(session):
    event = await reply(session, "get_event", {"calendarId": "c-work", "eventId": "e-plan", "maxAttendees": 1})
    assert ([item["id"] for item in event["attendees"]], event["attendeesOmitted"]) == (["a-ada"], True)


async def test_whole_days_are_stored_as_midnights_and_shown_as_dates(session):
    event = await create(session, start={"date": "2026-12-24"}, end={"date": "2026-12-26"})
    assert event["start"] == {"dateTime": None, "date": "2026-12-24", "timeZone": "UTC"}
    assert event["originalStartTime"] == {"dateTime": None, "date": "2026-12-24", "timeZone": "UTC"}
    assert await rows(session, "SELECT start_datetime, end_datetime FROM events WHERE summary = 'Gym'") == [
        ("2026-12-24 00:00:00.000000", "2026-12-26 00:00:00.000000")
    ]


async def test_an_end_with_an_offset_cannot_be_patched_onto_a_start_without_one(session):
    end = {"dateTime": "2026-03-02T11:30:00Z", "timeZone": "UTC"}
    arguments = {"calendarId": "c-work", "eventId": "e-plan", "end": end}
    assert await reply(session, "patch_event", arguments) == (
        "Internal server error: can't compare offset-naive and offset-aware datetimes"
    )


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"colorId": "2"}, "Invalid event colorId: '2'. Check available colors with GET /colors"),
        ({"focusTimeProperties": {}, "eventType": "default"}, "Use focusTimeProperties only when eventType is set to"),
        ({"focusTimeProperties": {"chatStatus": "available"}}, "Use focusTimeProperties only when eventType is set to"),
        ({"attendees": [{"email": "nobody"}]}, "Invalid email format: nobody"),
        ({"source": {"url": "http://x.example"}}, "Validation errors:\n- source: "),
        ({"end": {"dateTime": "soon"}}, "Invalid DateTime format: Invalid datetime format: soon"),
        ({"end": {"timeZone": "UTC"}}, "Invalid DateTime format: DateTime object must have either dateTime or date"),
        (
            {"start": {"dateTime": "2026-07-06T09:00:00", "timeZone": "Mars/North"}},
            "Invalid DateTime format: Invalid t",
        ),
        ({"reminders": {"overrides": [{"method": "email", "minutes": 5}] * 6}}, "The maximum number of override"),
        ({"calendarId": "c-ben"}, "Calendar with id 'c-ben' does not exist for user ada"),
    ],
)
async def test_what_an_event_may_not_have(session, more, text):
    before = await session.state_hash()
    assert (await create(session, **more)).startswith(text)
    assert await session.state_hash() == before


async def test_typed_properties_are_stored_whole_and_survive_an_update(session):
    focus = {"chatStatus": "doNotDisturb"}
    event = await create(session, eventType="focusTime", focusTimeProperties=focus)
    whole = {"autoDeclineMode": None, "chatStatus": "doNotDisturb", "declineMessage": None}
    assert event["focusTimeProperties"] == whole
    change = {"calendarId": "c-work", "eventId": event["id"], "focusTimeProperties": {"chatStatus": "available"}}
    assert (await reply(session, "patch_event", change))["focusTimeProperties"] == whole
    assert (await reply(session, "patch_event", {**change, "eventType": "default"})) == (
        "EventType once set can not be modified. Expecting value: focusTime. Got default"
    )


async def test_children_are_stored_only_when_the_caller_understands_them(session):
    children = {"attachments": [{"fileUrl": "https://x.example/a.pdf"}]}
    place = {"type": "officeLocation", "officeLocation": {"label": "HQ"}}
    event = await create(session, **children, workingLocationProperties=place, extendedProperties={"shared": {"a": 1}})
    assert event["attachments"] == []
    assert event["workingLocationProperties"]["officeLocation"]["label"] == "HQ"
    assert event["extendedProperties"] == {"private": None, "shared": {"a": 1}}
    again = await create(session, **children, supportsAttachments=True)
    assert again["attachments"] == [{"fileUrl": "https://x.example/a.pdf", "title": "a.pdf"}]


async def test_empty_reminders_of_a_patch_are_the_default_ones(session):
    change = {"calendarId": "c-work", "eventId": "e-plan", "reminders": {}}
    assert (await reply(session, "patch_event", change))["reminders"] == {
        "overrides": [{"method": "popup", "minutes": 10}],
        "useDefault": True,
    }


async def test_an_imported_organizer_among_the_attendees_is_named_as_such(session):
    organizer = {"email": "ben@desk.example", "displayName": "Ben Reed"}
    attendees = [{"email": email, "responseStatus": "accepted"} for email in ("ben@desk.example", "ada@desk.example")]
    copy = {"calendarId": "c-work", "iCalUID": "plan@desk.example", **TIMES, "organizer": organizer}
    event = await reply(session, "import_event", {**copy, "attendees": attendees})
    assert [(item["displayName"], item["organizer"]) for item in event["attendees"]] == [
        ("Ben Reed", True),
        (None, False),
    ]


async def test_overrides_hold_only_where_the_default_reminders_are_declined(session):
    overrides = [{"method": "email", "minutes": 60}]
    default = await create(session, reminders={"overrides": overrides})
    own = await create(session, reminders={"useDefault": False, "overrides": overrides})
    assert default["reminders"] == {"overrides": [{"method": "popup", "minutes": 10}], "useDefault": True}
    assert own["reminders"] == {"overrides": overrides, "useDefault": False}


async def test_a_calendar_is_reached_by_its_owner_alone_even_where_a_rule_shares_it(session, tmp_path):
    asked = {"calendarId": "c-work", "eventId": "e-plan"}
    async with EmbeddedGym().open(CASES.task(tmp_path, {"x-access-token": "token-ben"})) as ben:
        assert await reply(ben, "get_event", asked) == "Calendar with id 'c-work' does not exist for user ben"
        assert (await reply(ben, "get_calendar", {"calendarId": "primary"}))["id"] == "c-ben"
    await reply(session, "delete_acl_rule", {"calendarId": "c-work", "ruleId": "r-own"})
    assert await reply(session, "get_event", asked) == (
        "User 'ada' lacks required roles: ['reader', 'writer', 'owner']"
    )


async def test_without_a_token_the_first_user_acts(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path, {"x-other": "1"})) as session:
        assert (await reply(session, "get_calendar", {"calendarId": "primary"}))["id"] == "c-work"


async def test_an_error_does_not_say_that_it_is_one(session):
    result = await session.call("get_event", {"calendarId": "c-work", "eventId": "e-none"})
    envelope = {"content": [{"type": "text", "text": "Event not found: e-none"}], "isError": False}
    assert (result.is_error, result.observation) == (False, json.dumps(envelope))


async def test_a_loaded_seed_gets_primary_calendars_and_rules_of_the_owners(session):
    assert await rows(session, "SELECT calendar_id FROM calendars WHERE is_primary ORDER BY 1") == [
        ("c-ben",),  # Ben had none
        ("c-work",),
    ]
    added = "SELECT id, role, scope_id, etag, created_at FROM acls WHERE calendar_id = 'c-ben' ORDER BY id"
    assert await rows(session, added) == [
        (f"acl-c-ben-{role}", role, "scope-ben", f"etag-acl-c-ben-{role}", "2026-06-01 09:00:00.000000")
        for role in ("owner", "writer")
    ]
    assert await rows(session, "SELECT type, value FROM scopes WHERE id = 'scope-ben'") == [
        ("user", "ben@desk.example")
    ]
    assert await rows(session, "SELECT id FROM acls WHERE calendar_id = 'c-work' AND id LIKE 'acl-%'") == []


async def test_the_list_is_cut_into_pages_before_hidden_calendars_are_left_out(session):
    first = await reply(session, "get_calendar_list", {"maxResults": 1})
    assert ([item["id"] for item in first["items"]], first["nextPageToken"]) == ([], "MQ==")
    assert first["nextSyncToken"] is None
    second = await reply(session, "get_calendar_list", {"maxResults": 2, "pageToken": "MQ=="})
    assert [item["id"] for item in second["items"]] == ["c-side", "c-work"]
    everything = await reply(session, "get_calendar_list", {"showHidden": True, "showDeleted": True})
    assert [item["id"] for item in everything["items"]] == ["c-gone", "c-hid", "c-side", "c-work"]
    assert await reply(session, "get_calendar_list", {"maxResults": 0}) == (
        "Validation errors:\n- maxResults: Input should be greater than or equal to 1"
    )


async def test_a_sync_token_tells_what_changed_since(session):
    token = (await reply(session, "get_calendar_list", {}))["nextSyncToken"]
    assert (await reply(session, "get_calendar_list", {"syncToken": token}))["items"] == []
    await reply(session, "remove_calendar_from_list", {"calendarId": "c-side"})
    changed = await reply(session, "get_calendar_list", {"syncToken": token})
    assert [(item["id"], item["deleted"]) for item in changed["items"]] == [("c-side", True)]


@pytest.mark.parametrize(
    ("given_colors", "expected"),
    [
        ({"colorId": "2"}, ("2", "#d06b64", "#1d1d1d")),
        ({"backgroundColor": "#AC725E", "foregroundColor": "#1D1D1D"}, ("1", "#AC725E", "#1D1D1D")),
        ({"colorId": "2", "backgroundColor": "#ac725e", "foregroundColor": "#1d1d1d"}, ("1", "#ac725e", "#1d1d1d")),
        ({"colorId": "2", "backgroundColor": "#123456"}, (None, "#123456", None)),  # half a pair leaves the id out
    ],
)
async def test_colours_of_a_calendar_follow_its_pair(session, given_colors, expected):
    arguments = {"calendarId": "c-side", "colorRgbFormat": True, **given_colors}
    entry = await reply(session, "update_calendar_in_list", arguments)
    assert (entry["colorId"], entry["backgroundColor"], entry["foregroundColor"]) == expected


async def test_a_semicolon_in_a_seed_does_not_end_the_statement(session):
    assert "Lunch; with cake" in SEED
    assert await rows(session, "SELECT summary FROM events WHERE event_id = 'e-lunch'") == [("Lunch; with cake",)]


async def test_the_same_call_after_other_writes_gives_another_id(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path, CONTEXT)) as session:
        ids = [(await create(session))["id"] for _ in range(3)]
    assert len(set(ids)) == 3


async def test_texts_of_a_seed_that_are_no_json_are_shown_and_times_that_are_none_are_the_servers_failure(tmp_path):
    task = CASES.task(tmp_path)
    (tmp_path / "calendar-cases.sql").write_text(
        SEED
        + "UPDATE events SET recurrence = 'weekly', source = '[]' WHERE event_id = 'e-plan';"
        + "UPDATE events SET start_datetime = 'soon' WHERE event_id = 'e-lunch';"
        + "UPDATE calendars SET default_reminders = 'none', conference_properties = '' WHERE calendar_id = 'c-side';"
        + "UPDATE extended_properties SET properties = 'x';"
    )
    async with EmbeddedGym().open(task) as session:
        event = await reply(session, "get_event", {"calendarId": "c-work", "eventId": "e-plan"})
        assert (event["recurrence"], event["source"], event["extendedProperties"]) == ("weekly", None, None)
        entry = await reply(session, "get_calendar_from_list", {"calendarId": "c-side"})
        assert entry["defaultReminders"] == "none"
        assert entry["conferenceProperties"] == {"allowedConferenceSolutionTypes": []}
        assert await reply(session, "get_event", {"calendarId": "c-work", "eventId": "e-lunch"}) == (
            "Internal server error: Couldn't parse datetime string: 'soon'"
        )
