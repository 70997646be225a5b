"""Family `lasting_outage`: one tool never works. Sound end: another way to the goal, or saying that it was not reached.

For evaluation alone.
"""

from __future__ import annotations

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.faults.replies import fixed_reply
from robustops.gym.session import Session


class PermanentOutage:
    """Every call of the tool is turned away, whatever its arguments, until the episode ends."""

    subtype = "permanent_outage"
    executes = False
    needs: frozenset[Need] = frozenset()

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        return attempt.has_required_arguments

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        return fixed_reply(self.subtype, executed=False)
