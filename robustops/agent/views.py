"""What the model is shown of tools and replies: task and schemas in, chat messages out; two views.

full: the tokenizer's template renders the JSON schemas, replies are the whole result object (what the benchmark shows).
compact: one signature a line in the system text, replies are the text block without nulls and bookkeeping times; for
models too small for schemas. Faults act below this, on `ToolResult`. Knows no tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from robustops.core.episode import ToolResult
from robustops.core.task import Task, ToolSchema

ToolView = Literal["full", "compact"]
BOOKKEEPING = frozenset({"sys_created_on", "sys_updated_on"})


def signature(tool: ToolSchema) -> str:
    """`update_case(case_id, state?, priority?)`: parameters in schema order, optional ones marked."""
    required = set(tool.input_schema.get("required", ()))
    parameters = tool.input_schema.get("properties", {})
    return f"{tool.name}({', '.join(name if name in required else f'{name}?' for name in parameters)})"


def system_text(task: Task, tools: Sequence[ToolSchema], view: ToolView) -> str:
    if view == "full":
        return task.policy
    return task.policy + "\n\n# Tools\n" + "\n".join(signature(tool) for tool in tools)


def template_tools(tools: Sequence[ToolSchema], view: ToolView) -> list[dict[str, Any]] | None:
    """Schemas for the chat template; None in the compact view, where the system text already lists them."""
    if view == "compact" or not tools:
        return None
    return [chat_tool(tool) for tool in tools]


def chat_tool(tool: ToolSchema) -> dict[str, Any]:
    """A tool as chat templates and endpoints take it."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}
    return {"type": "function", "function": function}


def observation_text(result: ToolResult, view: ToolView) -> str:
    return result.observation if view == "full" else compact_text(result.text)


def compact_text(text: str) -> str:
    """The text block without nulls and bookkeeping times; raw where it is not a JSON object or list.

    Separators are those of tool calls, so that a small model copies the very tokens it reads.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict | list):
        return text
    return json.dumps(_without_noise(value), ensure_ascii=False)


def _without_noise(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_noise(item) for key, item in value.items() if item is not None and key not in BOOKKEEPING}
    if isinstance(value, list):
        return [_without_noise(item) for item in value]
    return value
