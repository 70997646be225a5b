"""The seam between rollouts and models: a `Policy` turns a prompt into one sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from robustops.core.task import ToolSchema

Message = Mapping[str, Any]  # {"role", "content"[, "tool_calls": [{"type", "function": {"name", "arguments": dict}}]]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One decision's input, twice: as tokens for token policies, as messages for chat endpoints and scripts."""

    case_id: str
    task_id: str
    turn: int
    token_ids: tuple[int, ...]
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """top_p 1, top_k off and min_p 0 are fixed: rollout logprobs must be those of the full distribution."""

    temperature: float = 1.0
    max_tokens: int = 512
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """`token_ids` end with `</tool_call>` or the end-of-turn when `finish` is "stop".

    `logprobs` has one entry per token, or is empty where the policy cannot give them.
    """

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    text: str
    finish: Literal["stop", "length"]
    weight_version: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    dropped_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    prompt: Prompt
    sampling: Sampling


class SampleStore(Protocol):
    """Keeps what an engine sampled, so that a run that was killed does not ask for it again."""

    def find(self, requests: Sequence[Request]) -> list[Sample] | None:
        """A kept sample for each request, which is then handed out; None unless there is one for all of them."""

    def keep(self, requests: Sequence[Request], samples: Sequence[Sample]) -> None:
        """Samples that became known together: later all of them are found, or none."""


class Policy(Protocol):
    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Raises PolicyError when no sample could be produced."""

    async def close(self) -> None: ...
