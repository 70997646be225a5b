"""Scripted policies: a prompt's messages in, what a script does next out. No model; sees only the prompt.

All are stateless: the next call follows from the messages, so an episode can be continued from any of its prefixes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from robustops.agent.hermes import write_decision
from robustops.agent.plan import Plan
from robustops.agent.policy import Message, Prompt, Sample, Sampling
from robustops.agent.scripts import Decisions, expert_decisions, hasty_decisions, naive_decisions
from robustops.agent.shown_reply import ShownReply, read_reply
from robustops.core.episode import ToolCall
from robustops.core.errors import PolicyError
from robustops.core.signature import call_signature
from robustops.core.task import ToolSchema


class Encoder(Protocol):
    def encode_decision(self, *, call: ToolCall | None, content: str) -> tuple[int, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    call: ToolCall
    reply: ShownReply


def _exchanges(messages: Sequence[Message]) -> Iterator[_Exchange]:
    """Calls and their replies, in order."""
    call = None
    for message in messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            function = calls[0]["function"] if calls else None
            call = function and ToolCall(name=function["name"], arguments=function["arguments"])
        elif message["role"] == "tool" and call is not None:
            yield _Exchange(call=call, reply=read_reply(str(message["content"])))
            call = None


def next_decision(
    decisions: Decisions, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()
) -> ToolCall | str:
    """The call after these messages, or the final answer. Calls that the script would not have made are passed over.

    `tools`: their schemas give a call's arguments order and type.
    """
    schemas = {tool.name: tool.input_schema.get("properties", {}) for tool in tools}
    try:
        wanted = _by_schema(next(decisions), schemas)
        for exchange in _exchanges(messages):
            if _signature(exchange.call) == _signature(wanted):
                wanted = _by_schema(decisions.send(exchange.reply), schemas)
    except StopIteration as stop:
        return str(stop.value)
    return wanted


def _by_schema(call: ToolCall, schemas: Mapping[str, Mapping[str, Any]]) -> ToolCall:
    """Arguments in the order of the signature: one order for every call of a tool is easier to imitate.

    Some tools take as text what others reply as a number.
    """
    properties = schemas.get(call.name, {})
    names = dict.fromkeys([*(name for name in properties if name in call.arguments), *call.arguments])
    arguments = {name: _typed(call.arguments[name], properties.get(name, {}).get("type")) for name in names}
    return ToolCall(name=call.name, arguments=arguments)


def _typed(value: Any, wanted: Any) -> Any:
    if wanted == "string" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _signature(call: ToolCall) -> str:
    return call_signature(call.name, call.arguments)


class Scripted:
    """Follows a plan by one script. With an encoder (a Codec) its samples carry token ids, else text alone."""

    def __init__(
        self, plans: Mapping[str, Plan], encoder: Encoder | None = None, *, script: Callable[[Plan], Decisions]
    ) -> None:
        self._plans = plans
        self._encoder = encoder
        self._script = script

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Raises PolicyError for a task without a plan."""
        decisions = self._script(_plan_of(self._plans, prompt))
        return _sample(next_decision(decisions, prompt.messages, prompt.tools), self._encoder)

    async def close(self) -> None:
        return None


ScriptedExpert = partial(Scripted, script=expert_decisions)
ScriptedNaive = partial(Scripted, script=naive_decisions)
ScriptedHasty = partial(Scripted, script=hasty_decisions)


def _plan_of(plans: Mapping[str, Plan], prompt: Prompt) -> Plan:
    if prompt.task_id not in plans:
        raise PolicyError(f"no plan for task {prompt.task_id!r}; a scripted policy needs a task set with plans.jsonl")
    return plans[prompt.task_id]


def _sample(decision: ToolCall | str, encoder: Encoder | None) -> Sample:
    call, content = (None, decision) if isinstance(decision, str) else (decision, "")
    ids = encoder.encode_decision(call=call, content=content) if encoder is not None else ()
    return Sample(token_ids=ids, logprobs=(), text=write_decision(call=call, content=content), finish="stop")
