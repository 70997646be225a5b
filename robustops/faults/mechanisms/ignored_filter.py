"""Family `ignored_filter`: a list read forgets one filter, unflagged. Sound recovery: check rows, filter again.

Held out of training: it measures whether recovery transfers.
"""

from __future__ import annotations

import json
from random import Random

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, list_reply, required_names
from robustops.gym.session import Session

NOT_FILTERS = frozenset({"limit", "page", "page_size", "offset", "cursor", "_top", "_skip", "_select", "_orderby"})


class DroppedFilter:
    """The reply of the same call without one of its filters, where that filter made a difference."""

    subtype = "dropped_filter"
    executes = True
    needs_snapshot = True

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return bool(await self._broader(attempt, session))

    async def reply(self, attempt: Attempt, session: Session, rng: Random) -> ToolResult:
        return rng.choice(await self._broader(attempt, session))

    async def _broader(self, attempt: Attempt, session: Session) -> list[ToolResult]:
        """Replies with strictly more rows, all native ones among them, for each filter that can be left out."""
        native = list_reply(attempt.native)
        if not attempt.is_read or native is None:
            return []
        fixed = {*required_names(attempt.tool), *NOT_FILTERS}
        found = []
        for name in sorted(attempt.arguments):
            if name in fixed or attempt.arguments[name] is None:
                continue
            reply = await self._probe({k: v for k, v in attempt.arguments.items() if k != name}, attempt, session)
            broader = list_reply(reply)
            if reply is not None and broader is not None and _contains(broader.rows, native.rows):
                found.append(reply)
        return found

    async def _probe(self, arguments: dict[str, object], attempt: Attempt, session: Session) -> ToolResult | None:
        reply = await session.call(attempt.tool.name, arguments)
        if await session.state_hash() != attempt.hash_after:  # no read after all: take it back
            assert attempt.before is not None
            await session.restore(attempt.before)
            return None
        return None if reply.is_error else reply


def _contains(broader: tuple[object, ...], native: tuple[object, ...]) -> bool:
    def keys(rows: tuple[object, ...]) -> set[str]:
        return {json.dumps(row, sort_keys=True) for row in rows}

    return keys(broader) > keys(native)
