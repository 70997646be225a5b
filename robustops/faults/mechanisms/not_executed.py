"""Family `not_executed`: turned away before it runs, and the reply says so. Sound recovery: bounded retry."""

from __future__ import annotations

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.faults.replies import fixed_reply
from robustops.gym.session import Session


class Rejected:
    """`throttled` and `unavailable` differ only in what they say."""

    executes = False
    needs: frozenset[Need] = frozenset()

    def __init__(self, subtype: str) -> None:
        self.subtype = subtype

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        """Any call that the tool would have looked at: without its required arguments it fails by itself."""
        return attempt.has_required_arguments

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        return fixed_reply(self.subtype, executed=False)
