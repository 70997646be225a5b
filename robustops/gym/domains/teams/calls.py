"""Calls that are started, and the records of those that ended."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from robustops.gym.domains.teams.odata import pick, read_filter, selected
from robustops.gym.domains.teams.wire import CONTEXT, decoded, iso
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

PAGE = 60
_EMPTY_AT_START = (
    *("resultInfo", "mediaState", "toneInfo", "transcription", "answeredBy", "ringingTimeoutInSeconds"),
    *("tenantId", "terminationReason", "meetingCapability"),
)
OPTIONS = {
    "isContentSharingNotificationEnabled": True,
    "isDeltaRosterEnabled": True,
    "isInteractiveRosterEnabled": True,
}
_NEVER_ACTIVE = ("terminated", "terminating")


def _source(sent: Mapping[str, Any]) -> dict[str, Any]:
    """As the server completes it; a user who calls is only known where one is sent."""
    instance = (sent.get("identity") or {}).get("applicationInstance")
    application = None
    if instance:
        application = {"id": instance.get("id"), "displayName": instance.get("displayName"), "tenantId": None}
    return {
        "identity": {"user": None, "application": None, "applicationInstance": application, "phone": None},
        "countryCode": None,
        "endpointType": None,
        "region": None,
        "languageId": None,
    }


def _target(sent: Mapping[str, Any]) -> dict[str, Any]:
    identity = sent.get("identity") or {}
    user, phone = identity.get("user"), identity.get("phone")
    if user:
        user = {
            "@odata.type": "#microsoft.graph.identity",
            "id": user.get("id"),
            "displayName": user.get("displayName"),
            "identityProvider": None,
            "tenantId": None,
        }
    return {
        "@odata.type": "#microsoft.graph.invitationParticipantInfo",
        "identity": {
            "@odata.type": "#microsoft.graph.identitySet",
            "user": user or None,
            "phone": phone or None,
            "application": None,
        },
        "replacesCallId": None,
        "participantId": None,
        "hidden": None,
        "removeFromDefaultAudioRoutingGroup": None,
    }


def _create(records: Records, arguments: Mapping[str, Any]) -> Any:
    source = arguments.get("source")
    media = arguments["mediaConfig"]
    values = {
        "id": records.ids.uuid(),
        "org_id": records.caller["org_id"],
        "callback_uri": arguments["callbackUri"],
        "call_chain_id": records.ids.uuid(),
        "source": None if source is None else _source(source),
        "targets": [_target(target) for target in arguments.get("targets", [])],
        "requested_modalities": arguments["requestedModalities"],
        "media_config": {**media, "@odata.type": media["_odata_type"]},
        "chat_info": arguments.get("chatInfo"),
        "meeting_info": arguments.get("meetingInfo"),
        "my_participant_id": records.ids.uuid(),
        "subject": arguments.get("subject"),
        "call_options": {**OPTIONS, **arguments["callOptions"]} if "callOptions" in arguments else None,
        "tenant_id": arguments.get("tenantId"),
    }
    call = records.add("calls", values)
    reply = {
        "id": call["id"],
        "state": call["state"],
        "direction": call["direction"],
        "callbackUri": call["callback_uri"],
        "callChainId": call["call_chain_id"],
        "source": values["source"],
        "targets": values["targets"],
        "requestedModalities": values["requested_modalities"],
        "activeModalities": [],
        "mediaConfig": values["media_config"],
        "chatInfo": values["chat_info"],
        "meetingInfo": values["meeting_info"],
        "myParticipantId": call["my_participant_id"],
        "subject": call["subject"],
        "callOptions": values["call_options"],
        "callRoutes": [],
        **dict.fromkeys(_EMPTY_AT_START),
        "routingPolicies": [],
    }
    return {**reply, "tenantId": call["tenant_id"]}


def _create_routing_group(records: Records, arguments: Mapping[str, Any]) -> Any:
    where = {"org_id": records.caller["org_id"], "id": arguments["call_id"], "soft_delete": 0}
    call = records.first("calls", where)
    if call is None:
        raise ToolFailure(f"Call not found: {arguments['call_id']}")
    if call["state"] in _NEVER_ACTIVE:
        raise ToolFailure("Call is not in an active state")
    num_receivers = len(arguments["receivers"])
    if (arguments["routingMode"] == "oneToOne") is (num_receivers > 1):
        raise ToolFailure(
            f"routingMode '{arguments['routingMode']}' does not match 1 source and {num_receivers} receivers"
        )
    group = records.add(
        "audio_routing_groups",
        {
            "id": records.ids.uuid(),
            "org_id": call["org_id"],
            "call_id": call["id"],
            "routing_mode": arguments["routingMode"],
            "sources": arguments["sources"],
            "receivers": arguments["receivers"],
        },
    )
    return {
        "@odata.type": "#microsoft.graph.audioRoutingGroup",
        "id": group["id"],
        "routingMode": group["routing_mode"],
        "sources": arguments["sources"],
        "receivers": arguments["receivers"],
    }


def _record_item(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "version": row["version"],
        "type": row["type"],
        "modalities": decoded(row["modalities"]),
        "lastModifiedDateTime": iso(row["last_modified_date_time"]),
        "startDateTime": iso(row["start_date_time"]),
        "endDateTime": iso(row["end_date_time"]),
        "organizer": decoded(row["organizer"]),
        "organizer_v2": decoded(row["organizer_v2"]),
    }


def _participants(row: Row) -> list[dict[str, Any]]:
    """The newer list where there is one; an older participant is its identity alone."""
    newer = decoded(row["participants_v2"])
    if newer:
        return list(newer)
    found = []
    for one in decoded(row["participants"]) or []:
        identity = one.get("identity", one) if isinstance(one, dict) else {"user": {"id": one}}
        found.append({"id": (identity.get("user") or {}).get("id"), "identity": identity})
    return found


def _value(item: Mapping[str, Any], row: Row, path: str) -> Any:
    return _participants(row) if path == "participants_v2" else item.get(path)


def _list_records(records: Records, arguments: Mapping[str, Any]) -> Any:
    where = {"org_id": records.caller["org_id"]}
    rows = records.find("call_records", where, order="start_date_time DESC, rowid")
    items = [(_record_item(row), row) for row in rows]
    if text := arguments.get("_filter"):
        condition = read_filter(text, "whole")
        items = [(item, row) for item, row in items if condition is None or condition(partial(_value, item, row))]
    names = selected(arguments.get("_select"))
    shown = [pick(item, names) for item, _ in items[:PAGE]]
    return {"@odata.context": f"{CONTEXT}communications/callRecords", "value": shown}


def _known_record(records: Records, record_id: str) -> Row:
    row = records.first("call_records", {"org_id": records.caller["org_id"], "id": record_id})
    if row is None:
        raise ToolFailure(f"Call record not found: {record_id}")
    return row


def _get_record(records: Records, arguments: Mapping[str, Any]) -> Any:
    """Sessions are left out where participants are asked for as well."""
    row = _known_record(records, arguments["id"])
    context = f"{CONTEXT}communications/callRecords"
    reply = {"@odata.context": f"{context}/$entity", **pick(_record_item(row), selected(arguments.get("_select")))}
    expanded = arguments.get("_expand", "")
    if "participants_v2" in expanded:
        reply["participants_v2@odata.context"] = f"{context}('{row['id']}')/participants_v2"
        reply["participants_v2"] = _participants(row)
    elif expanded.startswith("sessions"):
        reply["sessions@odata.context"] = f"{context}('{row['id']}')/sessions"
        reply["sessions"] = _session_items(records, row, has_segments="segments" in expanded)
    return reply


def _session_items(records: Records, row: Row, *, has_segments: bool) -> list[dict[str, Any]]:
    found = []
    for session in records.find("call_sessions", {"call_record_id": row["id"]})[:PAGE]:
        item = {
            "id": session["id"],
            "caller": decoded(session["caller"]),
            "callee": decoded(session["callee"]),
            "failureInfo": decoded(session["failure_info"]),
            "modalities": decoded(session["modalities"]),
            "startDateTime": iso(session["start_date_time"]),
            "endDateTime": iso(session["end_date_time"]),
        }
        found.append({**item, "segments": decoded(session["segments"]) or []} if has_segments else item)
    return found


def _list_sessions(records: Records, arguments: Mapping[str, Any]) -> Any:
    row = _known_record(records, arguments["id"])
    has_segments = arguments.get("_expand", "").startswith("segments")
    names = selected(arguments.get("_select"))
    chosen = None if names is None else [*names, "segments"] if has_segments else names
    items = [pick(item, chosen) for item in _session_items(records, row, has_segments=has_segments)]
    return {"@odata.context": f"{CONTEXT}communications/callRecords('{row['id']}')/sessions", "value": items}


KINDS = {
    "create_call": writing(_create),
    "create_audio_routing_group": writing(_create_routing_group),
    "list_call_records": reading(_list_records),
    "get_call_record": reading(_get_record),
    "list_call_sessions": reading(_list_sessions),
}
