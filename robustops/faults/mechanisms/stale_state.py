"""Family `stale_state`: a read is answered from an older state, unflagged. Sound recovery: read again before acting.

For evaluation alone. The older state is the one in which the episode began, as a replica that lags would hold it.
"""

from __future__ import annotations

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.gym.session import Session


class StaleRead:
    """The reply to this very call before anything was written; a row written since is missing or has its old values."""

    subtype = "stale_read"
    executes = True
    needs: frozenset[Need] = frozenset({"origin"})

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return await self._stale(attempt, session) is not None

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        stale = await self._stale(attempt, session)
        assert stale is not None
        return stale

    async def _stale(self, attempt: Attempt, session: Session) -> ToolResult | None:
        origin = attempt.origin
        if not attempt.is_read or origin is None or origin.state_hash == attempt.hash_after:
            return None
        now = await session.snapshot()
        await session.restore(origin.database)
        stale = await session.call(attempt.tool.name, attempt.arguments)
        await session.restore(now)
        assert attempt.native is not None
        return None if stale.is_error or stale.text == attempt.native.text else stale
