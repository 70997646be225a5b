"""Who may do what on which calendar. A calendar is reached by its owner alone, whatever rules others hold on it."""

from __future__ import annotations

from collections.abc import Sequence

from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

RANKS = {"none": 0, "freeBusyReader": 1, "reader": 2, "writer": 3, "owner": 4}
READERS, WRITERS, OWNERS = ("reader", "writer", "owner"), ("writer", "owner"), ("owner",)
_ROLES = """SELECT a.role AS role FROM acls AS a JOIN scopes AS s ON a.scope_id = s.id
WHERE a.calendar_id = ? AND s.type = 'user' AND s.value = ?"""


def roles_on(db: Records, calendar_id: str) -> list[str]:
    return [row["role"] for row in db.select(_ROLES, (calendar_id, db.caller["email"]))]


def role_on(db: Records, calendar_id: str) -> str:
    """The caller's highest role."""
    return max(roles_on(db, calendar_id), key=lambda role: RANKS.get(role, 0), default="none")


def reached(db: Records, calendar_id: str, roles: Sequence[str]) -> Row:
    """The caller's own calendar, where one of the roles is held. Raises ToolFailure."""
    calendar = db.first("calendars", {"calendar_id": calendar_id})
    if calendar is None:
        raise ToolFailure(f"Calendar with id '{calendar_id}' does not exist")
    user = db.caller["user_id"]
    if calendar["user_id"] != user:
        raise ToolFailure(f"Calendar with id '{calendar_id}' does not exist for user {user}")
    if not set(roles_on(db, calendar_id)) & set(roles):
        raise ToolFailure(f"User '{user}' lacks required roles: {list(roles)}")
    return calendar


def named(db: Records, calendar_id: str) -> str:
    """`primary` stands for the caller's primary calendar."""
    if calendar_id == "primary":
        primary = db.first("calendars", {"user_id": db.caller["user_id"], "is_primary": 1})
        return calendar_id if primary is None else str(primary["calendar_id"])
    return calendar_id
