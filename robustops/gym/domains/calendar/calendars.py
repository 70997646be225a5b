"""Calendars: make, read, change, delete, clear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.access import OWNERS, READERS, WRITERS, named, reached
from robustops.gym.domains.calendar.event_children import delete_events
from robustops.gym.domains.calendar.times import is_zone, shown
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing
from robustops.gym.operations.rows import decoded

_COLUMNS = {
    "summary": "summary",
    "description": "description",
    "location": "location",
    "timeZone": "time_zone",
    "conferenceProperties": "conference_properties",
}


def calendar_object(row: Row) -> dict[str, Any]:
    return {
        "kind": "calendar#calendar",
        "etag": etag(row),
        "id": row["calendar_id"],
        "summary": row["summary"],
        "description": row["description"],
        "location": row["location"],
        "timeZone": row["time_zone"],
        "conferenceProperties": conference_object(row["conference_properties"], None),
    }


def etag(row: Row) -> str:
    return f"etag-{row['calendar_id']}-{shown(row['updated_at']) or ''}"


def conference_object(text: str | None, otherwise: Any) -> dict[str, Any] | None:
    if text is None:
        return None
    stored = decoded(text)
    known = stored.get("allowedConferenceSolutionTypes", otherwise) if isinstance(stored, dict) else otherwise
    return {"allowedConferenceSolutionTypes": known}


def _check(arguments: Mapping[str, Any]) -> None:
    if "summary" in arguments and not arguments["summary"].strip():
        raise ToolFailure("Validation errors:\n- summary: summary cannot be blank")
    if "timeZone" in arguments and not is_zone(arguments["timeZone"]):
        raise ToolFailure("Validation errors:\n- timeZone: Invalid timeZone; must be a valid IANA timezone name")


def _create(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The owner gets two rules: as owner and as writer."""
    _check(arguments)
    user, email = db.caller["user_id"], db.caller["email"]
    values = {column: arguments[name] for name, column in _COLUMNS.items() if name in arguments}
    row = db.add("calendars", {"conference_properties": {}, **values, "user_id": user})
    scope = db.first("scopes", {"type": "user", "value": email}) or db.add("scopes", {"type": "user", "value": email})
    for role in ("owner", "writer"):
        rule = {"calendar_id": row["calendar_id"], "user_id": user, "scope_id": scope["id"], "role": role}
        db.add("acls", {**rule, "etag": f'"{db.ids.uuid()}"'})
    return calendar_object(row)


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return calendar_object(reached(db, named(db, arguments["calendarId"]), READERS))


def _patch(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    if not arguments.keys() & _COLUMNS.keys():
        reached(db, named(db, arguments["calendarId"]), WRITERS)
        raise ToolFailure("No fields provided for patch")
    return _update(db, arguments)


def _update(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    _check(arguments)
    calendar = reached(db, named(db, arguments["calendarId"]), WRITERS)
    values = {column: arguments[name] for name, column in _COLUMNS.items() if name in arguments}
    if not values.get("conference_properties", True):
        values["conference_properties"] = None
    key = {"calendar_id": calendar["calendar_id"]}
    db.change("calendars", key, {**values, "updated_at": db.now})
    return calendar_object(db.find("calendars", key)[0])


def _delete(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = reached(db, named(db, arguments["calendarId"]), OWNERS)
    if calendar["is_primary"]:
        raise ToolFailure("Internal server error: Cannot delete primary calendar.")
    key = {"calendar_id": calendar["calendar_id"]}
    delete_events(db, key)
    db.remove("acls", key)
    db.remove("calendars", key)
    return {"message": "Calendar deleted successfully"}


def _clear(db: Records, arguments: Mapping[str, Any]) -> int:
    """How many events went."""
    calendar = reached(db, named(db, arguments["calendarId"]), WRITERS)
    if not calendar["is_primary"]:
        raise ToolFailure("Can only clear primary calendars")
    return delete_events(db, {"calendar_id": calendar["calendar_id"]})


KINDS = {
    "create_calendar": writing(_create),
    "get_calendar": reading(_get),
    "patch_calendar": writing(_patch),
    "update_calendar": writing(_update),
    "delete_calendar": writing(_delete),
    "clear_calendar": writing(_clear),
}
