"""Family `reply_mixup`: a well-formed reply to another request. Sound recovery: compare ids, read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, parsed
from robustops.faults.replies import with_text
from robustops.gym.session import Session


class SwappedReply:
    """A read of one object is answered with another row of the same table, in the native form."""

    subtype = "swapped_reply"
    executes = True
    needs_snapshot = False

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return attempt.is_read and bool(await _others(attempt, session))

    async def reply(self, attempt: Attempt, session: Session, rng: Random) -> ToolResult:
        row = rng.choice(await _others(attempt, session))
        return with_text(attempt.native, json.dumps(row, ensure_ascii=False))


async def _others(attempt: Attempt, session: Session) -> list[dict[str, Any]]:
    """Other objects of the type that was read, with exactly the keys of the native reply, in order of identity."""
    native = parsed(attempt.native)
    if not isinstance(native, dict) or any(isinstance(value, dict | list) for value in native.values()):
        return []
    identity = next((key for key in native if key == "id" or key.endswith("_id")), None)
    if identity is None or native[identity] is None:
        return []
    table = await _table_with(tuple(native), session, attempt.tool.gym)
    if table is None:
        return []
    columns = ", ".join(_quoted(key) for key in native)
    rows = await _rows(session, f"SELECT {columns} FROM {_quoted(table)} ORDER BY {_quoted(identity)}", attempt)
    # The row itself must be there: a computed object that happens to share column names is no row of this table.
    if not any(row.get(identity) == native[identity] for row in rows):
        return []
    return [{key: row.get(key) for key in native} for row in rows if row.get(identity) != native[identity]]


async def _table_with(keys: tuple[str, ...], session: Session, gym: str) -> str | None:
    """The table that has all these columns; the narrowest where several do."""
    reply = await session.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", gym)
    candidates: list[tuple[int, str]] = []
    for entry in reply.get("data", ()):
        sample = await session.query(f"SELECT * FROM {_quoted(entry['name'])} LIMIT 1", gym)
        columns = set(sample["data"][0]) if sample.get("data") else set()
        if columns.issuperset(keys):
            candidates.append((len(columns), entry["name"]))
    return min(candidates)[1] if candidates else None


async def _rows(session: Session, sql: str, attempt: Attempt) -> list[Mapping[str, Any]]:
    reply = await session.query(f"{sql} LIMIT 100000", attempt.tool.gym)
    return list(reply.get("data", ()))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
