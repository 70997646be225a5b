"""A symbolic way to solve a task: which tools, with which arguments, in terms of the request and of replies.

A plan holds no id, no row and no reply: an argument is a value that the request or policy states, a field of a reply
bound by an earlier step, or an object, a list or a text made of such. Plain data with a JSON form (one plan a line in
plans.jsonl); knows no session and no model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from robustops.core.errors import TaskError

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A constant that the request or the policy states."""

    value: Scalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A field of the row that an earlier step bound: `account.account_id`, `event.start.dateTime`, `file.parents.0`."""

    step: str
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """An object, for arguments that are one."""

    items: Mapping[str, Expression]


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """A list, for arguments that are one."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Pieces put together, for filters and addresses: `displayName eq '` + a name + `'`."""

    parts: tuple[Leaf, ...]


Leaf = Value | Ref
Expression = Value | Ref | Fields | Items | Text


def leaves(expressions: Iterable[Expression]) -> Iterator[Leaf]:
    """Values and references at any depth."""
    for expression in expressions:
        if isinstance(expression, Fields):
            yield from leaves(expression.items.values())
        elif isinstance(expression, Items):
            yield from leaves(expression.items)
        elif isinstance(expression, Text):
            yield from expression.parts
        else:
            yield expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """Which row of a reply to bind: those equal to `where`, then the first, or the one with the largest (smallest)
    `order_by`. Fields of rows may be nested: `start.dateTime`. A list field need only hold what `where` lists."""

    where: Mapping[str, Expression] = field(default_factory=dict)
    order_by: str | None = None
    largest: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """How to see whether a write of unknown outcome took place: a read, and what its row must hold.

    `is_absent`: the write shows in that no row holds it, as after a deletion.
    """

    tool: str
    arguments: Mapping[str, Expression]
    where: Mapping[str, Expression]
    is_absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call; the reply's row is bound under `bind`. A step with a read-back is a write, one without is a read."""

    bind: str
    tool: str
    arguments: Mapping[str, Expression]
    pick: Pick | None = None
    read_back: ReadBack | None = None

    @property
    def is_write(self) -> bool:
        return self.read_back is not None

    def leaves(self) -> Iterator[Leaf]:
        """All that the step states or refers to."""
        yield from leaves(self.arguments.values())
        if self.pick is not None:
            yield from leaves(self.pick.where.values())
        if self.read_back is not None:
            yield from leaves(self.read_back.arguments.values())
            yield from leaves(self.read_back.where.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Steps in order, then the final answer. Raises ValueError for a reference to a step that is not bound yet."""

    task_id: str
    steps: tuple[Step, ...]
    answer: str = "Done."

    def __post_init__(self) -> None:
        bound: set[str] = set()
        for step in self.steps:
            for leaf in step.leaves():
                if isinstance(leaf, Ref) and leaf.step not in bound:
                    raise ValueError(f"plan {self.task_id}: step {step.bind!r} uses {leaf.step!r} before it is bound")
            if step.bind in bound:
                raise ValueError(f"plan {self.task_id}: {step.bind!r} is bound twice")
            bound.add(step.bind)

    @property
    def tools(self) -> tuple[str, ...]:
        """Every tool the plan may call, read-backs included, each once."""
        names: dict[str, None] = {}
        for step in self.steps:
            names[step.tool] = None
            if step.read_back is not None:
                names[step.read_back.tool] = None
        return tuple(names)


def dump_plan(plan: Plan) -> dict[str, Any]:
    return {"task_id": plan.task_id, "steps": [_dump_step(step) for step in plan.steps], "answer": plan.answer}


def load_plan(row: Mapping[str, Any]) -> Plan:
    """Raises TaskError naming the task and what is wrong with its plan."""
    try:
        steps = tuple(_load_step(step) for step in row["steps"])
        return Plan(task_id=row["task_id"], steps=steps, answer=row["answer"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TaskError(f"plan of task {row.get('task_id')!r}: {type(error).__name__}: {error}") from error


def _dump_step(step: Step) -> dict[str, Any]:
    row: dict[str, Any] = {"bind": step.bind, "tool": step.tool, "arguments": _dump_all(step.arguments)}
    if step.pick is not None:
        pick = step.pick
        row["pick"] = {"where": _dump_all(pick.where), "order_by": pick.order_by, "largest": pick.largest}
    if step.read_back is not None:
        back = step.read_back
        row["read_back"] = {
            "tool": back.tool,
            "arguments": _dump_all(back.arguments),
            "where": _dump_all(back.where),
        }
        if back.is_absent:
            row["read_back"]["is_absent"] = True
    return row


def _load_step(row: Mapping[str, Any]) -> Step:
    pick, back = row.get("pick"), row.get("read_back")
    return Step(
        bind=row["bind"],
        tool=row["tool"],
        arguments=_load_all(row["arguments"]),
        pick=pick and Pick(where=_load_all(pick["where"]), order_by=pick["order_by"], largest=pick["largest"]),
        read_back=back and _load_read_back(back),
    )


def _load_read_back(row: Mapping[str, Any]) -> ReadBack:
    return ReadBack(
        tool=row["tool"],
        arguments=_load_all(row["arguments"]),
        where=_load_all(row["where"]),
        is_absent=row.get("is_absent", False),
    )


def _dump_all(expressions: Mapping[str, Expression]) -> dict[str, Any]:
    return {name: _dump(expression) for name, expression in expressions.items()}


def _dump(expression: Expression) -> dict[str, Any]:
    if isinstance(expression, Value):
        return {"value": expression.value}
    if isinstance(expression, Fields):
        return {"object": _dump_all(expression.items)}
    if isinstance(expression, Items):
        return {"list": [_dump(item) for item in expression.items]}
    if isinstance(expression, Text):
        return {"text": [_dump(part) for part in expression.parts]}
    return {"ref": f"{expression.step}.{expression.field}"}


def _load_all(rows: Mapping[str, Any]) -> dict[str, Expression]:
    return {name: _load(row) for name, row in rows.items()}


def _load(row: Mapping[str, Any]) -> Expression:
    if set(row) == {"object"}:
        return Fields(items=_load_all(row["object"]))
    if set(row) == {"list"}:
        return Items(items=tuple(map(_load, row["list"])))
    if set(row) == {"text"}:
        return Text(parts=tuple(map(_load_leaf, row["text"])))
    return _load_leaf(row)


def _load_leaf(row: Mapping[str, Any]) -> Leaf:
    if set(row) == {"value"}:
        return Value(value=row["value"])
    if set(row) == {"ref"}:
        step, dot, name = row["ref"].partition(".")
        if not (step and dot and name):
            raise ValueError(f"expected 'step.field', got {row['ref']!r}")
        return Ref(step=step, field=name)
    raise ValueError(f"expected an object with 'value', 'ref', 'object', 'list' or 'text', got {dict(row)!r}")
