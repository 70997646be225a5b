"""One successful call for each calendar tool that reads; the replies follow from the seed and the server's rules."""

from __future__ import annotations

from typing import Any

ORGANIZER = {"id": "ada", "email": "ada@desk.example", "displayName": "Ada Stone", "self": True}
NOBODY = {"id": None, "email": None, "displayName": None, "self": None}
PLANNING: dict[str, Any] = {
    "kind": "calendar#event",
    "etag": '"1738396800.0"',  # 2025-02-01 08:00:00 UTC
    "id": "e-plan",
    "status": "confirmed",
    "htmlLink": "https://calendar.google.com/event?eid=e-plan",
    "created": "2025-02-01T08:00:00",
    "updated": "2025-02-01T08:00:00",
    "summary": "Planning",
    "description": None,
    "location": "Room 1",
    "colorId": None,
    "creator": ORGANIZER,
    "organizer": ORGANIZER,
    "start": {"dateTime": "2026-03-02T10:00:00", "date": None, "timeZone": "UTC"},
    "end": {"dateTime": "2026-03-02T11:00:00", "date": None, "timeZone": "UTC"},
    "endTimeUnspecified": False,
    "recurrence": [],
    "recurringEventId": None,
    "originalStartTime": None,
    "transparency": "opaque",
    "visibility": "default",
    "iCalUID": "plan@desk.example",
    "sequence": 0,
    "attendees": [
        {
            "id": "a-ada",
            "email": "ada@desk.example",
            "displayName": "Ada",
            "self": True,
            "organizer": True,
            "responseStatus": "accepted",
            "comment": None,
            "additionalGuests": 0,
            "optional": False,
            "resource": False,
        },
        {
            "id": "a-ben",
            "email": "ben@desk.example",
            "displayName": None,
            "self": False,
            "organizer": False,
            "responseStatus": "needsAction",
            "comment": None,
            "additionalGuests": 0,
            "optional": False,
            "resource": False,
        },
    ],
    "attendeesOmitted": False,
    "extendedProperties": {"private": {"project": "north"}, "shared": None},
    "hangoutLink": None,
    "conferenceData": None,
    "guestsCanInviteOthers": True,
    "guestsCanModify": False,
    "guestsCanSeeOtherGuests": True,
    "privateCopy": False,
    "locked": False,
    "reminders": {"overrides": [{"method": "email", "minutes": 30}], "useDefault": False},
    "source": {"url": "https://desk.example/plan", "title": "Plan"},
    "attachments": [{"fileUrl": "https://desk.example/a/plan.pdf", "title": "plan.pdf"}],
    "eventType": "default",
    "birthdayProperties": None,
    "focusTimeProperties": None,
    "outOfOfficeProperties": None,
    "workingLocationProperties": None,
}
WORK: dict[str, Any] = {
    "kind": "calendar#calendarListEntry",
    "etag": "etag-c-work-2025-01-01T09:00:00",
    "id": "c-work",
    "summary": "Work",
    "description": "Office hours",
    "location": None,
    "timeZone": "UTC",
    "summaryOverride": None,
    "colorId": "2",
    "backgroundColor": None,
    "foregroundColor": None,
    "hidden": False,
    "selected": True,
    "accessRole": "owner",
    "defaultReminders": None,
    "notificationSettings": None,
    "primary": True,
    "deleted": False,
    "conferenceProperties": {"allowedConferenceSolutionTypes": ["hangoutsMeet"]},
}

READS: dict[str, tuple[dict[str, Any], Any]] = {
    "get_calendar": (
        {"calendarId": "primary"},
        {
            "kind": "calendar#calendar",
            "etag": "etag-c-work-2025-01-01T09:00:00",
            "id": "c-work",
            "summary": "Work",
            "description": "Office hours",
            "location": None,
            "timeZone": "UTC",
            "conferenceProperties": {"allowedConferenceSolutionTypes": ["hangoutsMeet"]},
        },
    ),
    "get_calendar_list": (
        {},
        {
            "kind": "calendar#calendarList",
            "etag": "etag-list-calendar",
            "nextPageToken": None,
            "nextSyncToken": "MjAyNi0wNi0wMVQwOTowMDowMA==",  # 2026-06-01T09:00:00
            "items": [{"id": "c-side", "accessRole": "owner", "primary": False}, WORK],
        },
    ),
    "get_calendar_from_list": ({"calendarId": "c-work"}, WORK),
    "list_events": (
        {"calendarId": "c-work", "timeMin": "2026-03-02T00:00:00Z", "timeMax": "2026-03-04T00:00:00+02:00"},
        {
            "kind": "calendar#events",
            "etag": "etag-events-c-work",
            "summary": "Work",
            "description": "Office hours",
            "updated": "2026-06-01T09:00:00+00:00",
            "timeZone": "UTC",
            "accessRole": "owner",
            "defaultReminders": [],
            "nextPageToken": None,
            "nextSyncToken": None,
            "items": [
                PLANNING,
                {
                    "id": "e-lunch",
                    "organizer": NOBODY,
                    "start": {"dateTime": "2026-03-02T12:00:00+00:00", "date": None, "timeZone": "UTC"},
                },
            ],
        },
    ),
    "get_event": ({"calendarId": "c-work", "eventId": "e-plan"}, PLANNING),
    "get_event_instances": (
        {"calendarId": "c-side", "eventId": "series"},
        {
            "kind": "calendar#events",
            "etag": '"instances-series-1780304400"',  # 2026-06-01 09:00:00 UTC
            "summary": "Side",
            "timeZone": "Europe/Berlin",
            "accessRole": "owner",
            "nextPageToken": None,
            "items": [{"id": "e-one", "recurringEventId": "series"}, {"id": "e-two"}],
        },
    ),
    "get_colors": (
        {},
        {
            "kind": "calendar#colors",
            "updated": "2025-01-02T00:00:00",
            "calendar": {
                "1": {"background": "#ac725e", "foreground": "#1d1d1d"},
                "2": {"background": "#d06b64", "foreground": "#1d1d1d"},
                "10": {"background": "#ac725e", "foreground": "#1d1d1d"},
            },
            "event": {"1": {"background": "#a4bdfc", "foreground": "#1d1d1d"}},
        },
    ),
    "get_user_by_email": (
        {"email": "ben@desk.example"},
        {
            "id": "ben",
            "email": "ben@desk.example",
            "name": "Ben Reed",
            "given_name": None,
            "family_name": None,
            "picture": None,
            "locale": "en",
            "timezone": "UTC",
            "is_active": True,
            "is_verified": False,
            "provider": None,
            "created_at": "2025-01-02T08:00:00",
            "updated_at": "2025-01-02T08:00:00",
            "last_login_at": None,
        },
    ),
    "get_settings": (
        {"settingId": "ada_timezone"},
        {"etag": None, "id": "ada_timezone", "value": "Europe/London", "user_id": "ada"},
    ),
    "list_settings": (
        {},
        {
            "etag": "settings-collection-etag",
            "items": [
                {"etag": None, "id": "ada_timezone", "value": "Europe/London", "user_id": "ada"},
                {"etag": "e1", "id": "ada_week", "value": "monday", "user_id": "ada"},
            ],
            "nextPageToken": None,
        },
    ),
    "get_acl_rule": (
        {"calendarId": "c-work", "ruleId": "r-ben"},
        {
            "id": "r-ben",
            "calendar_id": "c-work",
            "user_id": "ada",
            "role": "reader",
            "etag": "etag-ben",
            "scope": {"type": "user", "value": "ben@desk.example"},
        },
    ),
    "list_acl_rules": (
        {"calendarId": "c-work"},
        {
            "kind": "calendar#acl",
            "items": [{"id": "r-ben", "role": "reader"}, {"id": "r-own", "role": "owner"}],
            "nextPageToken": None,
            "nextSyncToken": None,
        },
    ),
    "query_freebusy": (
        {"timeMin": "2026-03-02T10:30:00", "timeMax": "2026-03-02T11:30:00", "items": [{"id": "c-work"}]},
        {
            "kind": "calendar#freeBusy",
            "timeMin": "2026-03-02T10:30:00",
            "timeMax": "2026-03-02T11:30:00",
            "calendars": {
                "c-work": {"errors": None, "busy": [{"start": "2026-03-02T10:30:00", "end": "2026-03-02T11:00:00"}]}
            },
            "groups": None,
        },
    ),
}
