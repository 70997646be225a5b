"""A chat codec without a tokenizer, for scripted policies: the real views and the real notation, no token ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robustops.agent import hermes
from robustops.agent.hermes import Decision
from robustops.agent.policy import Message
from robustops.agent.views import ToolView, observation_text, system_text
from robustops.core.episode import ToolResult
from robustops.core.task import Task, ToolSchema


@dataclass(frozen=True)
class Opening:
    messages: tuple[Message, ...]
    token_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class TextCodec:
    view: ToolView = "compact"

    def start(self, task: Task, tools: Sequence[ToolSchema]) -> Opening:
        system = {"role": "system", "content": system_text(task, tools, self.view)}
        return Opening(messages=(system, {"role": "user", "content": task.request}))

    def parse(self, text: str) -> Decision:
        return hermes.parse(text)

    def assistant_message(self, decision: str) -> Message:
        call = hermes.parse(decision).call
        assert call is not None, decision
        function = {"name": call.name, "arguments": dict(call.arguments)}
        return {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}

    def tool_message(self, result: ToolResult) -> Message:
        return {"role": "tool", "content": observation_text(result, self.view)}

    def continuation(self, sampled_ids: Sequence[int], result: ToolResult) -> tuple[int, ...]:
        return ()
