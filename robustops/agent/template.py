"""A tokenizer's chat template, taken apart once: tokenizer in, the text pieces around samples and replies out.

At load a three-turn conversation proves that the template only ever appends: history stays the ids it was sampled as.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from robustops.agent.hermes import CALL_CLOSE, THINK_CLOSE, THINK_OPEN, write_decision
from robustops.agent.policy import Message
from robustops.core.episode import ToolCall
from robustops.core.errors import ConfigError

_REPLY = "@@reply@@"
_OPENING: tuple[Message, ...] = (
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Do it."},
)
_PROBE_CALLS = tuple(
    ToolCall(name=f"probe_{turn}", arguments={"id": turn, "text": "a b", "flag": True, "list": [1, None]})
    for turn in (1, 2, 3)
)


class ChatTokenizer(Protocol):
    """The part of a transformers tokenizer that rendering needs."""

    chat_template: str | None

    def apply_chat_template(self, conversation: list[dict[str, Any]], **options: Any) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Text after a sampled call: `end_of_turn`, `before_reply`, the reply, `after_reply` (with generation prompt)."""

    end_of_turn: str
    before_reply: str
    after_reply: str

    def continuation(self, reply: str, *, has_end_of_turn: bool) -> str:
        return ("" if has_end_of_turn else self.end_of_turn) + self.before_reply + reply + self.after_reply


def render(tokenizer: ChatTokenizer, messages: Sequence[Message], *, tools: list[dict[str, Any]] | None = None) -> str:
    """The conversation as text, with the generation prompt."""
    return str(
        tokenizer.apply_chat_template(
            [dict(message) for message in messages], tools=tools, tokenize=False, add_generation_prompt=True
        )
    )


def take_apart(tokenizer: ChatTokenizer, end_of_turn: str, *, where: str) -> Template:
    """Find the pieces and prove them. Raises ConfigError saying which turn the template would change."""
    if not tokenizer.chat_template:
        raise ConfigError(f"{where}: the tokenizer has no chat template; add chat_template.jinja to the folder")
    thinks = (False, True) if THINK_CLOSE in str(tokenizer.chat_template) else (False,)
    template = _pieces(tokenizer, end_of_turn, where)
    for is_thinking in thinks:
        _prove(tokenizer, template, where, is_thinking=is_thinking)
    return template


def _pieces(tokenizer: ChatTokenizer, end_of_turn: str, where: str) -> Template:
    messages = [*_OPENING, assistant_message(call=_PROBE_CALLS[0], content=""), {"role": "tool", "content": _REPLY}]
    text = render(tokenizer, messages)
    _, reply, after = text.rpartition(_REPLY)
    head = text[: len(text) - len(after) - len(reply)]
    _, closed, between = head.rpartition(CALL_CLOSE)
    if not reply or not closed or not between.startswith(end_of_turn):
        raise ConfigError(
            f"{where}: the chat template does not write tool calls as <tool_call>...{CALL_CLOSE}{end_of_turn} followed "
            "by the tool's reply; use a Qwen3 or hermes template"
        )
    return Template(end_of_turn=end_of_turn, before_reply=between[len(end_of_turn) :], after_reply=after)


def _prove(tokenizer: ChatTokenizer, template: Template, where: str, *, is_thinking: bool) -> None:
    """Grow the conversation as an episode does and compare with the template's own rendering after each turn."""
    messages = list(_OPENING)
    grown = render(tokenizer, messages)
    starts: list[int] = []
    for turn, call in enumerate(_PROBE_CALLS, start=1):
        starts.append(len(grown))
        thought = f"{THINK_OPEN}\nthought {turn}\n{THINK_CLOSE}\n\n" if is_thinking else ""
        shown = thought
        if is_thinking and grown.endswith((THINK_OPEN, f"{THINK_OPEN}\n")):  # the prompt already opens the thought
            shown = thought.removeprefix(f"{THINK_OPEN}\n")
        reply = f'{{"reply": {turn}}}'
        grown += shown + write_decision(call=call, content="") + template.continuation(reply, has_end_of_turn=False)
        messages += [assistant_message(call=call, content=thought), {"role": "tool", "content": reply}]
        rendered = render(tokenizer, messages)
        if rendered != grown:
            place = _first_difference(grown, rendered)
            changed = sum(start <= place for start in starts)
            rewritten = f"turn {changed}" if changed else "the opening"
            raise ConfigError(
                f"{where}: the chat template is not prefix-preserving: after turn {turn} "
                f"{'with reasoning ' if is_thinking else ''}it rewrites {rewritten} "
                f"(expected {grown[place : place + 40]!r}, got {rendered[place : place + 40]!r}); "
                "history must stay as sampled: use a template that keeps earlier turns unchanged"
            )


def _first_difference(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def assistant_message(*, call: ToolCall | None, content: str, reasoning: str = "") -> dict[str, Any]:
    """One turn as templates take it: a call's arguments are an object."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning:
        message["reasoning_content"] = reasoning
    if call is not None:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": dict(call.arguments)}}
        ]
    return message
