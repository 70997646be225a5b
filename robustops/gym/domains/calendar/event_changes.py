"""Changing an event. The two tools differ little: fields that are absent stay with both of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.access import WRITERS, reached
from robustops.gym.domains.calendar.colors import check_event_color
from robustops.gym.domains.calendar.conference import add_conference
from robustops.gym.domains.calendar.event_children import (
    add_attachments,
    add_extended_properties,
    add_reminders,
    add_working_location,
    check_reminders,
    replace_attendees,
)
from robustops.gym.domains.calendar.event_object import event_object
from robustops.gym.domains.calendar.event_search import check_max_attendees, own_event
from robustops.gym.domains.calendar.event_writes import check_send_updates, check_source
from robustops.gym.domains.calendar.times import Moment, is_strictly_later, moment_of, read, stored
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, writing

_NO_BODY = {"calendarId", "eventId", "conferenceDataVersion", "maxAttendees", "sendUpdates", "supportsAttachments"}
# focusTimeProperties, outOfOfficeProperties and source are accepted, and never changed.
_PLAIN = ("summary", "description", "location", "status", "visibility", "transparency", "iCalUID", "hangoutLink")
_FLAGS = ("guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests", "privateCopy", "locked")


def _patch(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    reached(db, arguments["calendarId"], WRITERS)
    if not arguments.keys() - _NO_BODY:
        raise ToolFailure("No fields provided for update")
    return _change(db, arguments, is_patch=True)


def _update(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    reached(db, arguments["calendarId"], WRITERS)
    if not arguments["start"] or not arguments["end"]:
        raise ToolFailure("Both 'start' and 'end' fields are required for PUT operations")
    return _change(db, {"status": "confirmed", "visibility": "default", **arguments}, is_patch=False)


def _change(db: Records, arguments: Mapping[str, Any], *, is_patch: bool) -> dict[str, Any]:
    check_send_updates(arguments)
    check_max_attendees(arguments)
    check_event_color(db, arguments)
    check_source(arguments)
    check_reminders(arguments.get("reminders"))
    event = own_event(db, arguments["calendarId"], arguments["eventId"])
    kind = arguments.get("eventType", event["eventType"])
    if kind != event["eventType"]:
        raise ToolFailure(f"EventType once set can not be modified. Expecting value: {event['eventType']}. Got {kind}")
    values: Row = {name: arguments[name] for name in (*_PLAIN, *_FLAGS) if name in arguments}
    values |= _times(event, arguments, is_patch=is_patch)
    if arguments.get("colorId"):
        values["color_id"] = arguments["colorId"]
    if arguments.get("recurrence"):
        values["recurrence"] = arguments["recurrence"]
    version = arguments.get("sequence", event["sequence"])
    values |= {"sequence": 0 if version is None else version + 1, "updated_at": db.now}
    db.change("events", {"event_id": event["event_id"]}, values)
    _replace_children(db, event["event_id"], arguments)
    return event_object(db, event["event_id"], max_attendees=arguments.get("maxAttendees"))


def _times(event: Row, arguments: Mapping[str, Any], *, is_patch: bool) -> Row:
    start = _moment(arguments.get("start"), is_patch=is_patch)
    end = _moment(arguments.get("end"), is_patch=is_patch)
    values: Row = {}
    if start is not None:
        values |= {"start_datetime": stored(start.at), "start_timezone": start.zone}
    if end is not None:
        values |= {"end_datetime": stored(end.at), "end_timezone": end.zone}
        begin = start.at if start is not None else read(event["start_datetime"])
        if not is_strictly_later(end.at, begin):
            raise ToolFailure("Event end time must be after start time")
    return values


def _moment(value: Mapping[str, Any] | None, *, is_patch: bool) -> Moment | None:
    """A patch needs the zone, an update a time: without them the server fails."""
    if not value:
        return None
    if is_patch and value.get("timeZone") is None:
        raise ToolFailure("Invalid DateTime format: 'timeZone'")
    if not is_patch and not value.get("dateTime"):
        raise ToolFailure("Invalid DateTime format: Invalid datetime format: None")
    return moment_of(value)


def _replace_children(db: Records, event_id: str, arguments: Mapping[str, Any]) -> None:
    """What is empty is ignored, but for reminders, which then are the default ones; what is given replaces all."""
    key = {"event_id": event_id}
    if arguments.get("attendees"):
        replace_attendees(db, event_id, arguments["attendees"])
    if arguments.get("attachments") and arguments.get("supportsAttachments"):
        db.remove("attachments", key)
        add_attachments(db, event_id, arguments["attachments"])
    if arguments.get("conferenceData") and arguments.get("conferenceDataVersion"):
        db.remove("conference_data", key)
        add_conference(db, event_id, arguments["conferenceData"], arguments["conferenceData"].get("conferenceId"))
    if arguments.get("birthdayProperties") and not db.count("birthday_properties", key):
        db.add("birthday_properties", {**key, "type": "birthday"})
    if arguments.get("extendedProperties"):
        db.remove("extended_properties", key)
        add_extended_properties(db, event_id, arguments["extendedProperties"])
    if arguments.get("reminders") is not None:
        db.remove("reminders", key)
        add_reminders(db, event_id, arguments["reminders"])
    if arguments.get("workingLocationProperties"):
        db.remove("working_location_properties", key)
        add_working_location(db, event_id, arguments["workingLocationProperties"])


KINDS = {"patch_event": writing(_patch), "update_event": writing(_update)}
