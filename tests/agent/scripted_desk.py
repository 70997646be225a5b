"""A desk that answers a script with replies written by hand, one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from robustops.agent.plan import Pick, Plan, ReadBack, Ref, Step, Value
from robustops.agent.policy import Prompt, Sampling
from robustops.agent.scripted import ScriptedExpert

THROTTLED = '{"error": "rate limited: the call was not executed", "executed": false, "retry_after_s": 1}'
TIMEOUT = '{"error": "timeout: no acknowledgement received; the outcome is unknown"}'
PLAN = Plan(
    task_id="t",
    steps=(
        Step(bind="account", tool="find_account", arguments={"name": Value(value="Amber Bank")}),
        Step(
            bind="contract",
            tool="find_contracts",
            arguments={"account_id": Ref(step="account", field="account_id")},
            pick=Pick(order_by="end_date"),
        ),
        Step(
            bind="done",
            tool="update_contract",
            arguments={"contract_id": Ref(step="contract", field="contract_id"), "status": Value(value="suspended")},
            read_back=ReadBack(
                tool="find_contracts",
                arguments={"contract_id": Ref(step="contract", field="contract_id")},
                where={"status": Value(value="suspended")},
            ),
        ),
    ),
)


def play(
    replies: Sequence[str], policy: Callable = ScriptedExpert, plan: Plan = PLAN, *, fresh_each_turn: bool = False
) -> list[str]:
    """The script's calls (and last its answer) when the desk gives these replies, one after the other."""
    messages: list[dict[str, object]] = [{"role": "system", "content": "p"}, {"role": "user", "content": "r"}]
    agent, said = policy({"t": plan}), []
    for reply in [*replies, None]:
        prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=(), messages=tuple(messages), tools=())
        agent = policy({"t": plan}) if fresh_each_turn else agent
        said.append(text := run(agent.act(prompt, Sampling())).text)
        if "<tool_call>" not in text:
            break
        function = json.loads(text.removeprefix("<tool_call>").removesuffix("</tool_call>"))
        assert reply is not None, f"the desk has no reply left for {text}"
        messages.append(
            {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "content": reply})
    return said


def run(coroutine):
    """The scripted policies never wait, so that a bare coroutine can be stepped by hand."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a scripted policy waited for something")


def call(tool: str, /, **arguments: object) -> str:
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': arguments})}\n</tool_call>"
