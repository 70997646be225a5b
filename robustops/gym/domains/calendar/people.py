"""Users by address, and the caller's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domains.calendar.times import shown
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row, reading

_TEXTS = ("email", "name", "given_name", "family_name", "picture", "locale", "timezone")
_TIMES = ("created_at", "updated_at", "last_login_at")


def _user(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    row = db.first("users", {"email": arguments["email"]})
    if row is None:
        raise ToolFailure(f"User not found with email: {arguments['email']}")
    flags = {name: bool(row[name]) for name in ("is_active", "is_verified")}
    texts = {name: row[name] for name in _TEXTS}
    times = {name: shown(row[name]) for name in _TIMES}
    return {"id": row["user_id"], **texts, **flags, "provider": row["provider"], **times}


def _setting(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in ("etag", "id", "value", "user_id")}


def _settings(db: Records, _arguments: Mapping[str, Any]) -> dict[str, Any]:
    rows = db.find("settings", {"user_id": db.caller["user_id"]})
    return {"etag": "settings-collection-etag", "items": [_setting(row) for row in rows], "nextPageToken": None}


def _get_setting(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    user, name = db.caller["user_id"], arguments["settingId"]
    row = db.first("settings", {"id": name, "user_id": user})
    if row is None:
        raise ToolFailure(f"Setting {name} not found for user {user}")
    return _setting(row)


KINDS = {"get_user": reading(_user), "list_settings": reading(_settings), "get_setting": reading(_get_setting)}
