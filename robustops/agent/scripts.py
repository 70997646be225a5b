"""Ways to follow a symbolic plan: the plan and one shown reply after another in, the next call out. Knows no message.

The expert recovers soundly from faults it can see: it repeats what was not executed, reads again what is incomplete or
about something else, filters rows by hand, uses a parameter's new name, and reads a write of unknown outcome back
before it repeats it. Two others follow the same plan without such care: the naive one takes every reply as it comes,
the hasty one makes a call again at once until no error comes back.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from robustops.agent.plan import Expression, Fields, Items, Pick, Plan, ReadBack, Ref, Step, Text, Value, leaves
from robustops.agent.shown_reply import Row, ShownReply, answers, field_of, is_same
from robustops.core.episode import ToolCall

MAX_ATTEMPTS = 6  # of one call, more than any fault's cap; then the expert says that it failed
FAILED = "I could not finish this."

Decisions = Generator[ToolCall, ShownReply, str]
Bindings = dict[str, Row]


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
