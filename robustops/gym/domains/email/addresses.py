"""Delegates, filters, and the addresses that mail is forwarded to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.email.caller import mine, touched, writing
from robustops.gym.domains.email.mailbox import label_id
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records

MOST_FILTERS = 1000
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_CRITERIA = ("from", "to", "subject", "query", "negatedQuery", "hasAttachment", "excludeChats", "size")


def is_own_domain(db: Records, email: str) -> bool:
    """Addresses of the caller's own domain need no verification."""
    return email.rpartition("@")[2].lower() == (db.caller["primary_email"] or "").rpartition("@")[2].lower()


def check_email(email: str) -> None:
    if not _EMAIL.fullmatch(email):
        raise ToolFailure(f"Invalid email address: {email}")


def _create_delegate(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A colleague, not oneself, once. Accepted at once."""
    email = arguments["delegateEmail"]
    if email.lower() == (db.caller["primary_email"] or "").lower():
        raise ToolFailure("Cannot delegate to yourself")
    if not db.count("users", {"primary_email": email}):
        raise ToolFailure(f"Delegate must be a user of the same organization: {email}")
    if db.count("delegates", {**mine(db), "delegate_email": email}):
        raise ToolFailure(f"Delegate already exists: {email}")
    row = db.add("delegates", {**mine(db), "delegate_email": email})
    return {"delegateEmail": email, "verificationStatus": row["verification_status"]}


def _create_filter(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """For mail to come: stored messages stay as they are. Raises ToolFailure."""
    given, action = arguments["criteria"], {k: v for k, v in arguments["action"].items() if v is not None}
    for name in [*(action.get("addLabelIds") or ()), *(action.get("removeLabelIds") or ())]:
        if label_id(db, name) is None:
            raise ToolFailure(f"Invalid label: {name}")
    if not action:
        raise ToolFailure("Filter must have an action")
    if db.count("filters", mine(db)) >= MOST_FILTERS:
        raise ToolFailure(f"Filter limit of {MOST_FILTERS} reached")
    criteria = {name: given[name] for name in (*_CRITERIA, "sizeComparison")}
    row = {"id": f"filter_{db.ids.uuid()}", **mine(db), "criteria_json": criteria, "action_json": action}
    return {"id": db.add("filters", row)["id"], "criteria": criteria, "action": action}


def _create_forwarding(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    email = arguments["forwardingEmail"]
    check_email(email)
    if db.count("forwarding_addresses", {**mine(db), "forwarding_email": email}):
        raise ToolFailure(f"Forwarding address already exists: {email}")
    status = "accepted" if is_own_domain(db, email) else "pending"
    db.add("forwarding_addresses", {**mine(db), "forwarding_email": email, "verification_status": status})
    return {"forwardingEmail": email, "verificationStatus": status}


def _delete_forwarding(db: Records, arguments: Mapping[str, Any]) -> None:
    """Mail is not forwarded to it any more."""
    email = arguments["forwardingEmail"]
    if not db.remove("forwarding_addresses", {**mine(db), "forwarding_email": email}):
        raise ToolFailure(f"Forwarding address not found: {email}")
    used = {**mine(db), "email_address": email, "enabled": 1}
    if db.count("auto_forwarding", used):
        db.change("auto_forwarding", used, {"enabled": 0, **touched(db)})


KINDS = {
    "create_delegate": writing(_create_delegate),
    "create_filter": writing(_create_filter),
    "create_forwarding_address": writing(_create_forwarding),
    "delete_forwarding_address": writing(_delete_forwarding),
}
