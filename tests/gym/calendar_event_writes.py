"""One successful call for each calendar tool that writes events: the reply in part, and every row that changes."""

from __future__ import annotations

from typing import Any

from calendar_reads import PLANNING
from calendar_seed import STAMPS, TOUCHED
from tool_cases import New

ORGANIZER = {
    "organizer_id": "ada",
    "organizer_email": "ada@desk.example",
    "organizer_display_name": "Ada Stone",
    "organizer_self": 1,
}
CHANGED = {"e-plan": {**TOUCHED, "sequence": 1}}

EVENT_WRITES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "create_event": (
        {
            "calendarId": "c-work",
            "summary": "Review",
            "start": {"dateTime": "2026-07-01T10:00:00-05:00", "timeZone": "America/Lima"},
            "end": {"dateTime": "2026-07-01T11:00:00-05:00"},
            "colorId": "1",
            "attendees": [{"email": "ben@desk.example", "optional": True}, {"email": "dot@out.example"}],
            "reminders": {},
        },
        {
            "id": New("events"),
            "summary": "Review",
            "start": {"dateTime": "2026-07-01T10:00:00", "date": None, "timeZone": "America/Lima"},
            "end": {"dateTime": "2026-07-01T11:00:00", "date": None, "timeZone": "UTC"},
            "created": "2026-06-01T09:00:01",
            "reminders": {"overrides": [{"method": "popup", "minutes": 10}], "useDefault": True},
            "sequence": 0,
            "source": None,
        },
        {
            "events": {
                New("events"): {
                    "calendar_id": "c-work",
                    "user_id": "ada",
                    **ORGANIZER,
                    "start_datetime": "2026-07-01 10:00:00.000000",
                    "end_datetime": "2026-07-01 11:00:00.000000",
                    "start_timezone": "America/Lima",
                    "end_timezone": "UTC",
                    "originalStartTime_dateTime": "2026-07-01 10:00:00.000000",
                    "originalStartTime_date": None,
                    "originalStartTime_timeZone": "America/Lima",
                    "recurrence": None,
                    "recurring_event_id": None,
                    "status": "confirmed",
                    "visibility": "default",
                    "transparency": "opaque",
                    "eventType": "default",
                    "color_id": "1",
                    "sequence": 0,
                    "source": "null",
                    "focusTimeProperties": None,
                    "guestsCanInviteOthers": 1,
                    **STAMPS,
                }
            },
            "users": {
                New("users"): {
                    "email": "dot@out.example",
                    "name": "dot",
                    "timezone": "UTC",
                    "is_active": 1,
                    "is_verified": 0,
                }
            },
            "attendees": {
                New("attendees", 0): {
                    "event_id": New("events"),
                    "user_id": "ben",
                    "optional": 1,
                    "responseStatus": "needsAction",
                },
                New("attendees", 1): {"event_id": New("events"), "user_id": New("users"), "optional": 0},
            },
            "reminders": {
                New("reminders"): {"event_id": New("events"), "method": "popup", "minutes": 10, "use_default": 1}
            },
        },
    ),
    "patch_event": (
        {"calendarId": "c-work", "eventId": "e-plan", "status": "tentative", "source": {"url": "https://x.example"}},
        {"id": "e-plan", "status": "tentative", "sequence": 1, "source": PLANNING["source"]},
        {"events": {"e-plan": {**CHANGED["e-plan"], "status": "tentative"}}},
    ),
    "update_event": (
        {
            "calendarId": "c-work",
            "eventId": "e-plan",
            "start": {"dateTime": "2026-03-02T15:00:00"},
            "end": {"dateTime": "2026-03-02T16:00:00", "timeZone": "Europe/Berlin"},
            "attendees": [{"email": "ben@desk.example", "responseStatus": "accepted"}],
        },
        {
            "id": "e-plan",
            "summary": "Planning",
            "end": {"dateTime": "2026-03-02T16:00:00", "timeZone": "Europe/Berlin"},
        },
        {
            "events": {
                "e-plan": {
                    **CHANGED["e-plan"],
                    "start_datetime": "2026-03-02 15:00:00.000000",
                    "end_datetime": "2026-03-02 16:00:00.000000",
                    "end_timezone": "Europe/Berlin",
                }
            },
            "attendees": {
                "a-ada": None,
                "a-ben": None,
                New("attendees"): {"event_id": "e-plan", "user_id": "ben", "responseStatus": "accepted"},
            },
        },
    ),
    "delete_event": (
        {"calendarId": "c-side", "eventId": "e-one"},
        "Operation completed successfully",
        {"events": {"e-one": None}},
    ),
    "move_event": (
        {"calendarId": "c-work", "eventId": "e-plan", "destination": "c-side"},
        {"id": "e-plan", "attendees": PLANNING["attendees"]},
        {"events": {"e-plan": {"calendar_id": "c-side", **TOUCHED}}},
    ),
    "quick_add_event": (
        {"calendarId": "c-work", "text": "Tea at noon"},
        {"summary": "Tea at noon", "start": {"dateTime": "2026-06-01T09:00:00", "date": None, "timeZone": None}},
        {
            "events": {
                New("events"): {
                    "calendar_id": "c-work",
                    "user_id": "ada",
                    **ORGANIZER,
                    "start_datetime": "2026-06-01 09:00:00.000000",
                    "end_datetime": "2026-06-01 10:00:00.000000",
                    "start_timezone": None,
                    "iCalUID": None,
                    "sequence": None,
                    "source": None,
                    "status": "confirmed",
                }
            }
        },
    ),
    "import_event": (
        {
            "calendarId": "c-work",
            "iCalUID": "plan@desk.example",
            "summary": "Planning again",
            "start": {"date": "2026-08-01"},
            "end": {"date": "2026-08-02"},
            "organizer": {"email": "ben@desk.example", "displayName": "Ben Reed"},
            "transparency": "transparent",
            "attendeesOmitted": True,
        },
        {
            "summary": "Planning again",
            "start": {"dateTime": None, "date": "2026-08-01", "timeZone": "UTC"},
            "organizer": {"id": "ben", "email": "ben@desk.example", "displayName": "Ben Reed", "self": False},
            "attendeesOmitted": True,
        },
        {
            "events": {
                New("events"): {
                    "calendar_id": "c-work",
                    "user_id": "ben",
                    "organizer_id": "ben",
                    "organizer_self": 0,
                    "iCalUID": "plan@desk.example",
                    "transparency": "opaque",
                    "originalStartTime_date": None,
                    "sequence": 0,
                }
            }
        },
    ),
}
