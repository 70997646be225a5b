"""Family `reply_mixup`: a well-formed reply to another request. Sound recovery: compare ids, read again.

The other request is the same call with another object's id or name, so that the reply has the server's own form in
every domain: its key names, its booleans, its nesting.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.faults.probe import probe
from robustops.faults.shapes import list_reply, parsed
from robustops.gym.hashing import quoted
from robustops.gym.session import Session

MAX_VALUES = 200  # of the column that names the object
MAX_TRIES = 6  # other objects to ask for, before the call counts as not eligible


class SwappedReply:
    """A read of one object is answered with the reply about another object of the same type."""

    subtype = "swapped_reply"
    executes = True
    needs: frozenset[Need] = frozenset({"before"})

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return await self._other(attempt, session, None) is not None

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        other = await self._other(attempt, session, draw) or await self._other(attempt, session, None)
        assert other is not None
        return other

    async def _other(self, attempt: Attempt, session: Session, draw: Draw | None) -> ToolResult | None:
        """The first usable reply; `draw` shuffles whom to ask about."""
        native = parsed(attempt.native)
        if not attempt.is_read or not isinstance(native, dict) or not native or list_reply(attempt.native) is not None:
            return None
        async for name, values in _names_of_others(native, attempt, session):
            if draw is not None:
                draw.rng.shuffle(values)
            for value in values[:MAX_TRIES]:
                reply = await probe({**attempt.arguments, name: value}, attempt, session)
                other = parsed(reply)
                if isinstance(other, dict) and other.keys() == native.keys() and _differs(native, other, name):
                    return reply
        return None


def _differs(native: Mapping[str, Any], other: Mapping[str, Any], name: str) -> bool:
    """The replies are about two objects: they do not agree in what tells objects apart."""
    telling = [key for key in native if key in ("id", name) or key.endswith("_id")] or list(native)
    return any(native[key] != other[key] for key in telling)


async def _names_of_others(
    native: Mapping[str, Any], attempt: Attempt, session: Session
) -> AsyncIterator[tuple[str, list[str | int]]]:
    """Arguments that name the object read, as the reply repeats them, and what names the other objects of its table."""
    tables: dict[str, str] | None = None
    for name, asked in attempt.arguments.items():
        shown = [
            key for key, value in native.items() if _is_name(asked) and str(value).casefold() == str(asked).casefold()
        ]
        if not shown:
            continue
        if tables is None:
            tables = await _tables(session, attempt.tool.gym)
        for column in dict.fromkeys(_snake(word) for word in (name, *shown)):
            for table, created_by in tables.items():
                if not re.search(rf"\b{re.escape(column)}\b", created_by):
                    continue
                found = await _others(table, column, str(asked), attempt, session)
                if values := [value for other in found if (value := _typed_like(asked, other)) is not None]:
                    yield name, values


async def _others(table: str, column: str, asked: str, attempt: Attempt, session: Session) -> list[Any]:
    """Other values of a column that holds the asked one; empty where it does not."""
    place = f"{quoted(table)}.{quoted(column)}"
    sql = f"SELECT DISTINCT {place} AS name FROM {quoted(table)} WHERE {place} IS NOT NULL ORDER BY 1"
    values = [row["name"] for row in await _rows(sql, MAX_VALUES, attempt.tool.gym, session)]
    others = [value for value in values if str(value).casefold() != asked.casefold()]
    return others if len(others) < len(values) else []


async def _tables(session: Session, gym: str) -> dict[str, str]:
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
    return {row["name"]: row["sql"] or "" for row in await _rows(sql, 1000, gym, session)}


async def _rows(sql: str, limit: int, gym: str, session: Session) -> Sequence[Mapping[str, Any]]:
    reply = await session.query(f"{sql} LIMIT {limit}", gym)
    return reply.get("data") or () if isinstance(reply, Mapping) else ()


def _typed_like(asked: str | int, value: Any) -> str | int | None:
    """Tools check types: an id that was sent as text is sent as text again."""
    if not _is_name(value) or (isinstance(asked, int) and not isinstance(value, int)):
        return None
    return str(value) if isinstance(asked, str) else value


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _snake(word: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", word).lower()
