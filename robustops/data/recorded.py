"""A policy that repeats a recorded episode's decisions and then hands over: no teacher is asked twice for one decision.

With it a checkpoint of a finished episode is made again by executing what was recorded, without a database on disk.
"""

from __future__ import annotations

from collections.abc import Sequence

from robustops.agent.policy import Policy, Prompt, Sample, Sampling
from robustops.core.episode import Turn
from robustops.core.errors import PolicyError


class Recorded:
    """`then` decides after the last recorded turn; without it, none may be left to decide. It is not closed here."""

    def __init__(self, turns: Sequence[Turn], then: Policy | None = None) -> None:
        self._turns = tuple(turns)
        self._then = then

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Raises PolicyError where the prompt is not the recorded one: a reply differed, so the record is no use."""
        if prompt.turn >= len(self._turns):
            if self._then is None:
                raise PolicyError(f"{prompt.case_id}: turn {prompt.turn} was never recorded; the replay went elsewhere")
            return await self._then.act(prompt, sampling)
        turn = self._turns[prompt.turn]
        start = len(prompt.token_ids) - len(turn.context_ids)
        if start < 0 or prompt.token_ids[start:] != turn.context_ids:
            raise PolicyError(f"{prompt.case_id}: the replay's prompt of turn {prompt.turn} is not the recorded one")
        return Sample(
            token_ids=turn.sampled_ids,
            logprobs=turn.logprobs,
            text=turn.text,
            finish="stop",
            weight_version=turn.weight_version,
            cached_tokens=turn.cached_tokens,
            reasoning_tokens=turn.reasoning_tokens,
            dropped_calls=turn.dropped_calls,
        )

    async def close(self) -> None:
        return None
