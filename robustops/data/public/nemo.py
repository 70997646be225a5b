"""NeMo Gym rows: one task with its prompt and tool schemas baked in. Task values in, rows out, and back.

A row is `{"responses_create_params": {"input": [system, user], "tools": [...]}, "verifier_metadata": {...}}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.core.errors import TaskError
from robustops.core.task import ToolMode, ToolSchema

METADATA = ("task_id", "domain", "gym_servers_config", "verifiers", "selected_tools", "restricted_tools")
MODE_NAMES: Mapping[ToolMode, str] = {
    "oracle": "oracle",
    "plus5": "plus_5_tools",
    "plus10": "plus_10_tools",
    "plus15": "plus_15_tools",
}


def to_row(value: Mapping[str, Any], *, mode: ToolMode, tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """`value`: a task in the public format, with its id and domain. `tools`: those offered, in server order."""
    return {
        "responses_create_params": {
            "input": [
                {"role": "system", "content": value["system_prompt"]},
                {"role": "user", "content": value["user_prompt"]},
            ],
            "tools": [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.input_schema),
                    "strict": False,
                }
                for tool in tools
            ],
        },
        "verifier_metadata": {
            **{name: value.get(name, []) for name in METADATA},
            "mode": MODE_NAMES[mode],
            "tool_to_gym": {tool.name: tool.gym for tool in tools},
        },
    }


def from_row(row: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """The task in the public format, with `mode` beside it. Raises TaskError for a row without both messages."""
    metadata, messages = row["verifier_metadata"], row.get("responses_create_params", {}).get("input")
    texts = {message.get("role"): message.get("content") for message in messages} if isinstance(messages, list) else {}
    if not (isinstance(metadata, dict) and isinstance(texts.get("system"), str) and isinstance(texts.get("user"), str)):
        raise TaskError(
            f"{where}: responses_create_params.input: expected a system and a user message, beside an object "
            "verifier_metadata"
        )
    found = {name: metadata[name] for name in (*METADATA, "mode") if name in metadata}
    return {**found, "system_prompt": texts["system"], "user_prompt": texts["user"]}
