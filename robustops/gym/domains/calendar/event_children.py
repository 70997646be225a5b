"""The rows that hang on an event: attendees, attachments, reminders, properties, place of work."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from robustops.gym.domains.calendar.conference import add_conference
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

CHILDREN = (
    "attendees",
    "attachments",
    "reminders",
    "conference_data",
    "birthday_properties",
    "extended_properties",
    "working_location_properties",
)
MOST_OVERRIDES = 5
_EMAIL = re.compile(r"[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}")
_OFFICE_FIELDS = ("buildingId", "floorId", "deskId", "floorSectionId", "label")


def delete_events(db: Records, where: Mapping[str, Any]) -> int:
    """The events and all that hangs on them; returns how many events went."""
    for event in db.find("events", where):
        for table in CHILDREN:
            db.remove(table, {"event_id": event["event_id"]})
    return db.remove("events", where)


def add_children(db: Records, event_id: str, arguments: Mapping[str, Any], conference: str | None) -> None:
    """`conference`: the id of the conference, where it has one before it is stored."""
    if arguments.get("attendees"):
        add_attendees(db, event_id, arguments["attendees"])
    if arguments.get("attachments") and arguments.get("supportsAttachments"):
        add_attachments(db, event_id, arguments["attachments"])
    if arguments.get("conferenceData") and arguments.get("conferenceDataVersion"):
        add_conference(db, event_id, arguments["conferenceData"], conference)
    if arguments.get("extendedProperties"):
        add_extended_properties(db, event_id, arguments["extendedProperties"])
    if arguments.get("reminders") is not None:
        add_reminders(db, event_id, arguments["reminders"])
    if arguments.get("workingLocationProperties"):
        add_working_location(db, event_id, arguments["workingLocationProperties"])
    if arguments.get("birthdayProperties"):
        db.add("birthday_properties", {"event_id": event_id, "type": "birthday"})


def user_of(db: Records, email: str) -> Row:
    """The user with that address; an address that nobody has makes a new user. Raises ToolFailure."""
    if user := db.first("users", {"email": email}):
        return user
    if not _EMAIL.fullmatch(email):
        raise ToolFailure(f"Invalid email format: {email}")
    row = {"user_id": db.ids.uuid(), "email": email, "name": email.split("@")[0], "static_token": db.ids.uuid()}
    return db.add("users", row)


def add_attendees(db: Records, event_id: str, attendees: Sequence[Mapping[str, Any]]) -> None:
    users = [user_of(db, attendee["email"]) for attendee in attendees]
    for attendee, user in zip(attendees, users, strict=True):
        row = {"event_id": event_id, "user_id": user["user_id"], "displayName": attendee.get("displayName")}
        row |= {"comment": attendee.get("comment"), "additionalGuests": attendee.get("additionalGuests") or 0}
        row |= {name: bool(attendee.get(name)) for name in ("optional", "resource")}
        db.add("attendees", {**row, "responseStatus": attendee.get("responseStatus") or "needsAction"})


def replace_attendees(db: Records, event_id: str, attendees: Sequence[Mapping[str, Any]]) -> None:
    """Of entries with the same address the last one holds."""
    last = {attendee["email"]: attendee for attendee in attendees}
    db.remove("attendees", {"event_id": event_id})
    add_attendees(db, event_id, list(last.values()))


def add_attachments(db: Records, event_id: str, attachments: Sequence[Mapping[str, Any]]) -> None:
    for attachment in attachments:
        url = (attachment.get("fileUrl") or "").strip()
        if not url:
            raise ToolFailure("fileUrl is required")
        if not is_https(url):
            raise ToolFailure(f"Invalid 'fileUrl': must be an https URL {url}")
        db.add("attachments", {"event_id": event_id, "file_url": attachment["fileUrl"]})


def is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.netloc)


def add_extended_properties(db: Records, event_id: str, properties: Mapping[str, Any]) -> None:
    for scope in ("private", "shared"):
        if properties.get(scope):
            db.add("extended_properties", {"event_id": event_id, "scope": scope, "properties": properties[scope]})


def check_reminders(reminders: Mapping[str, Any] | None) -> None:
    overrides = (reminders or {}).get("overrides") or []
    if len(overrides) > MOST_OVERRIDES:
        raise ToolFailure(f"The maximum number of override reminders is {MOST_OVERRIDES}")
    for index, override in enumerate(overrides):
        minutes, place = override.get("minutes"), f"- reminders.overrides[{index}].minutes:"
        if minutes is not None and minutes < 1:
            raise ToolFailure(f"Validation errors:\n{place} Input should be greater than or equal to 1")
        if minutes is not None and minutes > 40319:
            raise ToolFailure(f"Validation errors:\n{place} Input should be less than or equal to 40319")


def add_reminders(db: Records, event_id: str, reminders: Mapping[str, Any]) -> None:
    """The default ones, unless they are declined: then those that are listed."""
    if reminders.get("useDefault") is not False:
        db.add("reminders", {"event_id": event_id, "method": "popup", "minutes": 10, "use_default": 1})
        return
    for override in reminders.get("overrides") or []:
        if override.get("method") is not None and override.get("minutes") is not None:
            row = {"method": override["method"], "minutes": override["minutes"], "use_default": 0}
            db.add("reminders", {"event_id": event_id, **row})


def add_working_location(db: Records, event_id: str, place: Mapping[str, Any]) -> None:
    row: Row = {"event_id": event_id, "type": place["type"], "homeOffice": place.get("homeOffice") or "null"}
    row["customLocationLabel"] = (place.get("customLocation") or {}).get("label")
    if office := place.get("officeLocation"):
        stored = db.add("office_locations", {name: office.get(name) or "" for name in _OFFICE_FIELDS})
        row["officeLocationId"] = stored["id"]
    db.add("working_location_properties", row)
