"""What a template makes: a request's slots, the symbolic plan, the checks and their graph. Knows no domain, no file.

A template is a function from a world to a draft, or from the worlds of two domains where its tasks span both. Its
request patterns are split as the tasks are: the last quarter of them occurs in test only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from robustops.agent.plan import Expression, Fields, Items, Leaf, Pick, ReadBack, Ref, Scalar, Step, Text, Value
from robustops.core.task import Part
from robustops.data.synth.world import SEED_TIME, World, literal


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDraft:
    """One database_state check with an integer answer. `host`: which of the task's servers it asks."""

    name: str
    query: str
    expected: int
    host: int = 0

    def on(self, host: int) -> CheckDraft:
        return replace(self, host=host)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """`slots` fill the request; with the template's name they are the identity of a task, so no two tasks share them.

    `edges`: necessary prerequisites between checks, by index.
    """

    slots: Mapping[str, Scalar]
    steps: tuple[Step, ...]
    checks: tuple[CheckDraft, ...]
    edges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """`extra_tools`: tools offered beside those of the plan. `draw`: worlds and a generator in, None where the worlds
    have nothing fitting. `hosts`: of a hybrid template, the domains whose worlds it takes, in the order of servers."""

    name: str
    patterns: tuple[str, ...]
    extra_tools: tuple[str, ...]
    draw: Callable[..., Draft | None]
    held_out: bool = False
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.patterns) < 4:
            raise ValueError(f"template {self.name}: {len(self.patterns)} request patterns, expected at least 4")

    def patterns_of(self, part: Part) -> tuple[str, ...]:
        """Train and val share the first three quarters; test sees all."""
        return self.patterns if part == "test" else self.patterns[: len(self.patterns) * 3 // 4]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBackRule:
    """How the effect of a write tool is read: a tool on the same table, filtered by these arguments of the write.

    `is_absent`: the tool deletes, so that its effect is that no such row is there.
    """

    tool: str
    keys: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)  # argument of the write -> column of the row
    is_absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """All that the generator knows of one domain."""

    name: str
    server: str
    url: str
    policy: str
    templates: tuple[Template, ...]
    build: Callable[[Part, Random, int], World]  # (part, rng, rows of a middling table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hybrid:
    """Tasks that span two domains; each template names its own."""

    name: str
    policy: str
    templates: tuple[Template, ...]


def expression(argument: Any) -> Expression:
    """`"@step.field"` refers to a bound row; objects and lists are read item by item; a `Text` is one already; anything
    else is a constant."""
    if isinstance(argument, Text):
        return argument
    if isinstance(argument, Mapping):
        return Fields(items=expressions(argument))
    if isinstance(argument, list):
        return Items(items=tuple(map(expression, argument)))
    return _leaf(argument)


def text(*parts: Scalar) -> Text:
    """A text of constants and references to bound rows."""
    return Text(parts=tuple(_leaf(part) for part in parts))


def _leaf(argument: Scalar) -> Leaf:
    if isinstance(argument, str) and argument.startswith("@"):
        step, _, name = argument[1:].partition(".")
        return Ref(step=step, field=name)
    return Value(value=argument)


def expressions(arguments: Mapping[str, Any]) -> dict[str, Expression]:
    return {name: expression(argument) for name, argument in arguments.items()}


def read(bind: str, tool: str, arguments: Mapping[str, Any], pick: Pick | None = None) -> Step:
    return Step(bind=bind, tool=tool, arguments=expressions(arguments), pick=pick)


def write(bind: str, tool: str, arguments: Mapping[str, Any], rules: Mapping[str, ReadBackRule]) -> Step:
    """A write with its read-back: look the row up by the rule's keys and expect every other argument in it."""
    rule = rules[tool]
    asked = expressions(arguments)
    back = ReadBack(
        tool=rule.tool,
        arguments={rule.renamed.get(name, name): asked[name] for name in rule.keys},
        where={rule.renamed.get(name, name): value for name, value in asked.items() if name not in rule.keys},
        is_absent=rule.is_absent,
    )
    return Step(bind=bind, tool=tool, arguments=asked, read_back=back)


def holds(name: str, table: str, row: Mapping[str, Any]) -> CheckDraft:
    """Exactly one row of the table has these values."""
    where = " AND ".join(f"{column} = {literal(value)}" for column, value in row.items())
    return CheckDraft(name=name, query=f"SELECT COUNT(*) FROM {table} WHERE {where}", expected=1)


def only_written(
    name: str, table: str, row: Mapping[str, Any], *, column: str = "sys_updated_on", since: str = SEED_TIME
) -> CheckDraft:
    """Guard: no other row of the table was written since the seed was made. Holds before anything was done."""
    same = " AND ".join(f"{key} = {literal(value)}" for key, value in row.items())
    query = f"SELECT COUNT(*) FROM {table} WHERE {column} > {literal(since)} AND NOT ({same})"
    return CheckDraft(name=name, query=query, expected=0)


def row_count(name: str, table: str, expected: int) -> CheckDraft:
    """Guard: the table has this many rows."""
    return CheckDraft(name=name, query=f"SELECT COUNT(*) FROM {table}", expected=expected)


def gone(name: str, table: str, row: Mapping[str, Any]) -> CheckDraft:
    """No row of the table has these values."""
    return replace(holds(name, table, row), expected=0)


def others_kept(
    name: str, world: World, table: str, row: Mapping[str, Any], within: Mapping[str, Any] | None = None
) -> CheckDraft:
    """Guard for tables without times: of the rows that fit `within`, as many as in the seed differ from `row`."""
    within = within or {}
    kept = [one for one in world.rows(table, within) if any(one[key] != value for key, value in row.items())]
    same = " AND ".join(f"{key} = {literal(value)}" for key, value in row.items())
    where = " AND ".join([*(f"{key} = {literal(value)}" for key, value in within.items()), f"NOT ({same})"])
    return CheckDraft(name=name, query=f"SELECT COUNT(*) FROM {table} WHERE {where}", expected=len(kept))
