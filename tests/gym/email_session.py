"""Short ways to ask a session on the small mail database."""

from __future__ import annotations

import json
from typing import Any

from email_reads import ME


async def reply(session: Any, name: str, arguments: dict[str, Any]) -> Any:
    result = await session.call(name, arguments)
    assert not result.is_error, result.text
    return json.loads(result.text) if result.text.startswith("{") else result.text


async def rows(session: Any, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in (await session.query(sql))["data"]]


async def found(session: Any, q: str, **more: Any) -> str:
    """The messages that match, by id without the prefix, newest first."""
    messages = (await reply(session, "list_messages", {**ME, "q": q, **more}))["messages"]
    return " ".join(message["id"].removeprefix("m-") for message in messages)
