"""A session on the small calendar database, and short ways to ask it."""

from __future__ import annotations

import json
from typing import Any

TIMES = {"start": {"dateTime": "2026-07-06T09:00:00Z"}, "end": {"dateTime": "2026-07-06T09:30:00Z"}}  # a Monday


async def reply(session: Any, name: str, arguments: dict[str, Any]) -> Any:
    """The reply as an object; a text that is no JSON, such as an error's, as it is."""
    text = (await session.call(name, arguments)).text
    try:
        return json.loads(text)
    except ValueError:
        return text


async def rows(session: Any, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in (await session.query(sql))["data"]]


async def create(session: Any, **more: Any) -> Any:
    return await reply(session, "create_event", {"calendarId": "c-work", "summary": "Gym", **TIMES, **more})


async def listed(session: Any, **arguments: Any) -> Any:
    """Ids of the events found, or the text of a refusal."""
    found = await reply(session, "list_events", {"calendarId": "c-work", **arguments})
    return found if isinstance(found, str) else [item["id"] for item in found["items"]]
