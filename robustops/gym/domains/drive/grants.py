"""Rows of the permissions table: how one is written, and how one is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.wire import flag, new_id
from robustops.gym.operations.records import Records, Row


def add_grant(records: Records, file: Row, values: Mapping[str, Any]) -> Row:
    """Whoever is granted access beside the owner makes the file a shared one."""
    grant = records.add("permissions", {"id": new_id(records), "file_id": file["id"], **values})
    if values["role"] != "owner" and not file["shared"]:
        records.change("files", {"id": file["id"]}, {"shared": 1})
    return grant


def grant_item(records: Records, grant: Row) -> dict[str, Any]:
    user = records.first("users", {"id": grant["user_id"]}) if grant["user_id"] else None
    group = records.first("groups", {"id": grant["group_id"]}) if grant["group_id"] else None
    known = user or group or {}
    item: dict[str, Any] = {
        "kind": "drive#permission",
        "id": grant["id"],
        "type": grant["type"],
        "role": grant["role"],
        "emailAddress": grant["email_address"] or known.get("email"),
        "displayName": known.get("display_name") or known.get("name") or grant["domain"],
        "domain": grant["domain"],
        "allowFileDiscovery": flag(grant["allow_file_discovery"]),
        "deleted": flag(grant["deleted"]),
        "view": grant["view"],
        "pendingOwner": flag(grant["pending_owner"]),
    }
    if grant["expiration_time"]:
        item["expirationTime"] = grant["expiration_time"]
    if grant["inherited"]:
        item["permissionDetails"] = [
            {"inherited": True, "inheritedFrom": grant["inherited_from"], "role": grant["role"]}
        ]
    return item
