"""The chat-completions wire format: what we send, and what comes back, checked once and turned into a `Reply`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from robustops.llm.completion import Message, Reply, RequestedCall, Tool, Usage


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Function(_Wire):
    name: str
    arguments: str | dict[str, Any] | None = None


class _ToolCall(_Wire):
    function: _Function


class _Message(_Wire):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _TokenLogprob(_Wire):
    logprob: float


class _Logprobs(_Wire):
    content: list[_TokenLogprob] | None = None


class _Choice(_Wire):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None
    token_ids: list[int] | None = None


class _PromptDetails(_Wire):
    cached_tokens: int | None = None


class _CompletionDetails(_Wire):
    reasoning_tokens: int | None = None


class _Usage(_Wire):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class ChatReply(_Wire):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None

    def to_reply(self) -> Reply:
        choice = self.choices[0]
        usage = self.usage or _Usage()
        cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else None
        reasoning = usage.completion_tokens_details.reasoning_tokens if usage.completion_tokens_details else None
        logprobs = choice.logprobs.content if choice.logprobs else None
        return Reply(
            text=choice.message.content or "",
            tool_calls=tuple(_requested(call.function) for call in choice.message.tool_calls or ()),
            usage=Usage(
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                cached_tokens=cached or 0,
                reasoning_tokens=reasoning or 0,
            ),
            finish="length" if choice.finish_reason == "length" else "stop",
            token_ids=tuple(choice.token_ids or ()),
            logprobs=tuple(token.logprob for token in logprobs or ()),
        )


def _requested(function: _Function) -> RequestedCall:
    """Some servers send the arguments as an object instead of text; none at all means no arguments."""
    if isinstance(function.arguments, dict):
        return RequestedCall(name=function.name, arguments=json.dumps(function.arguments, ensure_ascii=False))
    return RequestedCall(name=function.name, arguments=(function.arguments or "").strip() or "{}")


def request_body(
    *,
    model: str,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    temperature: float,
    max_tokens: int,
    seed: int | None,
    extra: Mapping[str, Any],
) -> dict[str, Any]:
    """`extra`: fields of one provider, such as `return_token_ids`; they never override a field named here."""
    body: dict[str, Any] = {**extra, "model": model, "messages": [dict(message) for message in messages]}
    body |= {"temperature": temperature, "max_tokens": max_tokens}
    if tools:
        body["tools"] = [dict(tool) for tool in tools]
    if seed is not None:
        body["seed"] = seed
    return body
