"""Family `false_ack`: a write is acknowledged and not applied, unflagged. Sound recovery: read back what matters.

For evaluation alone.
"""

from __future__ import annotations

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.gym.session import Session


class SilentNoop:
    """The native acknowledgement of a write that is taken back behind it."""

    subtype = "silent_noop"
    executes = True
    needs: frozenset[Need] = frozenset({"before"})

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return attempt.is_write

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        assert attempt.before is not None
        assert attempt.native is not None
        await session.restore(attempt.before)
        return attempt.native
