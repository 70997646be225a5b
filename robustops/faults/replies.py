"""What an agent is shown of a fault, as data: one row per subtype. Wording is general and short; it names no mechanism.

`partial_list` and the rewriting subtypes carry the native rows or text; the rest are fixed. A reader of replies should
test the keys (`executed`, `incomplete`, `error`), not the sentences.

    throttled, unavailable   {"error": ..., "executed": false}            isError
    partial_list             {"incomplete": true, "returned": k, "items": [...]}   where the native reply is an array;
                             otherwise the native object with its one list cut and the same two flags added
    truncated_reply          the native text, cut: it no longer parses
    swapped_reply            a well-formed object, but of another identity
    lost_ack                 {"error": "timeout: ..."}              isError; no "executed": the outcome is unknown
    dropped_filter           a longer array than was asked for, no flag
    stale_read, silent_noop  what the tool itself said: of an older state, of a write that is not there
    permanent_outage         {"error": ..., "executed": false}            isError
    schema_drift             {"error": ..., "executed": false, "renamed": {old: new}}   isError
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from robustops.core.episode import ToolResult

TIMEOUT: Mapping[str, Any] = {"error": "timeout: no acknowledgement received; the outcome is unknown"}

FIXED_REPLIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "throttled": {"error": "rate limited: the call was not executed", "executed": False, "retry_after_s": 1},
        "unavailable": {"error": "service unavailable: the call was not executed", "executed": False},
        "permanent_outage": {"error": "out of service for good: the call was not executed", "executed": False},
        "lost_ack": TIMEOUT,
        "timeout_not_committed": TIMEOUT,
    }
)
INCOMPLETE_KEY, RETURNED_KEY, ITEMS_KEY = "incomplete", "returned", "items"


def renamed_error(old: str, new: str) -> dict[str, Any]:
    """What a tool says of a parameter that it no longer knows."""
    text = f"unknown parameter {old}: it is now called {new}; the call was not executed"
    return {"error": text, "executed": False, "renamed": {old: new}}


def fixed_reply(subtype: str, *, executed: bool) -> ToolResult:
    """An error reply that owes nothing to the native one. `executed` is our record; the agent sees only the text."""
    return with_text(None, json.dumps(FIXED_REPLIES[subtype]), is_error=True, executed=executed)


def with_text(native: ToolResult | None, text: str, *, is_error: bool = False, executed: bool = True) -> ToolResult:
    """A reply showing `text` in the envelope of the native reply, or in a plain one where there is none."""
    envelope = _envelope(native)
    envelope["content"] = [{**_first_block(envelope), "type": "text", "text": text}]
    envelope["isError"] = is_error
    if "structuredContent" in envelope:
        envelope["structuredContent"] = None  # the native object would give the fault away
    latency_s = native.latency_s if native is not None else 0.0
    return ToolResult(
        text=text, observation=json.dumps(envelope), is_error=is_error, executed=executed, latency_s=latency_s
    )


def _envelope(native: ToolResult | None) -> dict[str, Any]:
    if native is None:
        return {}
    try:
        envelope = json.loads(native.observation)
    except json.JSONDecodeError:
        return {}
    return dict(envelope) if isinstance(envelope, dict) else {}


def _first_block(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    content = envelope.get("content")
    if isinstance(content, list) and content and isinstance(content[0], Mapping):
        return content[0]
    return {}
