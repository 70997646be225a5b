"""An OpenAI-compatible endpoint whose model is the scripted expert: chat messages in, a call or an answer out.

    python -m tests.data.teacher_server TASK_SET [--port 8123]

With it a collection over HTTP can be run, and tested, without a model. It finds the task by the request it is asked
about, so two tasks with one request must have one plan, as synthetic ones have.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from robustops.agent.plan import Plan
from robustops.agent.scripted import expert_decisions, next_decision
from robustops.core.task import ToolSchema
from robustops.data.task_set import TaskSet


def as_template(message: Mapping[str, Any]) -> dict[str, Any]:
    """A chat message with its arguments as an object."""
    calls = [
        {"function": {"name": c["function"]["name"], "arguments": json.loads(c["function"]["arguments"])}}
        for c in message.get("tool_calls") or ()
    ]
    return {"role": message["role"], "content": message.get("content") or "", "tool_calls": calls}


@dataclass
class ExpertEndpoint:
    """`narration`: what it says before each call. `bodies`: every request it got."""

    plans: Mapping[str, Plan]  # by the task's request
    narration: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        return web.json_response(self.reply(body))

    def reply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        messages = [as_template(message) for message in body["messages"]]
        plan = self.plans[next(m["content"] for m in messages if m["role"] == "user")]
        decision = next_decision(expert_decisions(plan), messages, tools_of(body.get("tools") or ()))
        message: dict[str, Any] = {"role": "assistant", "content": decision if isinstance(decision, str) else None}
        if not isinstance(decision, str):
            arguments = json.dumps(dict(decision.arguments))
            call = {"id": "c0", "type": "function", "function": {"name": decision.name, "arguments": arguments}}
            message |= {"content": self.narration or None, "tool_calls": [call]}
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def tools_of(tools: Sequence[Mapping[str, Any]]) -> list[ToolSchema]:
    functions = [tool["function"] for tool in tools]
    return [
        ToolSchema(name=f["name"], description=f.get("description", ""), input_schema=f["parameters"], gym="")
        for f in functions
    ]


def expert_of(root: Path, narration: str = "") -> ExpertEndpoint:
    task_set = TaskSet.load(root)
    tasks = task_set.tasks(task_set.plans)
    return ExpertEndpoint({task.request: task_set.plans[task.task_id] for task in tasks}, narration)


@contextmanager
def served_expert(root: Path, narration: str = "") -> Iterator[tuple[str, ExpertEndpoint]]:
    """Serve in a thread of its own; yields the URL up to the version."""
    endpoint, ready = expert_of(root, narration), threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", endpoint.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        found.update(stop=asyncio.Event(), loop=asyncio.get_running_loop())
        found["url"] = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready.set()
        await found["stop"].wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield found["url"], endpoint
    finally:
        found["loop"].call_soon_threadsafe(found["stop"].set)
        thread.join(30)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.data.teacher_server", description=__doc__.splitlines()[0])
    parser.add_argument("root", type=Path, metavar="TASK_SET")
    parser.add_argument("--port", type=int, default=8123)
    options = parser.parse_args()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", expert_of(options.root).handle)
    print(f"the scripted expert answers at http://127.0.0.1:{options.port}/v1", flush=True)
    web.run_app(app, host="127.0.0.1", port=options.port, print=None)


if __name__ == "__main__":
    main()
