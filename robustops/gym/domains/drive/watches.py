"""Channels on which the server notifies of changes. Nothing is ever delivered here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from robustops.gym.domains.drive.access import known_drive, known_file
from robustops.gym.domains.drive.wire import new_id, stored_time
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, writing

_CHANGES_URL = "https://www.googleapis.com/drive/v3/changes"


def _open(records: Records, arguments: Mapping[str, Any], resource: Mapping[str, Any], expiration: str | None) -> Any:
    if records.first("channels", {"id": arguments["id"]}):
        raise ToolFailure(f"Channel id not unique: {arguments['id']}")
    records.add(
        "channels",
        {
            "id": arguments["id"],
            **resource,
            "type": arguments.get("type", "web_hook"),
            "address": arguments["address"],
            "token": arguments.get("token"),
            "payload": arguments.get("payload"),
            "params": arguments.get("params"),
            "expiration": expiration,
            "user_id": records.caller["id"],
        },
    )
    shown = {"resourceId": resource["resource_id"], "resourceUri": resource["resource_uri"]}
    token = {"token": arguments["token"]} if "token" in arguments else {}
    return {"kind": "api#channel", "id": arguments["id"], **shown, **token, "expiration": expiration}


def _milliseconds(text: str) -> str:
    moment = datetime.fromisoformat(stored_time("expiration", text)).replace(tzinfo=UTC)
    return str(int(moment.timestamp() * 1000))


def _watch_file(records: Records, arguments: Mapping[str, Any]) -> Any:
    known_file(records, arguments["fileId"])
    resource = {"resource_id": arguments["resourceId"], "resource_uri": arguments["resourceUri"]}
    expiration = arguments.get("expiration")
    return _open(records, arguments, resource, None if expiration is None else _milliseconds(expiration))


def _watch_changes(records: Records, arguments: Mapping[str, Any]) -> Any:
    if "driveId" in arguments:
        known_drive(records, arguments["driveId"])
    address = f"{_CHANGES_URL}?pageToken={arguments['pageToken']}"
    resource = {
        "resource_id": arguments.get("resourceId") or new_id(records),
        "resource_uri": arguments.get("resourceUri") or address,
    }
    expiration = arguments.get("expiration")
    return _open(records, arguments, resource, None if expiration is None else str(expiration))


def _stop(records: Records, arguments: Mapping[str, Any]) -> Any:
    where = {"id": arguments["id"], "resource_id": arguments["resourceId"], "active": 1}
    channel = records.first("channels", where)
    if channel is None or (channel["token"] and arguments.get("token", channel["token"]) != channel["token"]):
        raise ToolFailure(f"Channel not found: {arguments['id']}")
    records.change("channels", {"id": channel["id"]}, {"active": 0})


KINDS = {
    "watch_files": writing(_watch_file),
    "watch_changes": writing(_watch_changes),
    "stop_channels": writing(_stop),
}
