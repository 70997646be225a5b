"""What replies and rows of the server have in common: ids, times, people."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records

FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
WORKSPACE = "application/vnd.google-apps."
_BASE_32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_STORED = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")


def new_id(records: Records) -> str:
    """A ULID: ten letters of the time, sixteen of what follows from the session's history."""
    moment = int(datetime.fromisoformat(records.now).replace(tzinfo=UTC).timestamp() * 1000)
    return _base_32(moment, 10) + _base_32(int(records.ids.hex(20), 16), 16)


def _base_32(number: int, length: int) -> str:
    letters = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        letters.append(_BASE_32[digit])
    return "".join(reversed(letters))


def shown_time(value: Any) -> Any:
    """A stored time as replies show it."""
    if isinstance(value, str) and _STORED.match(value):
        return f"{value[:10]}T{value[11:]}Z"
    return value


def stored_time(name: str, value: str) -> str:
    """A sent time as it is stored: UTC, to the second. Raises ToolFailure."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ToolFailure(f"Invalid value for {name}: {value}") from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def decoded(value: Any) -> Any:
    """What a JSON column holds."""
    return json.loads(value) if isinstance(value, str) and value else value


def flag(value: Any) -> bool:
    return bool(value)


def parts(text: str | None) -> list[str]:
    """The items of a text that separates them by commas."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def user_item(records: Records, user_id: str | None) -> dict[str, Any] | None:
    user = records.first("users", {"id": user_id}) if user_id else None
    if user is None:
        return None
    return {
        "kind": "drive#user",
        "displayName": user["display_name"],
        "photoLink": user["photo_url"],
        "me": user["id"] == records.caller["id"],
        "permissionId": user["permission_id"],
        "emailAddress": user["email"],
    }


def page(items: Sequence[Any], token: str | None, size: int) -> tuple[list[Any], str | None]:
    """The items of one page and the token of the next: the decimal offset. Raises ToolFailure for another token."""
    if token is not None and not token.isdecimal():
        raise ToolFailure(f"Invalid page token: {token}")
    start = int(token or 0)
    following = str(start + size) if start + size < len(items) else None
    return list(items[start : start + size]), following


def listing(kind: str, name: str, items: Sequence[Any], following: str | None) -> dict[str, Any]:
    reply: dict[str, Any] = {"kind": kind}
    if following is not None:
        reply["nextPageToken"] = following
    return {**reply, name: list(items)}
