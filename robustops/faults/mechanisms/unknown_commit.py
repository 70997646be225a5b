"""Family `unknown_commit`: a write, and a timeout instead of its reply. Sound recovery: read back before retrying."""

from __future__ import annotations

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.faults.replies import fixed_reply
from robustops.gym.session import Session


class LostAck:
    """The write is committed; only its acknowledgement is lost."""

    subtype = "lost_ack"
    executes = True
    needs: frozenset[Need] = frozenset()

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return attempt.is_write

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        return fixed_reply(self.subtype, executed=True)


class TimeoutNotCommitted:
    """The evaluation-only twin of `lost_ack`: the same words, and nothing was written."""

    subtype = "timeout_not_committed"
    executes = True
    needs: frozenset[Need] = frozenset({"before"})

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return attempt.is_write

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        """Takes the write back: only a write that did succeed shows that there was one to lose."""
        assert attempt.before is not None
        await session.restore(attempt.before)
        return fixed_reply(self.subtype, executed=False)
