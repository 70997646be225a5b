"""Access rules. Whom a rule is about lies in a row of its own, which several rules share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.access import RANKS
from robustops.gym.domains.calendar.calendar_list import paged, token
from robustops.gym.domains.calendar.times import shown
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading, writing

PAGE = 100
_SCOPES = ("default", "user", "group", "domain")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_RULES = """SELECT a.*, s.type AS scope_type, s.value AS scope_value
FROM acls AS a JOIN scopes AS s ON a.scope_id = s.id WHERE a.calendar_id = ? AND a.user_id = ?"""


def own_calendar(db: Records, calendar_id: str) -> Row:
    user = db.caller["user_id"]
    calendar = db.first("calendars", {"calendar_id": calendar_id, "user_id": user, "deleted": 0})
    if calendar is None:
        raise ToolFailure(f"Calendar {calendar_id} not found for user {user}")
    return calendar


def _item(rule: Row) -> dict[str, Any]:
    head = {name: rule[name] for name in ("id", "calendar_id", "user_id", "role", "etag")}
    return {**head, "scope": {"type": rule["scope_type"], "value": rule["scope_value"]}}


def _written(db: Records, rule_id: str) -> dict[str, Any]:
    (rule,) = db.select(f"{_RULES} AND a.id = ?", (*_owner(db, rule_id), rule_id))
    scope = {"type": rule["scope_type"], "value": rule["scope_value"]}
    return {"kind": "calendar#aclRule", "etag": rule["etag"], "id": rule["id"], "scope": scope, "role": rule["role"]}


def _owner(db: Records, rule_id: str) -> tuple[str, str]:
    (rule,) = db.find("acls", {"id": rule_id})
    return rule["calendar_id"], rule["user_id"]


def _list(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    calendar = own_calendar(db, arguments["calendarId"])
    shown_roles = "" if arguments.get("showDeleted") else " AND a.role != 'none'"
    values = (calendar["calendar_id"], db.caller["user_id"])
    rules = db.select(f"{_RULES}{shown_roles} ORDER BY a.created_at, a.id", values)
    page, next_page = paged(rules, arguments, size=PAGE)
    changed = max((rule["updated_at"] for rule in rules if rule["updated_at"]), default=None)
    return {
        "kind": "calendar#acl",
        "etag": f"etag-acl-{calendar['calendar_id']}",
        "items": [_item(rule) for rule in page],
        "nextPageToken": next_page,
        "nextSyncToken": None if changed is None else token(shown(changed) or ""),
    }


def _get(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    values = (arguments["calendarId"], db.caller["user_id"], arguments["ruleId"])
    found = db.select(f"{_RULES} AND a.id = ?", values)
    if not found:
        raise ToolFailure("ACL rule not found")
    return _item(found[0])


def _check(arguments: Mapping[str, Any]) -> None:
    """Role and scope are plain texts in the schema, and checked all the same."""
    faults = []
    scope = arguments.get("scope") or {}
    kind, value = scope.get("type"), scope.get("value")
    if kind is not None and kind not in _SCOPES:
        faults.append("- scope.type: Input should be 'default', 'user', 'group' or 'domain'")
    if kind in ("user", "group") and value is None:
        raise ToolFailure('API Error: {\n  "error": "Internal server error"\n}')  # the server crashes
    if kind in ("user", "group") and not _EMAIL.fullmatch(str(value)):
        faults.append(f"- scope: scope.value must be a valid email address for type '{kind}'")
    role = arguments.get("role")
    if role is not None and role not in RANKS:
        faults.append("- role: Input should be 'none', 'freeBusyReader', 'reader', 'writer' or 'owner'")
    if faults:
        raise ToolFailure("\n".join(["Validation errors:", *faults]))


def _insert(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The scope must be known already. The same rule may be there twice."""
    _check(arguments)
    calendar = own_calendar(db, arguments["calendarId"])
    kind, value = arguments["scope"]["type"], arguments["scope"].get("value")
    scope = db.first("scopes", {"type": kind, "value": value})
    if scope is None:
        raise ToolFailure(f"Scope (ScopeType.{kind}, {value}) not found")
    row = {"calendar_id": calendar["calendar_id"], "user_id": db.caller["user_id"], "scope_id": scope["id"]}
    rule = db.add("acls", {**row, "role": arguments["role"], "etag": f'"{db.ids.uuid()}"'})
    return _written(db, rule["id"])


def _change(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A scope that is given is written into the shared row, and so changes every rule about it."""
    _check(arguments)
    own_calendar(db, arguments["calendarId"])
    key = {"id": arguments["ruleId"], "calendar_id": arguments["calendarId"], "user_id": db.caller["user_id"]}
    rule = db.first("acls", key)
    if rule is None:
        raise ToolFailure("ACL rule not found")
    if scope := {name: value for name, value in (arguments.get("scope") or {}).items() if value is not None}:
        if scope.get("type") in ("user", "group"):
            _check_user(db, scope["value"])
        db.change("scopes", {"id": rule["scope_id"]}, scope)
    role = {"role": arguments["role"]} if arguments.get("role") else {}
    db.change("acls", {"id": rule["id"]}, {**role, "updated_at": db.now})
    return _written(db, rule["id"])


def _check_user(db: Records, email: str) -> None:
    if not db.count("users", {"email": email, "is_active": 1}):
        raise ToolFailure(f"User with email '{email}' not found or not active")


def _delete(db: Records, arguments: Mapping[str, Any]) -> None:
    calendar_id, rule_id = arguments["calendarId"], arguments["ruleId"]
    own_calendar(db, calendar_id)
    if not db.remove("acls", {"id": rule_id, "calendar_id": calendar_id}):
        raise ToolFailure(f"ACL rule '{rule_id}' not found for calendar '{calendar_id}'")


KINDS = {
    "list_rules": reading(_list),
    "get_rule": reading(_get),
    "insert_rule": writing(_insert),
    "update_rule": writing(_change),
    "patch_rule": writing(_change),
    "delete_rule": writing(_delete),
}
