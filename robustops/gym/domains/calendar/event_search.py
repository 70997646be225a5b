"""Reading events: one, those of a calendar, the occurrences of a series. Times are compared as the texts they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.access import READERS, reached, role_on
from robustops.gym.domains.calendar.calendar_list import offset_of
from robustops.gym.domains.calendar.event_object import event_objects
from robustops.gym.domains.calendar.times import is_zone, parsed, read, shown, stored
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading

PAGE = 250
_TYPES = ("birthday", "default", "focusTime", "fromGmail", "outOfOffice", "workingLocation")
_UID = re.compile(r"[a-zA-Z0-9._-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}")
_BAD_TOKEN = (
    "Please enter a valid pageToken value. Page token must be greater than equal to 0 and must be string integer"
)
_NO_ZONE = "Invalid timeZone; must be a valid IANA timezone name."
_NO_PROPERTY_SEARCH = (
    "Internal server error: Neither 'BinaryExpression' object nor 'Comparator' object has an attribute 'astext'"
)


class _Condition:
    """A WHERE clause as it grows."""

    def __init__(self, text: str, *values: Any) -> None:
        self.texts, self.values = [text], list(values)

    def add(self, text: str, *values: Any) -> None:
        self.texts.append(text)
        self.values += values

    def rows(self, db: Records, tail: str) -> list[Row]:
        return db.select(f"SELECT * FROM events WHERE {' AND '.join(self.texts)} {tail}", self.values)


def check_max_attendees(arguments: Mapping[str, Any]) -> None:
    if arguments.get("maxAttendees", 1) < 1:
        raise ToolFailure("Validation errors:\n- maxAttendees: Input should be greater than 0")


def _page_start(arguments: Mapping[str, Any]) -> int:
    token = arguments.get("pageToken")
    if token and not (token.isascii() and token.isdigit()):
        raise ToolFailure(_BAD_TOKEN)
    return offset_of(token)


def _in_range(where: _Condition, arguments: Mapping[str, Any]) -> None:
    if least := arguments.get("timeMin"):
        where.add("end_datetime >= ?", stored(parsed(least)))
    if most := arguments.get("timeMax"):
        where.add("start_datetime < ?", stored(parsed(most)))


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = reached(db, arguments["calendarId"], READERS)
    check_max_attendees(arguments)
    start = _page_start(arguments)
    zone = arguments.get("timeZone")
    if zone and not is_zone(zone):
        raise ToolFailure(_NO_ZONE)
    if zone and zone != calendar["time_zone"]:
        raise ToolFailure(f"Calendar {calendar['calendar_id']} not found with timezone {zone}")
    if any("=" in arguments.get(f"{scope}ExtendedProperty", "") for scope in ("private", "shared")):
        raise ToolFailure(_NO_PROPERTY_SEARCH)
    role = role_on(db, calendar["calendar_id"])
    where = _listed(db, arguments, calendar, role)
    order = "updated_at DESC, rowid" if arguments.get("orderBy") == "updated" else "start_datetime, rowid"
    rows = where.rows(db, f"ORDER BY {order} LIMIT {arguments.get('maxResults', PAGE)} OFFSET {start}")
    items = event_objects(db, rows, max_attendees=arguments.get("maxAttendees"))
    tail = {"nextPageToken": None, "nextSyncToken": None, "items": items}
    return {**_wrapper(db, calendar, role, f"etag-events-{calendar['calendar_id']}"), **tail}


def _listed(db: Records, arguments: Mapping[str, Any], calendar: Row, role: str) -> _Condition:
    where = _Condition("calendar_id = ?", calendar["calendar_id"])
    if role != "owner":
        mine = "(visibility IN ('default', 'public') OR visibility = 'private' AND user_id = ?)"
        where.add(mine, db.caller["user_id"])
    where.add("status = 'cancelled'" if arguments.get("showDeleted") else "status != 'cancelled'")
    _in_range(where, arguments)
    if since := arguments.get("updatedMin"):
        where.add("updated_at >= ?", stored(parsed(since)))
    if uid := arguments.get("iCalUID"):
        if not _UID.match(uid):
            raise ToolFailure("Invalid iCalUID format. Expected something like 'abcd123@google.com'.")
        where.add("iCalUID = ?", uid)
    elif words := arguments.get("q"):
        fields = ("summary", "description", "location")
        like = " OR ".join(f"{field} LIKE ?" for field in fields)  # as on the server, `%` and `_` are wildcards
        where.add(f"({like})", *[f"%{words}%"] * len(fields))
    if kind := arguments.get("eventTypes"):
        if kind not in _TYPES:
            listed = ", ".join(f"'{name}'" for name in _TYPES[:-1])
            raise ToolFailure(f"Validation errors:\n- eventTypes[0]: Input should be {listed} or '{_TYPES[-1]}'")
        where.add("eventType = ?", kind)
    return where


def _wrapper(db: Records, calendar: Row, role: str, etag: str) -> dict[str, Any]:
    return {
        "kind": "calendar#events",
        "etag": etag,
        "summary": calendar["summary"],
        "description": calendar["description"],
        "updated": f"{shown(db.now)}+00:00",
        "timeZone": calendar["time_zone"],
        "accessRole": role,
        "defaultReminders": [],
    }


def own_event(db: Records, calendar_id: str, event_id: str) -> Row:
    """Raises ToolFailure for an event that is not there, or is someone else's."""
    wanted = {"event_id": event_id, "calendar_id": calendar_id, "user_id": db.caller["user_id"]}
    event = db.first("events", wanted)
    if event is None:
        raise ToolFailure(f"Event not found: {event_id}")
    return event


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = reached(db, arguments["calendarId"], READERS)
    zone = (arguments.get("timeZone") or "").strip()
    if zone and zone != calendar["time_zone"]:
        user, own = db.caller["user_id"], calendar["calendar_id"]
        raise ToolFailure(f"Internal server error: Calendar {own} not found for user {user} in the timezone {zone}")
    event = own_event(db, calendar["calendar_id"], arguments["eventId"])
    return event_objects(db, [event], max_attendees=arguments.get("maxAttendees"))[0]


def _instances(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Every row of the series, the first one too. The id is that of the series, not of one of its events."""
    calendar = reached(db, arguments["calendarId"], READERS)
    start, series = _page_start(arguments), arguments["eventId"]
    where = _Condition("calendar_id = ? AND recurring_event_id = ?", calendar["calendar_id"], series)
    found = where.rows(db, "ORDER BY rowid LIMIT 1")
    if not found:
        raise ToolFailure(f"Recurring Event not found: {series}")
    if not found[0]["recurrence"]:
        raise ToolFailure(f"Event is not recurring: {series}")
    if arguments.get("timeZone") and not is_zone(arguments["timeZone"]):
        raise ToolFailure(_NO_ZONE)
    if not arguments.get("showDeleted"):
        where.add("status != 'cancelled'")
    _in_range(where, arguments)
    if original := arguments.get("originalStart"):
        where.add("originalStartTime_dateTime = ?", stored(parsed(original)))
    rows = where.rows(db, f"ORDER BY rowid LIMIT {arguments.get('maxResults', PAGE)} OFFSET {start}")
    etag = f'"instances-{series}-{int(read(db.now).timestamp())}"'
    items = event_objects(db, rows, max_attendees=arguments.get("maxAttendees"))
    wrapper = _wrapper(db, calendar, role_on(db, calendar["calendar_id"]), etag)
    zone = arguments.get("timeZone") or calendar["time_zone"]
    return {**wrapper, "timeZone": zone, "nextPageToken": None, "items": items}


KINDS = {"list_events": reading(_list), "get_event": reading(_get), "list_instances": reading(_instances)}
