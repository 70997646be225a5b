"""One demonstration as a chat: a sample's tokens and mask with the messages and tools they were rendered from.

What other trainers read. Inside, a call's arguments are an object; at the edge of each format they are what it wants.
Messages are those of the student's view, so that its template renders them to the sample's tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robustops.agent.policy import Message
from robustops.core.episode import Episode, Turn
from robustops.data.sft import SftSample
from robustops.rollout.dialogue import ChatCodec

ToolDefinition = Mapping[str, Any]  # {"type": "function", "function": {"name", "description", "parameters"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """`model`: who decided. Every sampled turn is one assistant message, in order.

    `rendered_system`: the system message with the tools as the student's template writes them into it, for readers that
    render no tools; the sample's tokens settle it, so it is not compared. Empty where it is not known.
    """

    sample: SftSample
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    model: str = ""
    rendered_system: str = field(default="", compare=False)


def conversation_of(
    sample: SftSample,
    episode: Episode,
    opening: Sequence[Message],
    tools: Sequence[ToolDefinition],
    codec: ChatCodec,
    *,
    model: str = "",
    rendered_system: str = "",
) -> Conversation:
    """`opening`: the messages of the first prompt, as the codec made them."""
    messages = [dict(message) for message in opening]
    for turn in episode.turns:
        messages += _messages(turn, codec)
    return Conversation(
        sample=sample, messages=tuple(messages), tools=tuple(tools), model=model, rendered_system=rendered_system
    )


def _messages(turn: Turn, codec: ChatCodec) -> list[dict[str, Any]]:
    said = dict(codec.assistant_message(turn.text))
    return [said] if turn.shown is None else [said, dict(codec.tool_message(turn.shown))]


def arguments_as_text(message: Message) -> dict[str, Any]:
    """The message as chat endpoints and data sets have it: arguments are JSON text."""
    return _with_arguments(message, lambda value: json.dumps(value, ensure_ascii=False))


def arguments_as_object(message: Message) -> dict[str, Any]:
    """The inverse. Raises ValueError for text that is not JSON."""
    return _with_arguments(message, json.loads)


def _with_arguments(message: Message, change: Any) -> dict[str, Any]:
    calls = message.get("tool_calls")
    if not calls:
        return {name: value for name, value in message.items() if value is not None and name != "tool_calls"}
    changed = [
        {
            "type": "function",
            "function": {"name": c["function"]["name"], "arguments": change(c["function"]["arguments"])},
        }
        for c in calls
    ]
    return {**{name: value for name, value in message.items() if value is not None}, "tool_calls": changed}
