"""Channels that tell of changes: an id of the caller's choice, open for a day. Nothing is ever sent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from robustops.gym.domains.calendar.access import READERS, reached
from robustops.gym.domains.calendar.acl import own_calendar
from robustops.gym.domains.calendar.event_children import is_https
from robustops.gym.domains.calendar.times import read, shown, stored
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, writing

OPEN_FOR = timedelta(hours=24)
_TYPES = ("web_hook", "webhook")
_EVENT_TYPES = ("birthday", "default", "focusTime", "fromGmail", "outOfOffice", "workingLocation")


def _open(
    db: Records, arguments: Mapping[str, Any], *, what: str, of: str, named: str, uri: str, taken: str = ""
) -> dict[str, Any]:
    """`what`: the kind of resource, `named` at the head of its id. `taken`: what a refused id is told after."""
    if not is_https(arguments["address"]):
        raise ToolFailure("Validation errors:\n- address: address must be an https URL")
    if arguments["type"] not in _TYPES:
        raise ToolFailure("Validation errors:\n- type: Input should be 'web_hook'")
    if db.count("watch_channels", {"id": arguments["id"]}):
        raise ToolFailure(f"{taken}Channel with Id {arguments['id']} already exists")
    expires = read(db.now) + OPEN_FOR
    user = db.caller["user_id"]
    row = {"id": arguments["id"], "resource_id": f"{named}-{of}-{db.ids.hex(8)}", "resource_uri": uri}
    row |= {"resource_type": what, "calendar_id": of, "user_id": user, "webhook_address": arguments["address"]}
    row |= {"webhook_token": arguments.get("token"), "webhook_type": "web_hook", "expires_at": stored(expires)}
    params = {**(arguments.get("params") or {})}
    if arguments.get("eventTypes"):
        params["eventTypes"] = arguments["eventTypes"]
    channel = db.add("watch_channels", {**row, "params": params or None})
    return {
        "kind": "api#channel",
        "id": channel["id"],
        "resourceId": channel["resource_id"],
        "resourceUri": uri,
        "token": channel["webhook_token"],
        "expiration": f"{shown(channel['expires_at'])}Z",
    }


def _events(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    kind = arguments.get("eventTypes")
    if kind and kind not in _EVENT_TYPES:
        listed = ", ".join(f"'{name}'" for name in _EVENT_TYPES)
        raise ToolFailure(f"Invalid eventType value '{kind}'. Acceptable values are: {listed}")
    own = reached(db, arguments["calendarId"], READERS)["calendar_id"]
    uri = f"/calendars/{own}/events" + (f"?eventTypes={kind}" if kind else "")
    return _open(db, arguments, what="event", of=own, named="events", uri=uri)


def _calendars(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    user = db.caller["user_id"]
    return _open(db, arguments, what="calendar_list", of=user, named="calendarList", uri="/calendars/me/calendarList")


def _settings(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    user = db.caller["user_id"]
    return _open(db, arguments, what="settings", of=user, named="settings", uri=f"/calendars/{user}/settings")


def _rules(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    own = own_calendar(db, arguments["calendarId"])["calendar_id"]
    uri, taken = f"/calendars/{own}/acl", "Internal server error: "
    return _open(db, arguments, what="acl", of=own, named="acl", uri=uri, taken=taken)


KINDS = {
    "watch_events": writing(_events),
    "watch_calendars": writing(_calendars),
    "watch_settings": writing(_settings),
    "watch_rules": writing(_rules),
}
