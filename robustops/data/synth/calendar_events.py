"""Calendar templates about events: place, time, guests, title; new and deleted ones. Worlds to drafts."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from robustops.agent.plan import Pick, Step
from robustops.data.synth.calendar_rules import READ_BACKS
from robustops.data.synth.calendar_world import FIRST_DAY, HOURS, NUM_WEEKS
from robustops.data.synth.draft import (
    CheckDraft,
    Draft,
    Template,
    expressions,
    gone,
    holds,
    only_written,
    others_kept,
    read,
    row_count,
    write,
)
from robustops.data.synth.names import Names
from robustops.data.synth.world import Row, World

STORED = "%Y-%m-%d %H:%M:%S.%f"  # as the server writes a time that it was given
EVENT = {"calendarId": "@calendar.id", "eventId": "@event.id"}


def own_calendars(world: World) -> list[Row]:
    caller = world.one("users", {"static_token": world.context["x-access-token"]})
    return world.rows("calendars", {"user_id": caller["user_id"]})


def calendar_step(calendar: Row) -> Step:
    pick = Pick(where=expressions({"summary": calendar["summary"]}))
    return read("calendar", "get_calendar_list", {}, pick)


def _calendar_and_event(world: World, rng: Random) -> tuple[Row, Row] | None:
    """An ordinary single meeting and where it is."""
    calendar = rng.choice(own_calendars(world))
    ordinary = {"calendar_id": calendar["calendar_id"], "status": "confirmed", "eventType": "default"}
    events = world.rows("events", ordinary | {"recurring_event_id": None})
    return (calendar, rng.choice(events)) if events else None


def _event_steps(calendar: Row, event: Row) -> tuple[Step, Step]:
    title = event["summary"]
    found = read(
        "event",
        "list_events",
        {"calendarId": "@calendar.id", "q": title},
        Pick(where=expressions({"summary": title})),
    )
    return calendar_step(calendar), found


def _others(event_id: str) -> CheckDraft:
    return only_written("no other event changed", "events", {"event_id": event_id}, column="updated_at")


def _free_hour(rng: Random) -> tuple[datetime, datetime]:
    """An hour that begins at a quarter past: no single event of a world does."""
    day = FIRST_DAY + timedelta(weeks=rng.randrange(NUM_WEEKS), days=rng.randrange(5))
    start = datetime(day.year, day.month, day.day, rng.choice(HOURS), 15)
    return start, start + timedelta(hours=1)


def _asked(moment: datetime) -> dict[str, str]:
    return {"dateTime": moment.isoformat(), "timeZone": "UTC"}


def event_place(world: World, rng: Random) -> Draft | None:
    found = _calendar_and_event(world, rng)
    if found is None:
        return None
    calendar, event = found
    place = Names(world.part, rng).place()
    if place == event["location"]:
        return None
    key = {"event_id": event["event_id"]}
    return Draft(
        slots={"calendar": calendar["summary"], "title": event["summary"], "place": place},
        steps=(*_event_steps(calendar, event), write("done", "patch_event", EVENT | {"location": place}, READ_BACKS)),
        checks=(
            holds("place is set", "events", key | {"location": place}),
            holds("time is kept", "events", key | {"start_datetime": event["start_datetime"]}),
            _others(event["event_id"]),
        ),
    )


def event_title(world: World, rng: Random) -> Draft | None:
    found = _calendar_and_event(world, rng)
    if found is None:
        return None
    calendar, event = found
    new = Names(world.part, rng).occasion()
    if world.rows("events", {"summary": new}):
        return None
    key = {"event_id": event["event_id"]}
    return Draft(
        slots={"calendar": calendar["summary"], "title": event["summary"], "new": new},
        steps=(*_event_steps(calendar, event), write("done", "patch_event", EVENT | {"summary": new}, READ_BACKS)),
        checks=(
            holds("title is set", "events", key | {"summary": new}),
            holds("time is kept", "events", key | {"start_datetime": event["start_datetime"]}),
            _others(event["event_id"]),
        ),
    )


def event_time(world: World, rng: Random) -> Draft | None:
    found = _calendar_and_event(world, rng)
    if found is None:
        return None
    calendar, event = found
    start, end = _free_hour(rng)
    key = {"event_id": event["event_id"]}
    arguments = EVENT | {"start": _asked(start), "end": _asked(end)}
    stored = {"start_datetime": start.strftime(STORED), "end_datetime": end.strftime(STORED)}
    slots = {"calendar": calendar["summary"], "title": event["summary"]}
    return Draft(
        slots=slots | {"start": start.isoformat(), "end": end.isoformat()},
        steps=(*_event_steps(calendar, event), write("done", "patch_event", arguments, READ_BACKS)),
        checks=(
            holds("time is set", "events", key | stored),
            holds("title is kept", "events", key | {"summary": event["summary"]}),
            _others(event["event_id"]),
        ),
    )


def event_guest(world: World, rng: Random) -> Draft | None:
    """The list of guests is written as a whole: a meeting that has none yet."""
    found = _calendar_and_event(world, rng)
    if found is None or world.rows("attendees", {"event_id": found[1]["event_id"]}):
        return None
    calendar, event = found
    guest = rng.choice([row for row in world.rows("users") if row["user_id"] != event["user_id"]])
    key = {"event_id": event["event_id"]}
    arguments = EVENT | {"attendees": [{"email": guest["email"]}]}
    return Draft(
        slots={"calendar": calendar["summary"], "title": event["summary"], "email": guest["email"]},
        steps=(*_event_steps(calendar, event), write("done", "patch_event", arguments, READ_BACKS)),
        checks=(
            holds("guest is invited", "attendees", key | {"user_id": guest["user_id"]}),
            others_kept("guests of others are kept", world, "attendees", key),
            row_count("one guest more", "attendees", len(world.rows("attendees")) + 1),
            _others(event["event_id"]),
        ),
    )


def event_new(world: World, rng: Random) -> Draft | None:
    calendar, title = rng.choice(own_calendars(world)), Names(world.part, rng).occasion()
    if world.rows("events", {"summary": title}):
        return None
    start, end = _free_hour(rng)
    arguments = {"calendarId": "@calendar.id", "summary": title, "start": _asked(start), "end": _asked(end)}
    stored = {"summary": title, "calendar_id": calendar["calendar_id"], "start_datetime": start.strftime(STORED)}
    slots = {"calendar": calendar["summary"], "title": title, "start": start.isoformat(), "end": end.isoformat()}
    return Draft(
        slots=slots,
        steps=(calendar_step(calendar), write("done", "create_event", arguments, READ_BACKS)),
        checks=(
            holds("event exists once", "events", stored | {"end_datetime": end.strftime(STORED)}),
            only_written("no other event written", "events", stored, column="updated_at"),
            row_count("one event more", "events", len(world.rows("events")) + 1),
        ),
    )


def event_delete(world: World, rng: Random) -> Draft | None:
    found = _calendar_and_event(world, rng)
    if found is None:
        return None
    calendar, event = found
    return Draft(
        slots={"calendar": calendar["summary"], "title": event["summary"]},
        steps=(*_event_steps(calendar, event), write("done", "delete_event", EVENT, READ_BACKS)),
        checks=(
            gone("event is gone", "events", {"event_id": event["event_id"]}),
            _others(event["event_id"]),
            row_count("one event less", "events", len(world.rows("events")) - 1),
        ),
    )


TEMPLATES = (
    Template(
        name="calendar_event_place",
        patterns=(
            "Set the location of the event {title} in the calendar {calendar} to {place}.",
            "The event {title} in the calendar {calendar} takes place at {place}. Update its location.",
            "In the calendar {calendar}, change the location of {title} to {place}.",
            "{place} is the new location of {title} in the calendar {calendar}.",
        ),
        extra_tools=("delete_event",),
        draw=event_place,
    ),
    Template(
        name="calendar_event_time",
        patterns=(
            "Move the event {title} in the calendar {calendar} to {start} until {end}.",
            "The event {title} in the calendar {calendar} now starts at {start} and ends at {end}. Update it.",
            "In the calendar {calendar}, change {title}: start {start}, end {end}.",
            "From {start} to {end} is the new time of {title} in the calendar {calendar}.",
        ),
        extra_tools=("create_event",),
        draw=event_time,
    ),
    Template(
        name="calendar_event_guest",
        patterns=(
            "Invite {email} to the event {title} in the calendar {calendar}.",
            "The event {title} in the calendar {calendar} has one guest: {email}. Add the guest.",
            "In the calendar {calendar}, add {email} as a guest of {title}.",
            "{email} should be invited to {title} in the calendar {calendar}.",
        ),
        extra_tools=("get_user_by_email",),
        draw=event_guest,
    ),
    Template(
        name="calendar_event_new",
        patterns=(
            "Add the event {title} to the calendar {calendar}, from {start} to {end}.",
            "The calendar {calendar} gets a new event: {title}, start {start}, end {end}.",
            "Create an event {title} in the calendar {calendar}, start {start}, end {end}.",
            "{title} takes place from {start} to {end}. Put it into the calendar {calendar}.",
        ),
        extra_tools=("delete_event",),
        draw=event_new,
    ),
    Template(
        name="calendar_event_delete",
        patterns=(
            "Delete the event {title} in the calendar {calendar}.",
            "The event {title} in the calendar {calendar} is not needed any more. Delete it.",
            "In the calendar {calendar}, delete {title}.",
            "{title} does not take place. Delete it from the calendar {calendar}.",
        ),
        extra_tools=("patch_event",),
        draw=event_delete,
    ),
    Template(
        name="calendar_event_title",
        patterns=(
            "Rename the event {title} in the calendar {calendar} to {new}.",
            "The event {title} in the calendar {calendar} is called {new} from now on. Update its title.",
            "In the calendar {calendar}, change the title of {title} to {new}.",
            "{new} is the new title of {title} in the calendar {calendar}.",
        ),
        extra_tools=("delete_event",),
        draw=event_title,
        held_out=True,
    ),
)
