"""One refused call for each calendar tool, and the text that the server gives."""

from __future__ import annotations

from typing import Any

HOOK = {"id": "w-new", "type": "web_hook", "address": "https://desk.example/hook"}
TIMES = {"start": {"dateTime": "2026-03-02T10:00:00Z"}, "end": {"dateTime": "2026-03-02T11:00:00Z"}}

NOBODY = "Tool execution failed: User not found for given access token"  # only an unknown caller is refused these

ERRORS: dict[str, tuple[dict[str, Any], str]] = {
    "create_calendar": ({}, "Validation errors:\n- summary: is required"),
    "get_calendar": ({"calendarId": ""}, "The parameter 'calendarId' is required and cannot be empty."),
    "patch_calendar": ({"calendarId": "c-work"}, "No fields provided for patch"),
    "update_calendar": (
        {"calendarId": "c-ben", "summary": "Mine"},
        "Calendar with id 'c-ben' does not exist for user ada",
    ),
    "delete_calendar": ({"calendarId": "c-work"}, "Internal server error: Cannot delete primary calendar."),
    "clear_calendar": ({"calendarId": "c-side"}, "Can only clear primary calendars"),
    "get_calendar_list": ({"minAccessRole": "boss"}, "Validation errors:\n- minAccessRole: Input should be"),
    "get_calendar_from_list": ({"calendarId": "c-gone"}, "Calendar not found: c-gone"),
    "add_calendar_to_list": (
        {"id": "c-gone", "colorId": "99", "colorRgbFormat": True},
        "Invalid calendar colorId: '99'. Check available colorId with GET /colors",
    ),
    "update_calendar_in_list": (
        {"calendarId": "c-side", "colorId": "2"},
        "To set backgroundColor/foregroundColor you must set colorRgbFormat=true",
    ),
    "replace_calendar_in_list": ({"calendarId": "nowhere"}, "Calendar with id 'nowhere' does not exist"),
    "remove_calendar_from_list": ({"calendarId": "primary"}, "Cannot remove primary calendar from calendar list"),
    "watch_calendar_list": ({**HOOK, "address": "http://desk.example/hook"}, "- address: "),
    "list_events": (
        {"calendarId": "primary"},
        "Calendar with id 'primary' does not exist",
    ),
    "create_event": (
        {"calendarId": "c-work", "start": TIMES["end"], "end": TIMES["start"]},
        "Event end time must be after start time",
    ),
    "get_event": ({"calendarId": "c-side", "eventId": "e-plan"}, "Event not found: e-plan"),
    "patch_event": (
        {"calendarId": "c-work", "eventId": "e-plan", "start": TIMES["start"]},
        "Invalid DateTime format: 'timeZone'",
    ),
    "update_event": (
        {"calendarId": "c-work", "eventId": "e-plan", "start": {"date": "2026-03-02"}, "end": {"date": "2026-03-03"}},
        "Invalid DateTime format: Invalid datetime format: None",
    ),
    "delete_event": ({"calendarId": "c-work", "eventId": "e-none"}, "Event not found: e-none"),
    "move_event": (
        {"calendarId": "c-side", "eventId": "e-focus", "destination": "c-work"},
        "Cannot move event of type 'focusTime'. Only default events can be moved.",
    ),
    "quick_add_event": (
        {"calendarId": "c-work", "text": "Tea", "sendUpdates": "some"},
        "Invalid sendUpdates value 'some'. Acceptable values are: 'all', 'externalOnly', 'none'",
    ),
    "import_event": (
        {"calendarId": "c-work", "iCalUID": "other@desk.example", **TIMES},
        "Event does not exist with this calendar_id and iCalUID",
    ),
    "get_event_instances": ({"calendarId": "c-side", "eventId": "e-one"}, "Recurring Event not found: e-one"),
    "watch_events": ({**HOOK, "calendarId": "c-work", "id": "w-old"}, "Channel with Id w-old already exists"),
    "get_colors": ({}, NOBODY),
    "get_user_by_email": ({"email": "zed@desk.example"}, "User not found with email: zed@desk.example"),
    "get_settings": ({"settingId": "ben_timezone"}, "Setting ben_timezone not found for user ada"),
    "list_settings": ({}, NOBODY),
    "watch_settings": ({**HOOK, "type": "mail"}, "Validation errors:\n- type: Input should be 'web_hook'"),
    "get_acl_rule": ({"calendarId": "c-side", "ruleId": "r-ben"}, "ACL rule not found"),
    "list_acl_rules": ({"calendarId": "c-gone"}, "Calendar c-gone not found for user ada"),
    "insert_acl_rule": (
        {"calendarId": "c-work", "scope": {"type": "user", "value": "cy@desk.example"}, "role": "reader"},
        "Scope (ScopeType.user, cy@desk.example) not found",
    ),
    "update_acl_rule": (
        {"calendarId": "c-work", "ruleId": "r-ben", "scope": {"type": "user", "value": "ben"}, "role": "writer"},
        "Validation errors:\n- scope: scope.value must be a valid email address for type 'user'",
    ),
    "patch_acl_rule": (
        {"calendarId": "c-work", "ruleId": "r-ben", "role": "boss"},
        "Validation errors:\n- role: Input should be 'none', 'freeBusyReader', 'reader', 'writer' or 'owner'",
    ),
    "delete_acl_rule": (
        {"calendarId": "c-work", "ruleId": "r-x"},
        "ACL rule 'r-x' not found for calendar 'c-work'",
    ),
    "watch_acl": (
        {**HOOK, "calendarId": "c-work", "id": "w-old"},
        "Internal server error: Channel with Id w-old already exists",
    ),
    "query_freebusy": (
        {"timeMin": "2026-03-02T10:00:00", "timeMax": "2027-03-04T10:00:00", "items": [{"id": "c-work"}]},
        "Error processing FreeBusy query for user ada: Time range is invalid or too large (max 366 days)",
    ),
}
