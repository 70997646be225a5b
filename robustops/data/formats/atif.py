"""ATIF, the agent trajectory interchange format of Harbor, version 1.5: one trajectory a line.

An agent's step holds its words, its calls and what they returned; token ids of the prompt and of the sample stand in
`metrics`, so that nothing need be tokenised again. A reply to a block that was no call has no call to refer to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from robustops import __version__
from robustops.core.json_lines import write_lines
from robustops.data.conversation import Conversation
from robustops.data.formats.beside import dump_sample, load_sample, read_rows

VERSION = "ATIF-v1.5"
_SOURCE_OF_ROLE = {"system": "system", "user": "user", "assistant": "agent"}
_ROLE_OF_SOURCE = {source: role for role, source in _SOURCE_OF_ROLE.items()}


def dump(conversation: Conversation) -> dict[str, Any]:
    steps = list(_steps(conversation))
    samples = [step["metrics"]["completion_tokens"] for step in steps if "metrics" in step]
    prompts = [step["metrics"]["prompt_tokens"] for step in steps if "metrics" in step]
    return {
        "schema_version": VERSION,
        "session_id": conversation.sample.source,
        "agent": {
            "name": "robustops",
            "version": __version__,
            "model_name": conversation.model,
            "tool_definitions": list(conversation.tools),
        },
        "steps": steps,
        "final_metrics": {
            "total_prompt_tokens": sum(prompts),
            "total_completion_tokens": sum(samples),
            "total_steps": len(steps),
        },
        "extra": dump_sample(conversation.sample),
    }


def _steps(conversation: Conversation) -> Iterator[dict[str, Any]]:
    step: dict[str, Any] = {}
    number, sampled = 0, iter(_sampled_spans(conversation))
    for message in conversation.messages:
        if message["role"] == "tool":
            ids = {"source_call_id": step["tool_calls"][0]["tool_call_id"]} if "tool_calls" in step else {}
            step["observation"] = {"results": [{**ids, "content": message["content"]}]}
            continue
        if step:
            yield step
        number += 1
        step = {"step_id": number, "source": _SOURCE_OF_ROLE[message["role"]], "message": message["content"]}
        if message["role"] == "assistant":
            step |= _decision(message, number)
            step["metrics"] = _metrics(conversation, next(sampled))
    if step:
        yield step


def _decision(message: Mapping[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if message.get("reasoning_content"):
        found["reasoning_content"] = message["reasoning_content"]
    if message.get("tool_calls"):
        found["tool_calls"] = [
            {
                "tool_call_id": f"call_{number:04d}",
                "function_name": call["function"]["name"],
                "arguments": call["function"]["arguments"],
            }
            for call in message["tool_calls"]
        ]
    return found


def _sampled_spans(conversation: Conversation) -> Iterator[tuple[int, int]]:
    """Where each assistant message's own tokens are: what lies between two stretches of context."""
    start = None
    for span in conversation.sample.spans:
        if span.reason == "context":
            if start is not None:
                yield start, span.start
            start = None
        elif start is None:
            start = span.start
    if start is not None:
        yield start, len(conversation.sample.token_ids)


def _metrics(conversation: Conversation, sampled: tuple[int, int]) -> dict[str, Any]:
    """The prompt's ids are all those before `start`; repeating them in each step would square the file."""
    start, end = sampled
    return {
        "prompt_tokens": start,
        "completion_tokens": end - start,
        "completion_token_ids": list(conversation.sample.token_ids[start:end]),
    }


def load(row: Mapping[str, Any]) -> Conversation:
    if row["schema_version"] != VERSION:
        raise ValueError(f"schema_version: got {row['schema_version']!r}, expected {VERSION!r}")
    return Conversation(
        sample=load_sample(row["extra"]),
        messages=tuple(message for step in row["steps"] for message in _messages(step)),
        tools=tuple(row["agent"]["tool_definitions"]),
        model=row["agent"]["model_name"],
    )


def _messages(step: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    message: dict[str, Any] = {"role": _ROLE_OF_SOURCE[step["source"]], "content": step["message"]}
    if "reasoning_content" in step:
        message["reasoning_content"] = step["reasoning_content"]
    if "tool_calls" in step:
        message["tool_calls"] = [
            {"type": "function", "function": {"name": call["function_name"], "arguments": call["arguments"]}}
            for call in step["tool_calls"]
        ]
    yield message
    for result in step.get("observation", {}).get("results", ()):
        yield {"role": "tool", "content": result["content"]}


def write(path: Path, conversations: Sequence[Conversation]) -> None:
    write_lines(path, map(dump, conversations))


def read(path: Path) -> list[Conversation]:
    return read_rows(path, load)
