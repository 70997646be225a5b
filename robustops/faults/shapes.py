"""What shape a native reply has: a list of records, one object, or neither. Replies in, shapes out; knows no domain.

Servers differ: a bare array, an object around one array (`{"users": [...], "total_count": 2}`, `{"value": [...]}`,
`{"kind": ..., "defaultReminders": [], "items": [...]}`), one object that may hold arrays of its own, plain text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustops.core.episode import ToolResult

USUAL_LIST_KEYS = ("items", "value")  # where an object holds several arrays, its records are under one of these


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReply:
    """An array of records, or an object around one such array (`key`)."""

    rows: tuple[Any, ...]
    key: str | None
    whole: Any


def parsed(reply: ToolResult | None) -> Any:
    """The reply's text as JSON, or None."""
    if reply is None:
        return None
    try:
        return json.loads(reply.text)
    except json.JSONDecodeError:
        return None


def list_reply(reply: ToolResult | None) -> ListReply | None:
    value = parsed(reply)
    if isinstance(value, list):
        return ListReply(rows=tuple(value), key=None, whole=value)
    key = _list_key(value) if isinstance(value, dict) else None
    return ListReply(rows=tuple(value[key]), key=key, whole=value) if key is not None else None


def _list_key(value: Mapping[str, Any]) -> str | None:
    """The key of the records; None for an object with an identity, whose arrays belong to it and were not asked for."""
    arrays = [key for key, inner in value.items() if _is_of_objects(inner)]
    if any(_is_identity(key, arrays) for key in value):
        return None
    filled = [key for key in arrays if value[key]]
    for found in (filled, arrays):
        if len(found) == 1:
            return found[0]
        if usual := [key for key in USUAL_LIST_KEYS if key in found]:
            return usual[0]
    return None


def _is_identity(key: str, arrays: Sequence[str]) -> bool:
    """`historyId` beside an array `history` is a mark in that list and no identity."""
    stem = key.removesuffix("_id").removesuffix("Id")
    return key == "id" or (stem != key and stem not in arrays)


def _is_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def written_like(native_text: str, value: Any) -> str:
    """`value` as JSON in the style of the native text: some servers indent."""
    return json.dumps(value, ensure_ascii=False, indent=2 if "\n" in native_text.strip() else None)
