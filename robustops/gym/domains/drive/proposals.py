"""Requests for access, which those who may share the file approve or deny."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.drive.access import ROLES, known_file
from robustops.gym.domains.drive.changes import log_change
from robustops.gym.domains.drive.grants import add_grant
from robustops.gym.domains.drive.wire import decoded, listing, page, shown_time
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

_STATUS = {"ACCEPT": "approved", "DENY": "denied"}


def _item(proposal: Row) -> dict[str, Any]:
    roles = decoded(proposal["proposed_roles"]) or []
    return {
        "kind": "drive#accessProposal",
        "fileId": proposal["file_id"],
        "proposalId": proposal["id"],
        "requesterEmailAddress": proposal["requester_email"],
        "recipientEmailAddress": proposal["recipient_email"],
        "rolesAndViews": [{"role": role, "view": proposal["proposed_view"]} for role in roles],
        "requestMessage": proposal["request_message"],
        "status": proposal["status"],
        "createTime": shown_time(proposal["created_at"]),
    }


def _known(records: Records, arguments: Mapping[str, Any]) -> Row:
    file = known_file(records, arguments["fileId"], "writer")
    proposal = records.first("access_proposals", {"id": arguments["proposalId"], "file_id": file["id"]})
    if proposal is None:
        raise ToolFailure(f"Access proposal not found: {arguments['proposalId']}")
    return proposal


def _get(records: Records, arguments: Mapping[str, Any]) -> Any:
    return _item(_known(records, arguments))


def _list(records: Records, arguments: Mapping[str, Any]) -> Any:
    file = known_file(records, arguments["fileId"], "writer")
    rows = records.find("access_proposals", {"file_id": file["id"]}, order="created_at, rowid")
    shown, following = page(rows, arguments.get("pageToken"), arguments.get("pageSize", 100))
    return listing("drive#accessProposalList", "accessProposals", [_item(row) for row in shown], following)


def _resolve(records: Records, arguments: Mapping[str, Any]) -> Any:
    """An accepted request becomes a permission with the strongest of the allowed roles."""
    proposal = _known(records, arguments)
    action, roles = arguments["action"], arguments.get("role", [])
    if action not in _STATUS:
        raise ToolFailure("action must be ACCEPT or DENY")
    if proposal["status"] != "pending":
        raise ToolFailure(f"Access proposal is already {proposal['status']}: {proposal['id']}")
    if action == "ACCEPT":
        if not roles:
            raise ToolFailure("role is required for the ACCEPT action")
        if unknown := [role for role in roles if role not in ROLES or role == "owner"]:
            raise ToolFailure(f"Invalid value for role: {unknown[0]}")
        file = records.find("files", {"id": proposal["file_id"]})[0]
        _grant(records, file, proposal["requester_email"], max(roles, key=ROLES.index), arguments.get("view"))
        log_change(records, "perm_created", file=file)
    moment = f"{records.now.replace(' ', 'T')}.000Z"
    values = {"status": _STATUS[action], "resolved_at": moment, "resolved_by_email": records.caller["email"]}
    records.change("access_proposals", {"id": proposal["id"]}, values)


def _grant(records: Records, file: Row, email: str, role: str, view: str | None) -> None:
    user = records.first("users", {"email": email})
    held = records.first("permissions", {"file_id": file["id"], "user_id": user["id"], "deleted": 0}) if user else None
    if held is not None:
        records.change("permissions", {"id": held["id"]}, {"role": role, "updated_time": records.now})
        return
    grantee = {"type": "user", "user_id": user["id"] if user else None, "email_address": email}
    add_grant(records, file, {"role": role, "view": view, **grantee})


KINDS = {
    "get_accessproposals": reading(_get),
    "list_accessproposals": reading(_list),
    "resolve_accessproposals": writing(_resolve),
}
