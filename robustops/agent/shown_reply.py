"""What a careful reader makes of one shown reply: text in, its kind and rows out. Keys decide, not sentences.

Sees what any agent is shown, in either view: the bare text block, or the result object around it. Knows no fault
label: an incomplete, uncertain or unexecuted call shows in the reply itself, or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ReplyKind = Literal[
    "data",
    "not_executed",  # says that nothing was done
    "incomplete",  # flagged, or cut so that it no longer parses
    "unknown",  # a timeout: done or not
    "error",  # refused; the same call would be refused again
]
Row = Mapping[str, Any]
_WENT_WELL = re.compile(r"\bcompleted successfully\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownReply:
    """`rows`: the objects of a list, or the one object; of an incomplete reply those that did arrive.

    `renamed`: parameters that the tool says have another name now, old to new.
    """

    kind: ReplyKind
    rows: tuple[Row, ...] = ()
    is_list: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)

    def renamed_in(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The same arguments under the names that the tool knows."""
        return {self.renamed.get(name, name): value for name, value in arguments.items()}


def read_reply(content: str) -> ShownReply:
    text = _unwrapped(content)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        is_cut = text.lstrip()[:1] in ("{", "[")
        return ShownReply(kind="incomplete" if is_cut else _kind_of_words(text))
    if isinstance(value, dict):
        if value.get("executed") is False:
            renamed = value.get("renamed")
            return ShownReply(kind="not_executed", renamed=renamed if isinstance(renamed, dict) else {})
        if isinstance(value.get("error"), str):
            return ShownReply(kind=_kind_of_error(value["error"]))
        if value.get("incomplete") is True:
            return _with_rows("incomplete", {k: v for k, v in value.items() if k not in ("incomplete", "returned")})
    return _with_rows("data", value)


def _unwrapped(content: str) -> str:
    """The text block of a result object; anything else as it is."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    blocks = value.get("content") if isinstance(value, dict) else None
    if not isinstance(blocks, list):
        return content
    return next((str(block.get("text", "")) for block in blocks if isinstance(block, dict) and "text" in block), "")


def _kind_of_words(text: str) -> ReplyKind:
    """Plain text is an error, unless it says that all went well: what a call without a result is answered with."""
    return "data" if _WENT_WELL.search(text) else _kind_of_error(text)


def _kind_of_error(text: str) -> ReplyKind:
    words = text.casefold()
    if "not executed" in words:
        return "not_executed"
    if "timeout" in words or "timed out" in words or "outcome is unknown" in words:
        return "unknown"
    return "error"


def _with_rows(kind: ReplyKind, value: Any) -> ShownReply:
    if isinstance(value, list):
        return ShownReply(kind=kind, rows=tuple(row for row in value if isinstance(row, dict)), is_list=True)
    if not isinstance(value, dict) or not value:
        return ShownReply(kind=kind)
    key = _list_key(value)
    if key is not None:
        return ShownReply(kind=kind, rows=tuple(value[key]), is_list=True)
    return ShownReply(kind=kind, rows=(value,))


def _list_key(value: Row) -> str | None:
    """Where an object's records are: `{"users": [...], "total_count": n}`, `{"value": [...]}`, `{"items": [...]}`.

    None for an object with an identity: its arrays are its own.
    """
    arrays = [
        key for key, item in value.items() if isinstance(item, list) and all(isinstance(row, dict) for row in item)
    ]
    stems = {key: key.removesuffix("_id").removesuffix("Id") for key in value}
    if any(key == "id" or (stem != key and stem not in arrays) for key, stem in stems.items()):
        return None
    filled = [key for key in arrays if value[key]] or arrays
    return filled[0] if len(filled) == 1 else next((key for key in ("items", "value") if key in filled), None)


def field_of(row: Row, path: str) -> Any:
    """A field of a row, nested ones by dots and elements of lists by place, such as `parents.0`; None if unset."""
    if path in row:
        return row[path]
    found: Any = row
    for key in path.split("."):
        if isinstance(found, Mapping):
            found = found.get(key)
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found


def is_same(asked: Any, found: Any) -> bool:
    """Equal as a person would read it: 1 and true, 7 and "7", names in any case. What was asked of an object or a list
    must be in it, among whatever else it holds."""
    if isinstance(asked, Mapping):
        return isinstance(found, Mapping) and all(is_same(item, found.get(name)) for name, item in asked.items())
    if isinstance(asked, list):
        return isinstance(found, list) and all(any(is_same(item, other) for other in found) for item in asked)
    return asked == found or str(asked).casefold() == str(found).casefold()


def answers(row: Row, tool: str, arguments: Mapping[str, Any], *, is_list: bool) -> bool:
    """Whether a row fits what was asked: no argument that the row shows contradicts it. Lists match names in part."""
    for name, asked in arguments.items():
        found = row.get(name)
        if name == "name" and found is None and "first_name" in row:
            found = f"{row['first_name']} {row.get('last_name', '')}"
        if found is None and _is_own_id(name, tool):
            found = row.get("id")
        if found is None or is_same(asked, found):
            continue
        if not (is_list and isinstance(asked, str) and asked.casefold() in str(found).casefold()):
            return False
    return True


def _is_own_id(argument: str, tool: str) -> bool:
    """`eventId` of `get_event` is the `id` of its reply; `calendarId` is not."""
    noun = argument.removesuffix("Id").removesuffix("_id").casefold()
    return noun != argument.casefold() and tool.casefold().endswith(f"_{noun}")
