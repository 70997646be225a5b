"""One successful call for each calendar tool that writes, but for events: the reply in part, every row that changes."""

from __future__ import annotations

from typing import Any

from calendar_errors import HOOK
from calendar_seed import STAMPS, TOUCHED
from tool_cases import New

OPEN_UNTIL = "2026-06-02 09:00:01.000000"


def channel(kind: str, of: str, uri: str) -> dict[str, Any]:
    row = {"resource_uri": uri, "resource_type": kind, "calendar_id": of, "user_id": "ada", "webhook_type": "web_hook"}
    row |= {"webhook_address": HOOK["address"], "webhook_token": None, "params": None, "is_active": "true"}
    row |= {"notification_count": 0, "expires_at": OPEN_UNTIL, "created_at": "2026-06-01 09:00:01.000000"}
    return {"watch_channels": {"w-new": row}}


def opened(uri: str) -> dict[str, Any]:
    return {
        "kind": "api#channel",
        "id": "w-new",
        "resourceUri": uri,
        "token": None,
        "expiration": "2026-06-02T09:00:01Z",
    }


WRITES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "create_calendar": (
        {"summary": "Trips", "timeZone": "Asia/Tokyo"},
        {
            "kind": "calendar#calendar",
            "id": New("calendars"),
            "summary": "Trips",
            "description": None,
            "timeZone": "Asia/Tokyo",
            "conferenceProperties": {"allowedConferenceSolutionTypes": None},
        },
        {
            "calendars": {
                New("calendars"): {
                    "user_id": "ada",
                    "summary": "Trips",
                    "time_zone": "Asia/Tokyo",
                    "conference_properties": "{}",
                    "is_primary": 0,
                    "hidden": 0,
                    "selected": 1,
                    "deleted": 0,
                    **STAMPS,
                }
            },
            "acls": {
                New("acls", index): {
                    "calendar_id": New("calendars"),
                    "user_id": "ada",
                    "scope_id": "scope-ada",
                    "role": role,
                    "created_at": None,
                }
                for index, role in enumerate(("owner", "writer"))
            },
        },
    ),
    "patch_calendar": (
        {"calendarId": "c-side", "location": "Pier 3"},
        {"id": "c-side", "summary": "Side", "location": "Pier 3", "etag": "etag-c-side-2026-06-01T09:00:01"},
        {"calendars": {"c-side": {"location": "Pier 3", **TOUCHED}}},
    ),
    "update_calendar": (
        {"calendarId": "primary", "summary": "Job", "conferenceProperties": {}},
        {"id": "c-work", "summary": "Job", "description": "Office hours", "conferenceProperties": None},
        {"calendars": {"c-work": {"summary": "Job", "conference_properties": None, **TOUCHED}}},
    ),
    "delete_calendar": (
        {"calendarId": "c-side"},
        {"message": "Calendar deleted successfully"},
        {
            "calendars": {"c-side": None},
            "acls": {"acl-c-side-owner": None, "acl-c-side-writer": None},
            "events": {"e-focus": None, "e-one": None, "e-two": None},
        },
    ),
    "clear_calendar": (
        {"calendarId": "primary"},
        3,
        {
            "events": {"e-plan": None, "e-lunch": None, "e-off": None},
            "attendees": {"a-ada": None, "a-ben": None},
            "attachments": {"f-1": None},
            "reminders": {"m-1": None},
            "extended_properties": {"x-1": None},
        },
    ),
    "add_calendar_to_list": (
        {"id": "c-gone", "summaryOverride": "Back"},
        {"id": "c-gone", "summary": "Back", "deleted": False},
        {"calendars": {"c-gone": {"deleted": 0, "summary_override": "Back", **TOUCHED}}},
    ),
    "update_calendar_in_list": (
        {"calendarId": "c-side", "hidden": True},
        {"id": "c-side", "hidden": True, "selected": False},
        {"calendars": {"c-side": {"hidden": 1, "selected": 0, **TOUCHED}}},
    ),
    "replace_calendar_in_list": (
        {
            "calendarId": "c-hid",
            "colorId": "10",
            "colorRgbFormat": True,
            "defaultReminders": [{"method": "popup", "minutes": 5}, {"method": "owl", "minutes": 5}],
        },
        {
            "id": "c-hid",
            "colorId": "1",
            "backgroundColor": "#ac725e",
            "defaultReminders": [{"method": "popup", "minutes": 5}],
        },
        {
            "calendars": {
                "c-hid": {
                    "color_id": "1",  # the first id with that pair
                    "background_color": "#ac725e",
                    "foreground_color": "#1d1d1d",
                    "default_reminders": '[{"method": "popup", "minutes": 5}]',
                    "hidden": 0,
                    "selected": 1,
                    **TOUCHED,
                }
            }
        },
    ),
    "remove_calendar_from_list": (
        {"calendarId": "c-side"},
        "Operation completed successfully",
        {"calendars": {"c-side": {"deleted": 1, **TOUCHED}}},
    ),
    "watch_calendar_list": (
        {**HOOK, "type": "webhook"},
        opened("/calendars/me/calendarList"),
        channel("calendar_list", "ada", "/calendars/me/calendarList"),
    ),
    "watch_events": (
        {**HOOK, "calendarId": "c-work"},
        opened("/calendars/c-work/events"),
        channel("event", "c-work", "/calendars/c-work/events"),
    ),
    "watch_settings": (
        HOOK,
        opened("/calendars/ada/settings"),
        channel("settings", "ada", "/calendars/ada/settings"),
    ),
    "insert_acl_rule": (
        {"calendarId": "c-side", "scope": {"type": "user", "value": "ben@desk.example"}, "role": "writer"},
        {
            "kind": "calendar#aclRule",
            "id": New("acls"),
            "scope": {"type": "user", "value": "ben@desk.example"},
            "role": "writer",
        },
        {
            "acls": {
                New("acls"): {"calendar_id": "c-side", "user_id": "ada", "scope_id": "s-ben", "role": "writer"},
            }
        },
    ),
    "update_acl_rule": (
        {
            "calendarId": "c-work",
            "ruleId": "r-ben",
            "scope": {"type": "user", "value": "ada@desk.example"},
            "role": "writer",
        },
        {"id": "r-ben", "etag": "etag-ben", "scope": {"value": "ada@desk.example"}, "role": "writer"},
        {
            "scopes": {"s-ben": {"value": "ada@desk.example"}},  # and so of every rule about Ben
            "acls": {"r-ben": {"role": "writer", **TOUCHED}},
        },
    ),
    "patch_acl_rule": (
        {"calendarId": "c-work", "ruleId": "r-ben", "role": "freeBusyReader"},
        {"id": "r-ben", "scope": {"type": "user", "value": "ben@desk.example"}, "role": "freeBusyReader"},
        {"acls": {"r-ben": {"role": "freeBusyReader", **TOUCHED}}},
    ),
    "delete_acl_rule": (
        {"calendarId": "c-work", "ruleId": "r-ben"},
        "Operation completed successfully",
        {"acls": {"r-ben": None}},
    ),
    "watch_acl": (
        {**HOOK, "calendarId": "c-side"},
        opened("/calendars/c-side/acl"),
        channel("acl", "c-side", "/calendars/c-side/acl"),
    ),
}
