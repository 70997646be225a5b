"""Importing an event: a second row under the iCalUID of one that the calendar has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.access import WRITERS, reached
from robustops.gym.domains.calendar.colors import check_event_color
from robustops.gym.domains.calendar.conference import conference_id
from robustops.gym.domains.calendar.event_children import add_children, check_reminders
from robustops.gym.domains.calendar.event_object import event_object
from robustops.gym.domains.calendar.event_writes import (
    check_source,
    organized_by,
    original_start,
    placed,
    plain_row,
)
from robustops.gym.domains.calendar.times import is_strictly_later, moment_of
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, writing


def _import(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Colour, transparency and original start are not taken over, and nothing recurs."""
    reached(db, arguments["calendarId"], WRITERS)
    _check_attendees(db, arguments)
    check_event_color(db, arguments)
    check_source(arguments)
    start, end = moment_of(arguments["start"]), moment_of(arguments["end"])
    if not is_strictly_later(end.at, start.at):
        raise ToolFailure("Event end time must be after start time")
    _check_known(db, arguments)
    original_start(arguments, start)  # checked, and then not stored
    for name in ("focusTimeProperties", "outOfOfficeProperties"):
        if arguments.get(name):
            raise ToolFailure(f"{name} is not required as only 'default' eventType can be imported")
    check_reminders(arguments.get("reminders"))
    row = plain_row(db, {name: value for name, value in arguments.items() if name != "transparency"})
    row |= _organizer(db, arguments)
    if arguments.get("source"):
        row["source"] = arguments["source"]
    conference = conference_id(db, arguments["conferenceData"]) if arguments.get("conferenceData") else None
    event = db.add("events", {**row, **placed(start, end)})
    add_children(db, event["event_id"], {**arguments, "attendees": _attendees(arguments)}, conference)
    reply = event_object(db, event["event_id"])
    return {**reply, "attendeesOmitted": bool(arguments.get("attendeesOmitted"))}


def _check_attendees(db: Records, arguments: Mapping[str, Any]) -> None:
    for attendee in arguments.get("attendees") or []:
        if not db.count("users", {"email": attendee["email"]}):
            raise ToolFailure(
                f"Attendee email '{attendee['email']}' not found in database. All attendee emails must be valid and "
                "present in the system."
            )


def _attendees(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The organizer among them is named as the organizer is."""
    organizer = arguments.get("organizer") or {}
    named = {organizer.get("email"): organizer.get("displayName")}
    return [
        {**attendee, "displayName": attendee.get("displayName") or named.get(attendee["email"])}
        for attendee in arguments.get("attendees") or []
    ]


def _check_known(db: Records, arguments: Mapping[str, Any]) -> None:
    key = {"user_id": db.caller["user_id"], "calendar_id": arguments["calendarId"], "iCalUID": arguments["iCalUID"]}
    known = db.first("events", key)
    if known is None:
        raise ToolFailure("Event does not exist with this calendar_id and iCalUID")
    if known["eventType"] != "default":
        raise ToolFailure("Only event with eventType 'default' can be imported")


def _organizer(db: Records, arguments: Mapping[str, Any]) -> Row:
    """The organizer becomes the owner of the row. Raises ToolFailure unless address and name are those of a user."""
    given = arguments.get("organizer")
    if not given:
        return {}
    user = db.first("users", {"email": given["email"]})
    if user is None:
        raise ToolFailure("Organizer email does not exist")
    if user["name"] != given.get("displayName"):
        raise ToolFailure("Please enter valid name in the organizer displayName")
    is_caller = user["user_id"] == db.caller["user_id"]
    return {**organized_by(user, is_caller=is_caller), "user_id": user["user_id"]}


KINDS = {"import_event": writing(_import)}
