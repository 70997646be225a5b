"""Ask a tool something else than the agent did, without a trace: what would it say to these arguments?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt
from robustops.gym.session import Session


async def probe(arguments: Mapping[str, Any], attempt: Attempt, session: Session) -> ToolResult | None:
    """The native reply of the attempt's tool, or None for an error. A call that turns out to write is taken back.

    Call it after a read only: `attempt.before` must be the present state.
    """
    reply = await session.call(attempt.tool.name, arguments)
    if await session.state_hash() != attempt.hash_after:
        assert attempt.before is not None
        await session.restore(attempt.before)
        return None
    return None if reply.is_error else reply
