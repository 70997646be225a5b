"""Event rows in, the objects of replies out. What hangs on the events is read for all of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from robustops.gym.domains.calendar.event_children import CHILDREN
from robustops.gym.domains.calendar.times import event_time, read, shown
from robustops.gym.operations.records import Records, Row
from robustops.gym.operations.rows import decoded

Children = dict[str, dict[str, list[Row]]]  # by table, then by event

_CHILDREN = {
    **{table: f"SELECT c.* FROM {table} AS c" for table in CHILDREN},
    "attendees": "SELECT c.*, u.email FROM attendees AS c LEFT JOIN users AS u ON c.user_id = u.user_id",
    "working_location_properties": (
        "SELECT c.*, o.buildingId, o.floorId, o.deskId, o.floorSectionId, o.label "
        "FROM working_location_properties AS c LEFT JOIN office_locations AS o ON c.officeLocationId = o.id"
    ),
}


def event_object(db: Records, event_id: str, *, max_attendees: int | None = None) -> dict[str, Any]:
    (row,) = db.find("events", {"event_id": event_id})
    return event_objects(db, [row], max_attendees=max_attendees)[0]


def event_objects(db: Records, rows: Sequence[Row], *, max_attendees: int | None = None) -> list[dict[str, Any]]:
    children = _children(db, [row["event_id"] for row in rows]) if rows else {}
    return [_object(row, children, max_attendees) for row in rows]


def _children(db: Records, event_ids: Sequence[str]) -> Children:
    # A mark for each id: SQLite's json_each needs one only, but does not survive the loading of another database.
    tail = f" WHERE c.event_id IN ({', '.join('?' * len(event_ids))}) ORDER BY c.rowid"
    found: Children = {}
    for table, head in _CHILDREN.items():
        by_event: dict[str, list[Row]] = defaultdict(list)
        for row in db.select(head + tail, event_ids):
            by_event[row["event_id"]].append(row)
        found[table] = by_event
    return found


def _object(row: Row, children: Children, max_attendees: int | None) -> dict[str, Any]:
    own = {table: by_event.get(row["event_id"], []) for table, by_event in children.items()}
    attendees = [_attendee(item, _organizer(row)) for item in own["attendees"]]
    is_cut = max_attendees is not None and len(attendees) > max_attendees
    return {
        **_head(row),
        "attendees": attendees[:max_attendees] if is_cut else attendees,
        "attendeesOmitted": is_cut,
        **_tail(row, own),
    }


def _head(row: Row) -> dict[str, Any]:
    organizer = _organizer(row)
    return {
        "kind": "calendar#event",
        "etag": f'"{read(row["updated_at"]).timestamp()}"' if row["updated_at"] else None,
        "id": row["event_id"],
        "status": row["status"],
        "htmlLink": f"https://calendar.google.com/event?eid={row['event_id']}",
        "created": shown(row["created_at"]),
        "updated": shown(row["updated_at"]),
        "summary": row["summary"],
        "description": row["description"],
        "location": row["location"],
        "colorId": row["color_id"],
        "creator": organizer,
        "organizer": organizer,
        "start": event_time(row["start_datetime"], row["start_timezone"]),
        "end": event_time(row["end_datetime"], row["end_timezone"]),
        "endTimeUnspecified": False,
        "recurrence": decoded(row["recurrence"]) or [],
        "recurringEventId": row["recurring_event_id"],
        "originalStartTime": _original_start(row),
        "transparency": row["transparency"],
        "visibility": row["visibility"],
        "iCalUID": row["iCalUID"],
        "sequence": row["sequence"],
    }


def _tail(row: Row, own: dict[str, list[Row]]) -> dict[str, Any]:
    """What is told after the attendees, with the children of the event."""
    return {
        "extendedProperties": _extended(own["extended_properties"]),
        "hangoutLink": row["hangoutLink"],
        "conferenceData": _conference(own["conference_data"]),
        "guestsCanInviteOthers": _flag(row["guestsCanInviteOthers"]),
        "guestsCanModify": _flag(row["guestsCanModify"]),
        "guestsCanSeeOtherGuests": _flag(row["guestsCanSeeOtherGuests"]),
        "privateCopy": _flag(row["privateCopy"]),
        "locked": _flag(row["locked"]),
        "reminders": {
            "overrides": [{"method": item["method"], "minutes": item["minutes"]} for item in own["reminders"]],
            "useDefault": any(item["use_default"] for item in own["reminders"]),
        },
        "source": decoded(row["source"]) or None,
        "attachments": [
            {"fileUrl": item["file_url"], "title": item["file_url"].rsplit("/", 1)[-1]} for item in own["attachments"]
        ],
        "eventType": row["eventType"],
        "birthdayProperties": {"type": own["birthday_properties"][0]["type"]} if own["birthday_properties"] else None,
        "focusTimeProperties": decoded(row["focusTimeProperties"]),
        "outOfOfficeProperties": decoded(row["outOfOfficeProperties"]),
        "workingLocationProperties": _place(own["working_location_properties"]),
    }


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _organizer(row: Row) -> dict[str, Any]:
    if not row["organizer_id"]:
        return {"id": None, "email": None, "displayName": None, "self": None}
    return {
        "id": row["organizer_id"],
        "email": row["organizer_email"] or "",
        "displayName": row["organizer_display_name"] or "",
        "self": bool(row["organizer_self"]),
    }


def _attendee(row: Row, organizer: dict[str, Any]) -> dict[str, Any]:
    organizes = row["email"] is not None and row["email"] == organizer["email"]
    return {
        "id": row["attendees_id"],
        "email": row["email"],
        "displayName": row["displayName"],
        "self": organizes and bool(organizer["self"]),
        "organizer": organizes,
        "responseStatus": row["responseStatus"],
        "comment": row["comment"],
        "additionalGuests": row["additionalGuests"],
        "optional": _flag(row["optional"]),
        "resource": _flag(row["resource"]),
    }


def _original_start(row: Row) -> dict[str, Any] | None:
    zone = row["originalStartTime_timeZone"]
    if row["originalStartTime_date"]:
        return {"dateTime": None, "date": row["originalStartTime_date"], "timeZone": zone}
    if row["originalStartTime_dateTime"]:
        return {"dateTime": shown(row["originalStartTime_dateTime"]), "date": None, "timeZone": zone}
    return None


def _extended(rows: Sequence[Row]) -> dict[str, Any] | None:
    by_scope: dict[str, dict[str, Any]] = {"private": {}, "shared": {}}
    for row in rows:
        properties = decoded(row["properties"])
        if row["scope"] in by_scope and isinstance(properties, dict):
            by_scope[row["scope"]] |= properties
    return {scope: found or None for scope, found in by_scope.items()} if any(by_scope.values()) else None


def _conference(rows: Sequence[Row]) -> dict[str, Any] | None:
    if not rows:
        return None
    row = rows[0]
    solution = {"iconUri": row["solution_icon_uri"], "key": _typed(row["solution_type"]), "name": row["solution_name"]}
    request = {"requestId": row["request_id"], "conferenceSolutionKey": _typed(row["create_solution_type"])}
    request["status"] = {"statusCode": row["status_code"]} if row["status_code"] else None
    entries = decoded(row["entry_points"])
    if not entries and row["meeting_uri"]:
        entries = [{"entryPointType": "video", "uri": row["meeting_uri"]}]
    return {
        "conferenceId": None,  # stored, yet never shown
        "conferenceSolution": solution if any(solution.values()) else None,
        "createRequest": request if any(request.values()) else None,
        "entryPoints": entries or None,
        "notes": row["notes"] or None,
        "signature": row["signature"] or None,
    }


def _typed(kind: str | None) -> dict[str, str] | None:
    return {"type": kind} if kind else None


def _place(rows: Sequence[Row]) -> dict[str, Any] | None:
    if not rows:
        return None
    row = rows[0]
    office = {name: row[name] for name in ("buildingId", "deskId", "floorId", "floorSectionId", "label")}
    return {
        "type": row["type"],
        "homeOffice": decoded(row["homeOffice"]),
        "customLocation": {"label": row["customLocationLabel"]} if row["customLocationLabel"] else None,
        "officeLocation": office if row["officeLocationId"] else None,
    }
