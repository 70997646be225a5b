"""The calendars as their owner lists them: order, pages, what is hidden, colours and titles of one's own."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from robustops.gym.domains.calendar.access import OWNERS, RANKS, READERS, WRITERS, named, reached, role_on, roles_on
from robustops.gym.domains.calendar.calendars import conference_object, etag
from robustops.gym.domains.calendar.colors import calendar_colors
from robustops.gym.domains.calendar.times import shown, stored
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing
from robustops.gym.operations.rows import decoded

_REMINDER_METHODS = ("email", "popup")
_NOTIFICATION_TYPES = ("eventCreation", "eventChange", "eventCancellation", "eventResponse", "agenda")
_CLEARED = ("summary_override", "color_id", "background_color", "foreground_color", "default_reminders")
_RESET = {**dict.fromkeys((*_CLEARED, "notification_settings")), "hidden": 0, "selected": 1}


def _entry(db: Records, row: Row) -> dict[str, Any]:
    conference = conference_object(row["conference_properties"], [])
    return {
        "kind": "calendar#calendarListEntry",
        "etag": etag(row),
        "id": row["calendar_id"],
        "summary": row["summary_override"] or row["summary"],
        "description": row["description"],
        "location": row["location"],
        "timeZone": row["time_zone"],
        "summaryOverride": row["summary_override"],
        "colorId": row["color_id"],
        "backgroundColor": row["background_color"],
        "foregroundColor": row["foreground_color"],
        "hidden": bool(row["hidden"]),
        "selected": bool(row["selected"]),
        "accessRole": role_on(db, row["calendar_id"]),
        "defaultReminders": decoded(row["default_reminders"]),
        "notificationSettings": decoded(row["notification_settings"]),
        "primary": bool(row["is_primary"]),
        "deleted": bool(row["deleted"]),
        "conferenceProperties": conference or {"allowedConferenceSolutionTypes": []},
    }


def token(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def offset_of(page_token: str | None) -> int:
    """Digits are taken as they are; a token that is none means the first page."""
    if not page_token:
        return 0
    if page_token.isascii() and page_token.isdigit():
        return int(page_token)
    try:
        return max(0, int(base64.b64decode(page_token)))
    except (binascii.Error, ValueError):
        return 0


def _since(sync_token: str) -> datetime:
    try:
        return datetime.fromisoformat(base64.b64decode(sync_token).decode())
    except (binascii.Error, ValueError):
        raise ToolFailure("Sync token is invalid or expired; a full sync is required") from None


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Hidden calendars and those of a lower role are left out after the page was cut."""
    rows = db.find("calendars", {"user_id": db.caller["user_id"]}, order="calendar_id")
    sync_token, least = arguments.get("syncToken"), arguments.get("minAccessRole")
    if sync_token is not None:
        if least is not None:
            raise ToolFailure("minAccessRole cannot be used together with syncToken")
        since = stored(_since(sync_token))
        rows = [row for row in rows if row["updated_at"] and row["updated_at"] > since]
    elif not arguments.get("showDeleted"):
        rows = [row for row in rows if not row["deleted"]]
    size = arguments.get("maxResults")
    if size == 0:
        raise ToolFailure("Validation errors:\n- maxResults: Input should be greater than or equal to 1")
    start = offset_of(arguments.get("pageToken"))
    page = rows[start:] if size is None else rows[start : start + size]
    shows_hidden = arguments.get("showHidden") or sync_token is not None
    items = [_entry(db, row) for row in page if shows_hidden or not row["hidden"]]
    if least is not None:
        items = [item for item in items if RANKS[item["accessRole"]] >= RANKS[least]]
    more = size is not None and start + size < len(rows)
    return {
        "kind": "calendar#calendarList",
        "etag": "etag-list-calendar",
        "nextPageToken": token(str(start + len(page))) if more else None,
        "nextSyncToken": token(shown(db.now) or "") if items else None,
        "items": items,
    }


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar_id = named(db, arguments["calendarId"])
    if not set(roles_on(db, calendar_id)) & set(READERS):
        raise ToolFailure(f"User '{db.caller['user_id']}' lacks permission on calendar '{calendar_id}'")
    own = db.first("calendars", {"calendar_id": calendar_id, "user_id": db.caller["user_id"], "deleted": 0})
    if own is None:
        raise ToolFailure(f"Calendar not found: {calendar_id}")
    return _entry(db, own)


def _settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that the plain arguments set; reminders and notifications of unknown kinds are dropped."""
    columns = {"summaryOverride": "summary_override", "hidden": "hidden", "selected": "selected"}
    columns |= {"conferenceProperties": "conference_properties"}
    values = {column: arguments[name] for name, column in columns.items() if name in arguments}
    if "defaultReminders" in arguments:
        wanted = arguments["defaultReminders"]
        values["default_reminders"] = [
            item for item in wanted if item.get("method") in _REMINDER_METHODS and item.get("minutes") is not None
        ]
    if "notificationSettings" in arguments:
        wanted = arguments["notificationSettings"].get("notifications") or []
        kept = [item for item in wanted if item.get("method") == "email" and item.get("type") in _NOTIFICATION_TYPES]
        values["notification_settings"] = {"notifications": kept}
    return values


def _write(db: Records, calendar: Row, values: Mapping[str, Any]) -> dict[str, Any]:
    key = {"calendar_id": calendar["calendar_id"]}
    db.change("calendars", key, {**values, "updated_at": db.now})
    return _entry(db, db.find("calendars", key)[0])


def _add(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = reached(db, named(db, arguments["id"]), READERS)
    return _write(db, calendar, {**_settings(arguments), **calendar_colors(db, arguments), "deleted": 0})


def _update(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = reached(db, named(db, arguments["calendarId"]), WRITERS)
    if arguments.keys() <= {"calendarId"}:
        raise ToolFailure("No fields provided for update")
    values = {**_settings(arguments), **calendar_colors(db, arguments)}
    return _write(db, calendar, {**values, **_selection(values)})


def _replace(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = reached(db, named(db, arguments["calendarId"]), WRITERS)
    values = {**_RESET, **_settings(arguments), **calendar_colors(db, arguments)}
    return _write(db, calendar, values)


def _selection(values: Mapping[str, Any]) -> dict[str, Any]:
    """A hidden calendar is not selected; one that comes back is, unless told otherwise."""
    if values.get("hidden"):
        return {"selected": 0}
    return {"selected": 1} if "hidden" in values and "selected" not in values else {}


def _remove(db: Records, arguments: Mapping[str, Any]) -> None:
    calendar = reached(db, named(db, arguments["calendarId"]), OWNERS)
    if calendar["is_primary"]:
        raise ToolFailure("Cannot remove primary calendar from calendar list")
    db.change("calendars", {"calendar_id": calendar["calendar_id"]}, {"deleted": 1, "updated_at": db.now})


def paged(rows: Sequence[Row], arguments: Mapping[str, Any], *, size: int) -> tuple[Sequence[Row], str | None]:
    """One page and the token of the next, if there is one."""
    start, size = offset_of(arguments.get("pageToken")), arguments.get("maxResults", size)
    return rows[start : start + size], token(str(start + size)) if start + size < len(rows) else None


KINDS = {
    "list_calendars": reading(_list),
    "get_listed": reading(_get),
    "add_to_list": writing(_add),
    "update_listed": writing(_update),
    "replace_listed": writing(_replace),
    "remove_from_list": writing(_remove),
}
