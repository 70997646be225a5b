"""Recurring events, their conferences, and free and busy times."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from calendar_session import create, reply, rows
from cases_calendar import CASES
from hypothesis import given
from hypothesis import strategies as st

from robustops.gym.domains.calendar.freebusy import merged
from robustops.gym.domains.calendar.recurrence import occurrences
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.operations.kind import ToolFailure


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(CASES.task(tmp_path)) as opened:
        yield opened


async def test_a_series_is_a_row_of_its_own_and_one_for_every_occurrence_the_first_one_included(session):
    attendees = [{"email": "ben@desk.example"}]
    event = await create(session, recurrence=["RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO"], attendees=attendees)
    found = await rows(session, "SELECT event_id, start_datetime, end_datetime FROM events WHERE summary = 'Gym'")
    days = ("2026-07-06", "2026-07-06", "2026-07-13", "2026-07-20")
    assert [row[1:] for row in found] == [(f"{day} 09:00:00.000000", f"{day} 09:30:00.000000") for day in days]
    assert found[0][0] == event["id"]
    shared = "SELECT DISTINCT iCalUID, recurrence, recurring_event_id FROM events WHERE summary = 'Gym'"
    ((uid, rule, series),) = await rows(session, shared)
    assert (uid, rule) == (f"{event['id']}@calendar.google.com", '["RRULE:FREQ=WEEKLY;COUNT=3;BYDAY=MO"]')
    assert await rows(
        session, f"SELECT original_recurrence FROM recurring_events WHERE recurring_event_id = '{series}'"
    )
    invited = "SELECT COUNT(*) FROM attendees JOIN events USING (event_id) WHERE summary = 'Gym'"
    assert await rows(session, invited) == [(4,)]
    instances = await reply(session, "get_event_instances", {"calendarId": "c-work", "eventId": series})
    assert [item["id"] for item in instances["items"]] == [row[0] for row in found]
    one = {"calendarId": "c-work", "eventId": found[2][0]}
    assert await reply(session, "delete_event", one) == "Operation completed successfully"
    assert await rows(session, "SELECT COUNT(*) FROM events WHERE summary = 'Gym'") == [(3,)]


async def test_an_endless_series_ends_after_365_occurrences(session):
    await create(session, recurrence=["RRULE:FREQ=DAILY"])
    assert await rows(session, "SELECT COUNT(*), MAX(start_datetime) FROM events WHERE summary = 'Gym'") == [
        (366, "2027-07-05 09:00:00.000000")  # 364 days after the first
    ]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["RRULE:FREQ=DAILY;UNTIL=20260709T000000"], "RRULE UNTIL values must be specified in UTC when DTSTART is"),
        (["EXDATE:20260707T090000Z"], "RRULE is required for recurring events"),
        (["RRULE:FREQ=SOMETIMES"], ""),
        (["RDATE:2026-07-07"], ""),
        (["every day"], ""),
    ],
)
async def test_a_rule_that_cannot_be_read_makes_no_event(session, lines, text):
    before = await session.state_hash()
    assert (await create(session, recurrence=lines)).startswith(f"Recurrence validation failed: {text}")
    assert await session.state_hash() == before


def test_exclusions_and_additions_hold_beside_the_rule():
    start = datetime(2026, 7, 6, 9, tzinfo=UTC)
    lines = ["RRULE:FREQ=DAILY;COUNT=3", "EXDATE:20260707T090000Z", "RDATE:20260801T090000Z"]
    assert occurrences(lines, start) == [
        start,
        datetime(2026, 7, 8, 9, tzinfo=UTC),
        datetime(2026, 8, 1, 9, tzinfo=UTC),
    ]


@given(st.integers(1, 400), st.integers(1, 5), st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)))
def test_daily_occurrences_are_the_start_plus_whole_days(count, interval, start):
    start = start.replace(microsecond=0)
    expected = [start.replace(tzinfo=UTC) + timedelta(days=interval * index) for index in range(min(count, 365))]
    assert occurrences([f"RRULE:FREQ=DAILY;INTERVAL={interval};COUNT={count}"], start) == expected


async def test_a_meeting_id_that_the_server_makes_up_stops_a_series_at_its_first_row(session):
    conference = {"conferenceSolution": {"key": {"type": "hangoutsMeet"}}, "createRequest": {"requestId": "q1"}}
    event = await create(
        session, recurrence=["RRULE:FREQ=DAILY;COUNT=3"], conferenceData=conference, conferenceDataVersion=1
    )
    assert await rows(session, "SELECT COUNT(*) FROM events WHERE summary = 'Gym'") == [(1,)]
    ((key, status),) = await rows(session, "SELECT id, status_code FROM conference_data")
    assert [len(part) for part in key.split("-")] == [3, 4, 3]
    assert status == "success"
    assert event["conferenceData"]["createRequest"] == {
        "requestId": "q1",
        "conferenceSolutionKey": None,
        "status": {"statusCode": "success"},
    }


async def test_a_request_id_that_is_in_use_makes_a_conference_that_failed(session):
    conference = {"createRequest": {"requestId": "q1", "conferenceSolutionKey": {"type": "addOn"}}}
    for _ in range(2):
        await create(session, conferenceData=conference, conferenceDataVersion=1)
    assert await rows(session, "SELECT status_code, request_id, entry_points FROM conference_data") == [
        ("success", "q1", "null"),
        ("failure", None, None),
    ]


async def test_times_with_and_without_an_offset_cannot_be_mixed_in_free_and_busy_times(session):
    asked = {"timeMin": "2026-03-01T00:00:00Z", "timeMax": "2026-03-04T00:00:00Z"}
    mixed = await reply(session, "query_freebusy", {**asked, "items": [{"id": "c-work"}, {"id": "c-hid"}]})
    assert mixed["calendars"] == {
        "c-work": {"errors": [{"domain": "calendar", "reason": "backendError"}], "busy": None},
        "c-hid": {"errors": None, "busy": []},
    }


@given(st.lists(st.tuples(st.integers(-10, 70), st.integers(0, 30)), max_size=8))
def test_merged_spans_are_apart_and_cover_the_same_minutes_as_the_events(events):
    start = datetime(2026, 3, 2)
    spans = [(start + timedelta(minutes=at), start + timedelta(minutes=at + length)) for at, length in events]
    found = merged(spans, earliest=start, latest=start + timedelta(minutes=60))
    busy = {minute for at, length in events for minute in range(at, at + length) if 0 <= minute < 60}
    covered = [
        minute
        for first, last in found
        for minute in range(int((first - start).seconds / 60), int((last - start).seconds / 60))
    ]
    assert covered == sorted(busy)
    assert all(last < first for (_, last), (first, _) in pairwise(found))


def test_free_and_busy_times_refuse_to_compare_mixed_times():
    naive, aware = datetime(2026, 3, 2), datetime(2026, 3, 2, tzinfo=UTC)
    with pytest.raises(TypeError):
        merged([(naive, naive)], earliest=aware, latest=aware)


def test_a_rule_with_a_start_of_its_own_is_refused():
    with pytest.raises(ToolFailure):
        occurrences(["DTSTART:20260101T000000Z", "RRULE:FREQ=DAILY;COUNT=2"], datetime(2026, 1, 1))
