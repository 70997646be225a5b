"""The Qwen3/hermes way of writing a tool call: text of one assistant turn in, `Decision` out, and back.

Pure text. Knows no tokenizer, no template, no tools: whether a tool exists or takes such arguments is the gym's answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from robustops.core.episode import ToolCall

CALL_OPEN = "<tool_call>"
CALL_CLOSE = "</tool_call>"
THINK_OPEN = "<think>"
THINK_CLOSE = "</think>"
END_OF_TURN = "<|im_end|>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One assistant turn, read. At most one of `call` and `malformed` is set; with neither it is the final answer.

    `content`: narration before the call, or the final answer; stripped. `reasoning`: what stood in a think block.
    `dropped_calls`: complete calls after the first one (only endpoints that do not stop there can produce them).
    """

    call: ToolCall | None = None
    malformed: str | None = None
    content: str = ""
    reasoning: str = ""
    dropped_calls: int = 0


class _Malformed(Exception):
    """Why a block is no call."""


def parse(text: str) -> Decision:
    """Read one turn, with or without its end-of-turn token. Never raises: a block that is no call says why."""
    text = text.strip().removesuffix(END_OF_TURN)
    reasoning, thought, visible = text.rpartition(THINK_CLOSE)
    if not thought:
        reasoning, visible = "", text
    reasoning = reasoning.strip().removeprefix(THINK_OPEN).strip()
    content, opened, rest = visible.partition(CALL_OPEN)
    if not opened:
        if CALL_CLOSE in visible:
            reason = f"{CALL_CLOSE} without {CALL_OPEN}"
            return Decision(malformed=reason, content=visible.replace(CALL_CLOSE, "").strip(), reasoning=reasoning)
        return Decision(content=visible.strip(), reasoning=reasoning)
    block, closed, after = rest.partition(CALL_CLOSE)
    try:
        if not closed:
            raise _Malformed(f"unclosed {CALL_OPEN} block")
        call = _read_call(block)
    except _Malformed as error:
        return Decision(malformed=str(error), content=content.strip(), reasoning=reasoning)
    return Decision(call=call, content=content.strip(), reasoning=reasoning, dropped_calls=after.count(CALL_CLOSE))


def _read_call(block: str) -> ToolCall:
    """Read the inside of one tool-call block. Raises _Malformed with the reason."""
    value = _json(block.strip(), "the block")
    if not isinstance(value, dict):
        raise _Malformed(f"expected a JSON object with name and arguments, got {_kind(value)}")
    name = value.get("name")
    if not isinstance(name, str) or not name:
        raise _Malformed('missing "name"' if "name" not in value else '"name" is not a non-empty string')
    if "arguments" not in value:
        raise _Malformed('missing "arguments"')
    arguments = value["arguments"]
    if isinstance(arguments, str):  # double-encoded: a common slip that loses no information
        arguments = _json(arguments, '"arguments"')
    if not isinstance(arguments, dict):
        raise _Malformed(f'"arguments" is not an object but {_kind(arguments)}')
    return ToolCall(name=name, arguments=arguments)


def write_call(call: ToolCall) -> str:
    """The block as the model must emit it, from the opening through the closing tag."""
    name = json.dumps(call.name, ensure_ascii=False)
    body = f'{{"name": {name}, "arguments": {json.dumps(dict(call.arguments), ensure_ascii=False)}}}'
    if CALL_CLOSE in body or "<|" in body:
        # A tag inside a value would be read as the tag itself; JSON has another spelling for the bracket.
        body = body.replace("<", "\\u003c")
    return f"{CALL_OPEN}\n{body}\n{CALL_CLOSE}"


def write_decision(*, call: ToolCall | None, content: str) -> str:
    """Text of one assistant turn, without its end-of-turn token."""
    if call is None:
        return content
    return f"{content}\n{write_call(call)}" if content else write_call(call)


def _json(text: str, where: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        # A lone surrogate or an infinity (1e999) would fail later, in the database or on the wire.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise _Malformed(f"{where} holds a lone surrogate") from error
    except json.JSONDecodeError as error:
        raise _Malformed(f"{where} is not JSON: {error.msg} at character {error.pos}") from error
    except (ValueError, RecursionError) as error:  # integers beyond the interpreter's limit, absurd nesting
        raise _Malformed(f"{where} is not usable JSON: {type(error).__name__}") from error
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a string", bool: "a boolean", type(None): "null"}.get(
        type(value), "a number"
    )
