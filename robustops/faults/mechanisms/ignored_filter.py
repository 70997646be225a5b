"""Family `ignored_filter`: a list read forgets one filter, unflagged. Sound recovery: check rows, filter again.

Held out of training: it measures whether recovery transfers.
"""

from __future__ import annotations

import json

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need, required_names
from robustops.faults.probe import probe
from robustops.faults.shapes import list_reply
from robustops.gym.session import Session

# Arguments that page, sort or shape a list; without them a reply is longer, too, but no filter was ignored.
NOT_FILTERS = frozenset(
    {
        *("limit", "page", "page_size", "pageSize", "maxResults", "max_results", "offset", "cursor"),
        *("pageToken", "page_token", "syncToken", "top", "skip", "_top", "_skip"),
        *("fields", "select", "_select", "expand", "_expand"),
        *("order_by", "orderBy", "orderby", "_orderby", "order_direction", "sort"),
    }
)


class DroppedFilter:
    """The reply of the same call without one of its filters, where that filter made a difference."""

    subtype = "dropped_filter"
    executes = True
    needs: frozenset[Need] = frozenset({"before"})

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return bool(await self._broader(attempt, session))

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        return draw.degree(await self._broader(attempt, session), badness=_num_rows)

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
            without = {other: value for other, value in attempt.arguments.items() if other != name}
            reply = await probe(without, attempt, session)
            broader = list_reply(reply)
            if reply is not None and broader is not None and _contains(broader.rows, native.rows):
                found.append(reply)
        return found


def _num_rows(reply: ToolResult) -> int:
    found = list_reply(reply)
    return len(found.rows) if found is not None else 0


def _contains(broader: tuple[object, ...], native: tuple[object, ...]) -> bool:
    def keys(rows: tuple[object, ...]) -> set[str]:
        return {json.dumps(row, sort_keys=True) for row in rows}

    return keys(broader) > keys(native)
