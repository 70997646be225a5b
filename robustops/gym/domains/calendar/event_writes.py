"""Making, moving and deleting events. A recurring event is written out: one row of its own, then one per occurrence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from robustops.gym.domains.calendar.access import WRITERS, reached
from robustops.gym.domains.calendar.colors import check_event_color
from robustops.gym.domains.calendar.conference import conference_id
from robustops.gym.domains.calendar.event_children import add_children, check_reminders, delete_events, is_https
from robustops.gym.domains.calendar.event_object import event_object
from robustops.gym.domains.calendar.event_search import check_max_attendees, own_event
from robustops.gym.domains.calendar.recurrence import occurrences
from robustops.gym.domains.calendar.times import Moment, is_later, moment_of, parsed, read, stored
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, writing

_SENT = ("all", "externalOnly", "none")
_COPIED = ("summary", "description", "location", "iCalUID", "transparency", "eventType")
_GUESTS = ("guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests")
# Properties that only one type of event may have, and what their absent fields are stored as.
_TYPED = {
    "focusTimeProperties": ("focusTime", ("autoDeclineMode", "chatStatus", "declineMessage")),
    "outOfOfficeProperties": ("outOfOffice", ("autoDeclineMode", "declineMessage")),
}


def check_send_updates(arguments: Mapping[str, Any]) -> None:
    value = arguments.get("sendUpdates", "none")
    if value not in _SENT:
        listed = ", ".join(f"'{name}'" for name in _SENT)
        raise ToolFailure(f"Invalid sendUpdates value '{value}'. Acceptable values are: {listed}")


def check_source(arguments: Mapping[str, Any]) -> None:
    url = (arguments.get("source") or {}).get("url")
    if url is not None and not is_https(url):
        raise ToolFailure("Validation errors:\n- source: url must be an https URL")


def organized_by(user: Mapping[str, Any], *, is_caller: bool) -> Row:
    row = {"organizer_id": user["user_id"], "organizer_email": user["email"]}
    return {**row, "organizer_display_name": user["name"], "organizer_self": is_caller}


def plain_row(db: Records, arguments: Mapping[str, Any]) -> Row:
    """The columns that the arguments fill as they are."""
    row: Row = {name: arguments[name] for name in (*_COPIED, *_GUESTS) if arguments.get(name) is not None}
    row |= {name: arguments[name] for name in ("status", "visibility") if arguments.get(name)}
    row |= {"calendar_id": arguments["calendarId"], "user_id": db.caller["user_id"]}
    row |= {"sequence": arguments.get("sequence") or 0, "recurrence": arguments.get("recurrence") or None}
    return row | organized_by(db.caller, is_caller=True)


def placed(start: Moment, end: Moment) -> Row:
    row = {"start_datetime": stored(start.at), "start_timezone": start.zone}
    return {**row, "end_datetime": stored(end.at), "end_timezone": end.zone}


def original_start(arguments: Mapping[str, Any], start: Moment) -> Row:
    """By default the start; one that is given must be the same. Raises ToolFailure."""
    own, given = arguments["start"], arguments.get("originalStartTime")
    row: Row = {"originalStartTime_timeZone": start.zone}
    if given is None:
        return row | ({"originalStartTime_date": own["date"]} if not own.get("dateTime") else _timed(start.at))
    row["originalStartTime_timeZone"] = given.get("timeZone")
    kinds = {name for value in (own, given) for name in ("date", "dateTime") if value.get(name)}
    if len(kinds) > 1:
        raise ToolFailure("originalStartTime and start must both be either all-day (date) or timed (dateTime) events")
    for name in sorted(kinds):
        if given.get(name):
            if own[name] != given[name]:
                raise ToolFailure(f"originalStartTime.{name} must match start.{name} when both are provided")
            row |= {"originalStartTime_date": given["date"]} if name == "date" else _timed(parsed(given["dateTime"]))
    if own.get("timeZone") and given.get("timeZone") and own["timeZone"] != given["timeZone"]:
        raise ToolFailure("originalStartTime.timeZone must match start.timeZone when both are provided")
    return row


def _timed(moment: datetime) -> Row:
    return {"originalStartTime_dateTime": stored(moment)}


def _create(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    reached(db, arguments["calendarId"], WRITERS)
    check_max_attendees(arguments)
    check_event_color(db, arguments)
    check_source(arguments)
    start, end = moment_of(arguments["start"]), moment_of(arguments["end"])
    if not is_later(end.at, start.at):
        raise ToolFailure("Event end time must be after start time")
    original = original_start(arguments, start)
    row = {**plain_row(db, arguments), **_typed_properties(arguments)}
    row |= {"source": arguments.get("source", "null"), "color_id": arguments.get("colorId") or None}
    check_reminders(arguments.get("reminders"))
    conference = conference_id(db, arguments["conferenceData"]) if arguments.get("conferenceData") else None
    lines = arguments.get("recurrence")
    starts = occurrences(lines, start.at) if lines else []
    if lines:
        row["recurring_event_id"] = db.add("recurring_events", {"original_recurrence": lines})["recurring_event_id"]
    event_id = db.ids.uuid()
    row.setdefault("iCalUID", f"{event_id}@calendar.google.com")
    db.add("events", {**row, **placed(start, end), **original, "event_id": event_id})
    add_children(db, event_id, arguments, conference)
    if conference is None or not arguments.get("conferenceDataVersion"):
        _add_occurrences(db, arguments, row, starts, start, end)
    # Otherwise the server stops at the first occurrence, whose conference would need an id that is taken.
    return event_object(db, event_id, max_attendees=arguments.get("maxAttendees"))


def _add_occurrences(
    db: Records, arguments: Mapping[str, Any], row: Row, starts: list[datetime], start: Moment, end: Moment
) -> None:
    if not starts:
        return
    first, last = start.at, end.at
    if (first.tzinfo is None) != (last.tzinfo is None):
        first, last = (at if at.tzinfo is not None else at.replace(tzinfo=UTC) for at in (first, last))
    duration = last - first
    for at in starts:
        begin, finish = Moment(at=at, zone=start.zone), Moment(at=at + duration, zone=end.zone)
        original = {**_timed(at), "originalStartTime_timeZone": start.zone}
        event = db.add("events", {**row, **placed(begin, finish), **original})
        add_children(db, event["event_id"], arguments, None)


def _typed_properties(arguments: Mapping[str, Any]) -> Row:
    """Raises ToolFailure for properties of another type of event."""
    kind = arguments.get("eventType")
    if arguments.get("birthdayProperties") and kind != "birthday":
        raise ToolFailure("Use birthday properties only when eventType is set to 'birthday'")
    row: Row = {}
    for name, (wanted, fields) in _TYPED.items():
        if (properties := arguments.get(name)) is not None:
            if kind != wanted:
                raise ToolFailure(f"Use {name} only when eventType is set to '{wanted}'")
            row[name] = {field: properties.get(field) for field in fields}
    return row


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    """That row alone, even in a series."""
    check_send_updates(arguments)
    reached(db, arguments["calendarId"], WRITERS)
    own_event(db, arguments["calendarId"], arguments["eventId"])
    delete_events(db, {"event_id": arguments["eventId"]})


def _move(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    check_send_updates(arguments)
    reached(db, arguments["calendarId"], WRITERS)
    event = own_event(db, arguments["calendarId"], arguments["eventId"])
    if event["eventType"] not in (None, "default"):
        raise ToolFailure(
            f"Cannot move event of type '{event['eventType']}'. Only default events can be moved. Events of type "
            "'birthday', 'focusTime', 'fromGmail', 'outOfOffice', and 'workingLocation' cannot be moved."
        )
    user, destination = db.caller["user_id"], arguments["destination"]
    if not db.count("calendars", {"calendar_id": destination, "user_id": user}):
        raise ToolFailure(f"Destination calendar {destination} not found for user {user}")
    key = {"event_id": event["event_id"]}
    db.change("events", key, {"calendar_id": destination, "updated_at": db.now})
    return event_object(db, event["event_id"])


def _quick_add(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The text is the title, whatever times it speaks of."""
    check_send_updates(arguments)
    reached(db, arguments["calendarId"], WRITERS)
    begin = read(db.now).replace(minute=0, second=0, microsecond=0)
    if begin.hour == 23:
        raise ToolFailure("Internal server error: hour must be in 0..23")
    row = {"calendar_id": arguments["calendarId"], "user_id": db.caller["user_id"], "summary": arguments["text"]}
    row |= {"start_datetime": stored(begin), "end_datetime": stored(begin + timedelta(hours=1))}
    event = db.add("events", {**row, **organized_by(db.caller, is_caller=True)})
    return event_object(db, event["event_id"])


KINDS = {
    "create_event": writing(_create),
    "delete_event": writing(_delete),
    "move_event": writing(_move),
    "quick_add": writing(_quick_add),
}
