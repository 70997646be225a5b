"""The calendar database of a synthetic world: people, calendars, access, events and series. Knows no template.

The caller has a primary calendar and several others; colleagues have one each. Times of events are written as public
seeds write them, with `T` and an offset.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from random import Random

from robustops.core.task import Part
from robustops.data.synth.names import Names
from robustops.data.synth.world import SEED_TIME, Row, World

KEYS = {
    "users": "user_id",
    "calendars": "calendar_id",
    "scopes": "id",
    "acls": "id",
    "settings": "id",
    "colors": "id",
    "recurring_events": "recurring_event_id",
    "events": "event_id",
    "attendees": "attendees_id",
    "attachments": "attachment_id",
    "reminders": "id",
    "conference_data": "id",
    "extended_properties": "id",
    "birthday_properties": "id",
    "office_locations": "id",
    "working_location_properties": "working_location_id",
    "watch_channels": "id",
}
UUIDS = frozenset(KEYS) - {"colors"}
STAMPS = {"created_at": SEED_TIME, "updated_at": SEED_TIME}
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo")
FIRST_DAY = date(2026, 6, 8)  # a Monday, after the day at which a session's clock starts
NUM_WEEKS = 6
HOURS = range(8, 18)
RESPONSES = ("accepted", "declined", "needsAction", "tentative")
GRANTED = ("reader", "writer", "freeBusyReader")
DARK = "#1d1d1d"
CALENDAR_COLORS = (
    "ac725e d06b64 f83a22 fa573c ff7537 ffad46 42d692 16a765 7bd148 b3dc6c fbe983 fad165 "
    "92e1c0 9fe1e7 9fc6e7 4986e7 9a9cff b99aff c2c2c2 cabdbf cca6ac f691b2 cd74e6 a47ae2"
)
EVENT_COLORS = "a4bdfc 7ae7bf dbadff ff887c fbd75b ffb878 46d6db e1e1e1 5484ed 51b749 dc2127"


def build(part: Part, rng: Random, num_rows: int) -> World:
    """A world with about `num_rows` events in the caller's calendars."""
    world = World(part=part, rng=rng, names=Names(part, rng), key_columns=KEYS, uuid_keys=UUIDS)
    for _ in range(max(5, num_rows // 3)):
        _add_user(world)
    people = world.tables["users"]
    caller = people[0]
    world.context = {"x-access-token": caller["static_token"]}
    _add_colors(world)
    own = [_add_calendar(world, caller, is_primary=True)]
    own += [_add_calendar(world, caller, is_primary=False) for _ in range(max(3, num_rows // 8))]
    for colleague in people[1:]:
        _add_calendar(world, colleague, is_primary=True)
    for calendar in own:
        for colleague in rng.sample(people[1:], k=2):
            _add_rule(world, calendar, colleague, role=rng.choice(GRANTED))
    for index in range(num_rows):
        # The primary calendar and the first of the others have an event without guests, whatever is drawn.
        calendar = own[index] if index < 2 else rng.choice(own)
        guests = rng.sample(people[1:], k=rng.randint(0, 3)) if index >= 2 else []
        _add_event(world, calendar, caller, guests, kind="confirmed" if index < 4 else _kind(rng))
    for calendar in own[:2]:
        _add_series(world, calendar, caller, people[1:])
    _add_special_days(world, own[0], caller)
    _add_channel(world, own[0], caller)
    return world


def _kind(rng: Random) -> str:
    return rng.choice(("confirmed",) * 7 + ("tentative", "cancelled", "focusTime"))


def _add_user(world: World) -> Row:
    first, last = world.names.person()
    email = f"{first}.{last}@desk.example".lower()
    row: Row = {"email": email, "name": f"{first} {last}", "given_name": first, "family_name": last}
    row |= {"timezone": world.rng.choice(ZONES), "locale": "en", "is_active": True, "is_verified": True}
    user = world.add("users", row | {"static_token": f"token-{first}-{last}".lower(), **STAMPS})
    world.add("scopes", {"type": "user", "value": email})
    for name, value in (("timezone", user["timezone"]), ("weekStart", world.rng.choice(("0", "1")))):
        setting = {"id": f"{first}_{last}_{name}".lower(), "value": value, "etag": None, "user_id": user["user_id"]}
        world.add("settings", setting)
    return user


def _add_colors(world: World) -> None:
    for kind, digits in (("CALENDAR", CALENDAR_COLORS), ("EVENT", EVENT_COLORS)):
        for number, color in enumerate(digits.split(), start=1):
            row: Row = {"color_id": str(number), "color_type": kind, "background": f"#{color}", "foreground": DARK}
            world.add("colors", row | STAMPS)


def _add_calendar(world: World, owner: Row, *, is_primary: bool) -> Row:
    """With the owner's two rules."""
    row: Row = {"user_id": owner["user_id"], "summary": owner["name"] if is_primary else world.names.subject()}
    row |= {"description": None, "location": None, "time_zone": "UTC", "is_primary": is_primary, "hidden": False}
    calendar = world.add("calendars", row | {"selected": True, "deleted": False, **STAMPS})
    for role in ("owner", "writer"):
        _add_rule(world, calendar, owner, role=role)
    return calendar


def _add_rule(world: World, calendar: Row, grantee: Row, *, role: str) -> None:
    scope = world.one("scopes", {"value": grantee["email"]})
    row: Row = {"calendar_id": calendar["calendar_id"], "user_id": calendar["user_id"], "scope_id": scope["id"]}
    world.add("acls", row | {"role": role, "etag": f"etag-{world.rng.randrange(10**9)}", **STAMPS})


def _add_event(world: World, calendar: Row, owner: Row, guests: Sequence[Row], *, kind: str) -> None:
    rng = world.rng
    day = FIRST_DAY + timedelta(weeks=rng.randrange(NUM_WEEKS), days=rng.randrange(5))
    start = datetime(day.year, day.month, day.day, rng.choice(HOURS), rng.choice((0, 30)))
    row = _event(world, calendar, owner, start, minutes=rng.choice((30, 45, 60, 90)))
    if kind == "focusTime":
        row |= {"eventType": kind, "focusTimeProperties": json.dumps({"autoDeclineMode": "declineNone"})}
    else:
        row["status"] = kind
    event = world.add("events", row)
    _add_attendees(world, event, owner, guests)
    if rng.random() < 0.4:
        reminder = {"event_id": event["event_id"], "method": rng.choice(("email", "popup"))}
        world.add("reminders", reminder | {"minutes": rng.choice((5, 10, 30, 60)), "use_default": False})
    if rng.random() < 0.2:
        url = f"https://files.desk.example/{rng.randrange(10**6)}/notes.pdf"
        world.add("attachments", {"event_id": event["event_id"], "file_url": url})
    if "conference_data" not in world.tables or rng.random() < 0.2:
        code = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=10))
        row = {"id": f"{code[:3]}-{code[3:7]}-{code[7:]}", "event_id": event["event_id"]}
        world.add(
            "conference_data", row | {"solution_type": "hangoutsMeet", "request_id": code, "status_code": "success"}
        )
    if "extended_properties" not in world.tables or rng.random() < 0.2:
        properties = json.dumps({"client": world.names.company()})
        row = {"event_id": event["event_id"], "scope": rng.choice(("private", "shared"))}
        world.add("extended_properties", row | {"properties": properties})


def _event(world: World, calendar: Row, owner: Row, start: datetime, *, minutes: int) -> Row:
    title = world.names.occasion()
    row: Row = {"calendar_id": calendar["calendar_id"], "user_id": owner["user_id"], "organizer_id": owner["user_id"]}
    row |= {"organizer_email": owner["email"], "organizer_display_name": owner["name"], "organizer_self": True}
    row |= {"recurring_event_id": None, "summary": title, "description": None}
    row |= {"location": world.names.place() if world.rng.random() < 0.3 else None}
    row |= {"start_datetime": _stored(start), "end_datetime": _stored(start + timedelta(minutes=minutes))}
    row |= {"start_timezone": "UTC", "end_timezone": "UTC", "recurrence": None, "status": "confirmed"}
    row |= {"visibility": "default", "color_id": None, "eventType": "default", "focusTimeProperties": None}
    row |= {"sequence": 0, "transparency": "opaque", "originalStartTime_dateTime": None}
    return row | {"iCalUID": f"{title.replace(' ', '-')}@desk.example".lower(), **STAMPS}


def _stored(moment: datetime) -> str:
    return f"{moment.isoformat()}+00:00"


def _add_attendees(world: World, event: Row, owner: Row, invited: Sequence[Row]) -> None:
    if not invited:
        return
    for user in (owner, *invited):
        response = "accepted" if user is owner else world.rng.choice(RESPONSES)
        row: Row = {"displayName": user["name"], "responseStatus": response, "optional": False, "resource": False}
        row |= {"event_id": event["event_id"], "user_id": user["user_id"], "comment": None}
        world.add("attendees", row)


def _add_series(world: World, calendar: Row, owner: Row, others: Sequence[Row]) -> None:
    """A weekly meeting: one row for itself and one for each of its four occurrences, as the server writes them."""
    rng = world.rng
    rule = json.dumps(["RRULE:FREQ=WEEKLY;COUNT=4"])
    series = world.add("recurring_events", {"original_recurrence": rule})
    day = FIRST_DAY + timedelta(days=rng.randrange(5))
    first = datetime(day.year, day.month, day.day, rng.choice(HOURS), 15)
    row = _event(world, calendar, owner, first, minutes=30)
    row |= {"recurrence": rule, "recurring_event_id": series["recurring_event_id"]}
    invited = rng.sample(others, k=2)
    for week in (0, 0, 1, 2, 3):
        start = first + timedelta(weeks=week)
        times = {"start_datetime": _stored(start), "end_datetime": _stored(start + timedelta(minutes=30))}
        event = world.add("events", row | times | {"originalStartTime_dateTime": _stored(start)})
        _add_attendees(world, event, owner, invited)


def _add_special_days(world: World, calendar: Row, owner: Row) -> None:
    """A birthday and a day at an office."""
    start = datetime(FIRST_DAY.year, FIRST_DAY.month, FIRST_DAY.day) + timedelta(weeks=NUM_WEEKS)
    row = _event(world, calendar, owner, start, minutes=24 * 60)
    birthday = world.add("events", row | {"eventType": "birthday"})
    world.add("birthday_properties", {"event_id": birthday["event_id"], "type": "birthday"})
    row = _event(world, calendar, owner, start + timedelta(days=1), minutes=24 * 60)
    day = world.add("events", row | {"eventType": "workingLocation"})
    office = world.add(
        "office_locations", {"buildingId": "", "floorId": "", "deskId": "", "label": world.names.place()}
    )
    place: Row = {"event_id": day["event_id"], "type": "officeLocation", "homeOffice": None}
    world.add("working_location_properties", place | {"officeLocationId": office["id"]})


def _add_channel(world: World, calendar: Row, owner: Row) -> None:
    own = calendar["calendar_id"]
    row: Row = {"resource_id": f"events-{own}", "resource_uri": f"/calendars/{own}/events", "resource_type": "event"}
    row |= {"calendar_id": own, "user_id": owner["user_id"], "webhook_address": "https://hooks.desk.example/calendar"}
    world.add("watch_channels", row | {"webhook_type": "web_hook", "is_active": "true", "created_at": SEED_TIME})
