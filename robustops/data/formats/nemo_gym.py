"""NeMo Gym rollout rows, JSON Lines: the request in `responses_create_params`, the rest in `response.output`.

Items are those of the Responses API: messages, function calls and their outputs, tied by `call_id`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from robustops.agent.policy import Message
from robustops.core.json_lines import write_lines
from robustops.data.conversation import Conversation
from robustops.data.formats.beside import dump_sample, load_sample, read_rows


def dump(conversation: Conversation) -> dict[str, Any]:
    messages = conversation.messages
    opening = next((at for at, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    tools = [{"type": "function", "strict": False, **tool["function"]} for tool in conversation.tools]
    return {
        "responses_create_params": {
            "input": [{"role": message["role"], "content": message["content"]} for message in messages[:opening]],
            "tools": tools,
            "parallel_tool_calls": False,
        },
        "response": {
            "id": conversation.sample.source,
            "created_at": 0,  # the row format wants a time, and an episode has none
            "object": "response",
            "model": conversation.model,
            "output": list(_items(messages[opening:])),
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": tools,
        },
        "reward": 1.0,  # only what passed every check is exported
        "robustops": dump_sample(conversation.sample),
    }


def _items(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    call_id = ""
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            yield {"type": "function_call_output", "call_id": call_id, "output": message["content"]}
            continue
        if message.get("reasoning_content"):
            summary = [{"type": "summary_text", "text": message["reasoning_content"]}]
            yield {"type": "reasoning", "id": f"reasoning_{number:04d}", "summary": summary}
        call_id, calls = f"call_{number:04d}", message.get("tool_calls") or ()
        if message["content"] or not calls:
            content = [{"type": "output_text", "text": message["content"], "annotations": []}]
            yield {"type": "message", "id": f"message_{number:04d}", "role": "assistant", "content": content}
        for call in calls:
            arguments = json.dumps(call["function"]["arguments"], ensure_ascii=False)
            name = call["function"]["name"]
            yield {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def load(row: Mapping[str, Any]) -> Conversation:
    request, response = row["responses_create_params"], row["response"]
    tools = [
        {"type": "function", "function": {k: v for k, v in tool.items() if k not in ("type", "strict")}}
        for tool in request["tools"]
    ]
    return Conversation(
        sample=load_sample(row["robustops"]),
        messages=(*request["input"], *_messages(response["output"])),
        tools=tuple(tools),
        model=response["model"],
    )


def _messages(items: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One assistant message for the reasoning, words and call that stand together."""
    said: dict[str, Any] = {}
    for item in items:
        kind = item["type"]
        if said and (
            kind == "function_call_output" or "tool_calls" in said or (kind == "message" and "content" in said)
        ):
            yield {"content": "", **said}
            said = {}
        if kind == "function_call_output":
            yield {"role": "tool", "content": item["output"]}
        elif kind == "reasoning":
            said = {"role": "assistant", "reasoning_content": item["summary"][0]["text"]}
        elif kind == "message":
            said = {**said, "role": "assistant", "content": item["content"][0]["text"]}
        elif kind == "function_call":
            function = {"name": item["name"], "arguments": json.loads(item["arguments"])}
            said = {**said, "role": "assistant", "tool_calls": [{"type": "function", "function": function}]}
        else:
            raise ValueError(f"unknown item type {kind!r}")
    if said:
        yield {"content": "", **said}


def write(path: Path, conversations: Sequence[Conversation]) -> None:
    write_lines(path, map(dump, conversations))


def read(path: Path) -> list[Conversation]:
    return read_rows(path, load)
