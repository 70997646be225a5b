"""Scripted policies: a symbolic plan and the shown replies in, the next call out. No model; sees only the prompt.

The expert recovers soundly from faults it can see: it repeats what was not executed, reads again what is incomplete or
about something else, filters rows by hand, uses a parameter's new name, and reads a write of unknown outcome back
before it repeats it. Two others follow the same plan without such care: the naive one takes every reply as it comes,
the hasty one makes a call again at once until no error comes back. All are stateless: the next call follows from the
messages, so an episode can be continued from any of its prefixes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from robustops.agent.hermes import write_decision
from robustops.agent.plan import Expression, Fields, Items, Pick, Plan, ReadBack, Ref, Step, Text, Value, leaves
from robustops.agent.policy import Message, Prompt, Sample, Sampling
from robustops.agent.shown_reply import Row, ShownReply, answers, field_of, is_same, read_reply
from robustops.core.episode import ToolCall
from robustops.core.errors import PolicyError
from robustops.core.signature import call_signature
from robustops.core.task import ToolSchema

MAX_ATTEMPTS = 6  # of one call, more than any fault's cap; then the expert says that it failed
FAILED = "I could not finish this."

Decisions = Generator[ToolCall, ShownReply, str]
Bindings = dict[str, Row]


class Encoder(Protocol):
    def encode_decision(self, *, call: ToolCall | None, content: str) -> tuple[int, ...]: ...


class _GivenUp(Exception):
    """A call that no further attempt can save."""


class _Refused(_GivenUp):
    """The tool says no."""


def expert_decisions(plan: Plan) -> Decisions:
    """Calls to make, replies sent in; returns the final answer."""
    bound: Bindings = {}
    reads = {step.bind: step for step in plan.steps if not step.is_write}
    try:
        for step in plan.steps:
            bound[step.bind] = yield from _write(step, bound) if step.is_write else _read(step, bound, reads)
    except _GivenUp:
        return FAILED
    return plan.answer


def naive_decisions(plan: Plan) -> Decisions:
    """The same plan, each step once; where a value is missing it stops and says that all is done."""
    bound: Bindings = {}
    try:
        for step in plan.steps:
            reply = yield ToolCall(name=step.tool, arguments=_resolve_all(step.arguments, bound))
            bound[step.bind] = _picked(reply.rows, step.pick, bound) or {}
    except _GivenUp:
        pass
    return plan.answer


def hasty_decisions(plan: Plan) -> Decisions:
    """The same plan, each call again and again until its reply is no error; nothing is checked or read back."""
    bound: Bindings = {}
    try:
        for step in plan.steps:
            arguments = _resolve_all(step.arguments, bound)
            for _ in range(MAX_ATTEMPTS):
                reply = yield ToolCall(name=step.tool, arguments=arguments)
                if reply.kind in ("data", "incomplete"):
                    break
            bound[step.bind] = _picked(reply.rows, step.pick, bound) or {}
    except _GivenUp:
        pass
    return plan.answer


def _read(step: Step, bound: Bindings, reads: Mapping[str, Step]) -> Generator[ToolCall, ShownReply, Row]:
    """The row meant. Where there are rows but not that one, an earlier read, which named them, is made again: lists of
    bare ids cannot tell that a filter was ignored."""
    for _ in range(MAX_ATTEMPTS):
        rows = yield from _rows(step.tool, _resolve_all(step.arguments, bound))
        row = _picked(rows, step.pick, bound)
        if row is not None:
            return row
        names = [leaf.step for leaf in leaves(step.arguments.values()) if isinstance(leaf, Ref)]
        if not rows or not names or names[0] not in reads:
            break
        bound[names[0]] = yield from _read(reads[names[0]], bound, reads)
    raise _GivenUp


def _rows(tool: str, arguments: Mapping[str, Any]) -> Generator[ToolCall, ShownReply, tuple[Row, ...]]:
    """Read until a complete reply to this very question comes; rows that were not asked for are left out."""
    sent = arguments
    for _ in range(MAX_ATTEMPTS):
        reply = yield ToolCall(name=tool, arguments=sent)
        if reply.kind == "error":
            raise _Refused
        if reply.kind != "data":
            sent = reply.renamed_in(sent)
            continue
        fitting = tuple(row for row in reply.rows if answers(row, tool, arguments, is_list=reply.is_list))
        if fitting or not reply.rows:
            return fitting
    raise _GivenUp


def _write(step: Step, bound: Bindings) -> Generator[ToolCall, ShownReply, Row]:
    assert step.read_back is not None
    sent: Mapping[str, Any] = _resolve_all(step.arguments, bound)
    for _ in range(MAX_ATTEMPTS):
        reply = yield ToolCall(name=step.tool, arguments=sent)
        if reply.kind == "error":
            raise _Refused
        if reply.kind == "data":
            return reply.rows[0] if reply.rows else {}
        if reply.kind == "not_executed":
            sent = reply.renamed_in(sent)
            continue
        effect = yield from _effect(step.read_back, bound)
        if effect is not None:
            return effect
    raise _GivenUp


def _effect(back: ReadBack, bound: Bindings) -> Generator[ToolCall, ShownReply, Row | None]:
    """The row that shows that the write took place (an empty one for a deletion), or None where it did not."""
    try:
        rows = yield from _rows(back.tool, _resolve_all(back.arguments, bound))
    except _Refused:
        rows = ()  # nothing there to be read
    row = _picked(rows, Pick(where=back.where), bound)
    if back.is_absent:
        return {} if row is None else None
    return row


def _picked(rows: tuple[Row, ...], pick: Pick | None, bound: Bindings) -> Row | None:
    pick = pick or Pick()
    where = _resolve_all(pick.where, bound)
    fitting = [row for row in rows if all(is_same(asked, field_of(row, name)) for name, asked in where.items())]
    if pick.order_by is not None:
        order_by = pick.order_by
        fitting = sorted(
            (row for row in fitting if field_of(row, order_by) is not None),
            key=lambda row: field_of(row, order_by),
            reverse=pick.largest,
        )
    return fitting[0] if fitting else None


def _resolve_all(expressions: Mapping[str, Expression], bound: Bindings) -> dict[str, Any]:
    return {name: _resolve(expression, bound) for name, expression in expressions.items()}


def _resolve(expression: Expression, bound: Bindings) -> Any:
    if isinstance(expression, Value):
        return expression.value
    if isinstance(expression, Fields):
        return _resolve_all(expression.items, bound)
    if isinstance(expression, Items):
        return [_resolve(item, bound) for item in expression.items]
    if isinstance(expression, Text):
        return "".join(str(_resolve(part, bound)) for part in expression.parts)
    value = field_of(bound[expression.step], expression.field)
    if value is None:
        raise _GivenUp
    return value


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
