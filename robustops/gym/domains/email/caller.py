"""Whose mailbox a call is about: the caller's own, named `me` or by its address. Others are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.operations import records
from robustops.gym.operations.kind import Call, Kind, ToolFailure
from robustops.gym.operations.records import Handler, Records


def check_user(caller: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raises ToolFailure."""
    user = arguments.get("userId", "me")
    if user not in ("me", caller["id"]) and user.lower() != (caller["primary_email"] or "").lower():
        raise ToolFailure(f"Delegation denied for {user}")


def checked(call: Call, arguments: Mapping[str, Any]) -> None:
    check_user(call.caller, arguments)


def _own(run: Handler) -> Handler:
    def guarded(db: Records, arguments: Mapping[str, Any]) -> Any:
        check_user(db.caller, arguments)
        return run(db, arguments)

    return guarded


def reading(run: Handler) -> Kind:
    return records.reading(_own(run))


def writing(run: Handler) -> Kind:
    return records.writing(_own(run))


def mine(db: Records) -> dict[str, Any]:
    """The condition that holds for the caller's rows."""
    return {"user_id": db.caller["id"]}


def touched(db: Records) -> dict[str, Any]:
    return {"updated_at": db.now, "updated_by": db.caller["id"]}


def page(found: list[Any], arguments: Mapping[str, Any], *, size: int) -> tuple[list[Any], dict[str, str]]:
    """One page, and the token of the next where there is one. Tokens are offsets. Raises ToolFailure."""
    token = arguments.get("pageToken") or "0"
    if not (token.isascii() and token.isdigit()):
        raise ToolFailure("Invalid pageToken")
    start = int(token)
    size = arguments.get("maxResults", arguments.get("pageSize", size))
    more = {"nextPageToken": str(start + size)} if start + size < len(found) else {}
    return found[start : start + size], more
