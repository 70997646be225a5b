"""Webinars and town halls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.teams.people import known_user
from robustops.gym.domains.teams.places import tenant_of
from robustops.gym.domains.teams.wire import CONTEXT, flag
from robustops.gym.operations.kind import Mishap, ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

WEBINARS, TOWNHALLS = "virtual_event_webinars", "virtual_event_townhalls"
# The real server writes a town hall and then fails to show it: every call, with this text.
TOWNHALL_MISHAP = (
    "Failed to create townhall: schemas.virtual_event_townhall.VirtualEventTownhallResponse() "
    "argument after ** must be a mapping, not NoneType"
)


def _event_columns(records: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{records.ids.uuid()}@{records.ids.uuid()}",
        "org_id": records.caller["org_id"],
        "display_name": arguments["displayName"],
        "description_content": arguments["description"]["content"],
        "description_content_type": arguments["description"]["contentType"],
        "start_date_time": arguments["startDateTime"]["dateTime"],
        "start_time_zone": arguments["startDateTime"]["timeZone"],
        "end_date_time": arguments["endDateTime"]["dateTime"],
        "end_time_zone": arguments["endDateTime"]["timeZone"],
        "audience": arguments["audience"],
        "created_by_user_id": records.caller["user_id"],
        "created_by_display_name": records.caller["display_name"],
        "is_attendee_email_notification_enabled": bool(
            (arguments.get("settings") or {}).get("isAttendeeEmailNotificationEnabled")
        ),
    }


def _organizers(records: Records, arguments: Mapping[str, Any]) -> list[str]:
    return [known_user(records, one["id"])["user_id"] for one in arguments.get("coOrganizers", [])]


def _item(records: Records, event: Row, kind: str, people: list[Row]) -> dict[str, Any]:
    tenant = tenant_of(records)
    creator = {
        "@odata.type": "#microsoft.graph.communicationsUserIdentity",
        "id": event["created_by_user_id"],
        "displayName": event["created_by_display_name"],
        "tenantId": tenant,
    }
    return {
        "@odata.type": f"#microsoft.graph.{kind}",
        "id": event["id"],
        "status": event["status"],
        "displayName": event["display_name"],
        "description": {"contentType": event["description_content_type"], "content": event["description_content"]},
        "startDateTime": {"dateTime": event["start_date_time"], "timeZone": event["start_time_zone"]},
        "endDateTime": {"dateTime": event["end_date_time"], "timeZone": event["end_time_zone"]},
        "audience": event["audience"],
        "createdBy": {"application": None, "device": None, "user": creator},
        "coOrganizers": [_person(records, one["user_id"], tenant) for one in people],
        "settings": {"isAttendeeEmailNotificationEnabled": flag(event["is_attendee_email_notification_enabled"])},
        "externalEventInformation": [],
    }


def _person(records: Records, user_id: str, tenant: str) -> dict[str, Any]:
    user = records.first("teams_users", {"org_id": records.caller["org_id"], "user_id": user_id})
    return {"id": user_id, "tenantId": tenant, "displayName": user["display_name"] if user else None}


def _webinar(records: Records, event: Row) -> dict[str, Any]:
    people = records.find("virtual_event_webinar_coorganizers", {"webinar_id": event["id"]})
    return _item(records, event, "virtualEventWebinar", people)


def _townhall(records: Records, event: Row) -> dict[str, Any]:
    people = records.find("virtual_event_townhall_coorganizers", {"townhall_id": event["id"]})
    guests = records.find("virtual_event_townhall_invited_attendees", {"townhall_id": event["id"]})
    tenant = tenant_of(records)
    return {
        **_item(records, event, "virtualEventTownhall", people),
        "isInviteOnly": flag(event["is_invite_only"]),
        "invitedAttendees": [_person(records, guest["identity_id"], tenant) for guest in guests],
    }


def _create_webinar(records: Records, arguments: Mapping[str, Any]) -> Any:
    people = _organizers(records, arguments)
    event = records.add(WEBINARS, _event_columns(records, arguments))
    for user_id in people:
        row = {"webinar_id": event["id"], "org_id": event["org_id"], "user_id": user_id}
        records.add("virtual_event_webinar_coorganizers", row)
    return _webinar(records, event)


def _create_townhall(records: Records, arguments: Mapping[str, Any]) -> Any:
    people = _organizers(records, arguments)
    guests = [known_user(records, one["id"])["user_id"] for one in arguments.get("invitedAttendees", [])]
    values = {**_event_columns(records, arguments), "is_invite_only": arguments.get("isInviteOnly", False)}
    event = records.add(TOWNHALLS, values)
    place = {"townhall_id": event["id"], "org_id": event["org_id"]}
    for user_id in people:
        records.add("virtual_event_townhall_coorganizers", {**place, "user_id": user_id})
    for user_id in guests:
        records.add("virtual_event_townhall_invited_attendees", {**place, "identity_id": user_id})
    return Mishap(TOWNHALL_MISHAP)


def _known(records: Records, table: str, kind: str, event_id: str) -> Row:
    event = records.first(table, {"org_id": records.caller["org_id"], "id": event_id})
    if event is None:
        raise ToolFailure(f"{kind} not found: {event_id}")
    return event


def _get_webinar(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _webinar(records, _known(records, WEBINARS, "Webinar", arguments["webinar_id"]))


def _list_webinars(records: Records, arguments: Mapping[str, Any]) -> Any:
    events = records.find(WEBINARS, {"org_id": records.caller["org_id"]})
    return _listing("webinars", [_webinar(records, event) for event in events])


def _list_townhalls(records: Records, arguments: Mapping[str, Any]) -> Any:
    events = records.find(TOWNHALLS, {"org_id": records.caller["org_id"]})
    return _listing("townhalls", [_townhall(records, event) for event in events])


def _listing(name: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    shown = items[:100]
    return {
        "@odata.context": f"{CONTEXT}solutions/virtualEvents/{name}",
        "@odata.count": len(shown),
        "value": shown,
    }


def _own(records: Records, event: Row, doing: str) -> None:
    """Raises ToolFailure unless the caller created the event."""
    if event["created_by_user_id"] != records.caller["user_id"]:
        raise ToolFailure(f"Only the organizer can {doing}")


def _publish_webinar(records: Records, arguments: Mapping[str, Any]) -> Any:
    event = _known(records, WEBINARS, "Webinar", arguments["webinar_id"])
    _own(records, event, "publish the webinar")
    if event["status"] == "canceled":
        raise ToolFailure("Cannot publish a canceled webinar")
    _set_status(records, WEBINARS, event, "published")


def _cancel_webinar(records: Records, arguments: Mapping[str, Any]) -> Any:
    event = _known(records, WEBINARS, "Webinar", arguments["webinar_id"])
    _own(records, event, "cancel the webinar")
    _set_status(records, WEBINARS, event, "canceled")


def _cancel_townhall(records: Records, arguments: Mapping[str, Any]) -> Any:
    event = _known(records, TOWNHALLS, "Townhall", arguments["townhall_id"])
    _own(records, event, "cancel the townhall")
    _set_status(records, TOWNHALLS, event, "canceled")


def _set_status(records: Records, table: str, event: Row, status: str) -> None:
    records.change(table, {"id": event["id"]}, {"status": status, "updated_at": records.now})


KINDS = {
    "create_virtual_event_webinar": writing(_create_webinar),
    "get_virtual_event_webinar": reading(_get_webinar),
    "list_virtual_event_webinars": reading(_list_webinars),
    "publish_virtual_event_webinar": writing(_publish_webinar),
    "cancel_virtual_event_webinar": writing(_cancel_webinar),
    "create_virtual_event_townhall": writing(_create_townhall),
    "list_virtual_event_townhalls": reading(_list_townhalls),
    "cancel_virtual_event_townhall": writing(_cancel_townhall),
}
