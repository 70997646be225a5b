"""Family `incomplete_read`: a read runs, but only a part of its reply arrives. Sound recovery: read again or narrow."""

from __future__ import annotations

from robustops.core.episode import ToolResult
from robustops.faults.mechanism import Attempt, Draw, Need
from robustops.faults.replies import INCOMPLETE_KEY, ITEMS_KEY, RETURNED_KEY, with_text
from robustops.faults.shapes import list_reply, parsed, written_like
from robustops.gym.session import Session

MIN_ROWS = 2
MIN_CHARS = 80  # a shorter text has nothing worth cutting


class PartialList:
    """A strict, non-empty subset of the rows in their order, flagged incomplete."""

    subtype = "partial_list"
    executes = True
    needs: frozenset[Need] = frozenset()

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        found = list_reply(attempt.native)
        return attempt.is_read and found is not None and len(found.rows) >= MIN_ROWS

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        found = list_reply(attempt.native)
        assert found is not None
        assert attempt.native is not None
        num_kept = draw.amount(mild=len(found.rows) - 1, severe=1)
        kept = [found.rows[index] for index in sorted(draw.rng.sample(range(len(found.rows)), num_kept))]
        flags = {INCOMPLETE_KEY: True, RETURNED_KEY: num_kept}
        value = {**flags, ITEMS_KEY: kept} if found.key is None else {**flags, **found.whole, found.key: kept}
        return with_text(attempt.native, written_like(attempt.native.text, value))


class TruncatedReply:
    """The text breaks off somewhere in its second half, so that it no longer parses."""

    subtype = "truncated_reply"
    executes = True
    needs: frozenset[Need] = frozenset()

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        """Only objects and arrays: every proper prefix of one is broken JSON, which makes the cut visible."""
        if not attempt.is_read or attempt.native is None:
            return False
        return isinstance(parsed(attempt.native), dict | list) and len(attempt.native.text.strip()) >= MIN_CHARS

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        assert attempt.native is not None
        text = attempt.native.text.strip()
        return with_text(attempt.native, text[: draw.amount(mild=len(text) - 1, severe=len(text) // 2)])
