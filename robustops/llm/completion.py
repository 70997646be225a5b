"""The one seam to language models behind an API: messages and tools in, one reply out. Knows no HTTP and no provider.

The fault selector, the teacher, graph generation, the judge and API evaluation all hold a `Completion`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Message = Mapping[str, Any]  # as chat endpoints take it: {"role", "content"[, "tool_calls"][, "tool_call_id"]}
Tool = Mapping[str, Any]  # {"type": "function", "function": {"name", "description", "parameters"}}
Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedCall:
    """A tool call as the endpoint sent it: `arguments` is text that should be a JSON object, but may not be."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`finish` is "length" when the endpoint cut the reply; ids and logprobs are empty where it gives none."""

    text: str
    tool_calls: tuple[RequestedCall, ...] = ()
    usage: Usage = Usage()
    finish: Finish = "stop"
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()


class Completion(Protocol):
    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        temperature: float = 0.0,
        max_tokens: int = 1024,
        seed: int | None = None,
    ) -> Reply:
        """Raises PolicyError when no reply could be had within the deadline."""

    async def close(self) -> None: ...
