"""An OpenAI-compatible endpoint whose model is the scripted expert: chat messages in, a call or an answer out.

With it a collection over HTTP can be run, and tested, without a model. It finds the task by the request it is asked
about, so two tasks with one request must have one plan, as synthetic ones have. Knows no task ids and no faults.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from robustops.agent.plan import Plan
from robustops.agent.scripted import next_decision
from robustops.agent.scripts import expert_decisions
from robustops.core.task import ToolSchema
from robustops.data.task_set import TaskSet
from robustops.gym.listening import listen


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _SentCall(_Wire):
    name: str
    arguments: str


class _SentCalls(_Wire):
    function: _SentCall


class _Sent(_Wire):
    role: str
    content: str | None = None
    tool_calls: list[_SentCalls] | None = None

    def as_template(self) -> dict[str, Any]:
        """The message as the chat template has it: a call's arguments are an object."""
        calls = [
            {"function": {"name": call.function.name, "arguments": json.loads(call.function.arguments)}}
            for call in self.tool_calls or ()
        ]
        return {"role": self.role, "content": self.content or "", "tool_calls": calls}


class _Function(_Wire):
    name: str
    description: str = ""
    parameters: dict[str, Any]


class _Tool(_Wire):
    function: _Function

    def as_schema(self) -> ToolSchema:
        function = self.function
        return ToolSchema(
            name=function.name, description=function.description, input_schema=function.parameters, gym=""
        )


class _Request(_Wire):
    messages: list[_Sent]
    tools: list[_Tool] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertEndpoint:
    """`plans`: by the task's request. `narration`: what it says before each call."""

    plans: Mapping[str, Plan]
    narration: str = ""

    @classmethod
    def of(cls, task_set: TaskSet, narration: str = "") -> ExpertEndpoint:
        tasks = task_set.tasks(task_set.plans)
        return cls(plans={task.request: task_set.plans[task.task_id] for task in tasks}, narration=narration)

    def reply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Raises ValidationError for a body that is no chat, LookupError for a request that no task makes."""
        asked = _Request.model_validate(body)
        request = next((message.content for message in asked.messages if message.role == "user"), None)
        if request is None or request not in self.plans:
            raise LookupError(f"no task of this set asks {(request or '')[:80]!r}")
        decision = next_decision(
            expert_decisions(self.plans[request]),
            [message.as_template() for message in asked.messages],
            [tool.as_schema() for tool in asked.tools],
        )
        if isinstance(decision, str):
            return _completion({"role": "assistant", "content": decision})
        arguments = json.dumps(dict(decision.arguments))
        call = {"id": "c0", "type": "function", "function": {"name": decision.name, "arguments": arguments}}
        return _completion({"role": "assistant", "content": self.narration or None, "tool_calls": [call]})


def _completion(message: Mapping[str, Any]) -> dict[str, Any]:
    """Without a count of tokens: the expert has none."""
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


Answering = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@asynccontextmanager
async def listening(reply: Answering, host: str, port: int) -> AsyncIterator[str]:
    """Answer chats by `reply` meanwhile; yields the URL up to the version. Port 0 is one that is free."""

    async def handle(request: web.Request) -> web.Response:
        try:
            return web.json_response(reply(await request.json()))
        except (LookupError, ValidationError, json.JSONDecodeError) as error:
            return web.json_response({"error": {"message": str(error)}}, status=400)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    runner = web.AppRunner(app, access_log=None)  # a line per request would hide the address
    await runner.setup()
    try:
        yield f"{await listen(runner, host, port)}/v1"
    finally:
        await runner.cleanup()
