"""What is asked and how success is judged. Frozen data; knows no gym, no model and no file format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ToolMode = Literal["oracle", "plus5", "plus10", "plus15"]
Condition = Literal["clean", "fault"]
CheckKind = Literal["database_state", "tool_execution", "response_check"]
Part = Literal["train", "val", "test"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """One tool as a server advertises it; `gym` is the server's name."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    gym: str
    output_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GymServer:
    """One tool server of a task: its public name, its seed file and the caller's context headers."""

    name: str
    seed_file: str
    url: str = ""
    context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One verifier. Keyed by `index`: names repeat in public tasks."""

    index: int
    kind: CheckKind
    name: str
    gym: str | None
    query: str = ""
    expected: Any = None
    comparison: str = "equals"
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. `seed_root` is the folder that every server's `seed_file` must stay inside."""

    task_id: str
    domain: str
    policy: str
    request: str
    tools: tuple[str, ...]
    servers: tuple[GymServer, ...]
    checks: tuple[Check, ...]
    seed_root: str = "."
    tool_mode: ToolMode = "oracle"
    template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckGraph:
    """Necessary prerequisites between checks: an edge (a, b) says that b cannot count unless a passes.

    Raises ValueError, naming it, for an unknown index, a self-edge or a cycle.
    """

    num_checks: int
    edges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for parent, child in self.edges:
            for index in (parent, child):
                if not 0 <= index < self.num_checks:
                    raise ValueError(f"check graph: unknown check {index}, expected 0..{self.num_checks - 1}")
            if parent == child:
                raise ValueError(f"check graph: self-edge at check {parent}")
        for index in range(self.num_checks):
            if index in self._above(index):
                raise ValueError(f"check graph: cycle through check {index}")

    def _above(self, index: int) -> frozenset[int]:
        found: set[int] = set()
        frontier = [parent for parent, child in self.edges if child == index]
        while frontier:
            parent = frontier.pop()
            if parent not in found:
                found.add(parent)
                frontier += [above for above, child in self.edges if child == parent]
        return frozenset(found)

    def ancestors(self, index: int) -> frozenset[int]:
        """All transitive prerequisites of a check."""
        return self._above(index)

    def gated(self, passed: tuple[bool, ...]) -> int:
        """N_dep: how many checks pass together with all of their ancestors (docs/algorithms.md)."""
        return sum(ok and all(passed[above] for above in self.ancestors(index)) for index, ok in enumerate(passed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is run: one task in one tool mode and condition, for the n-th time."""

    task_id: str
    tool_mode: ToolMode = "oracle"
    condition: Condition = "clean"
    attempt: int = 0

    @property
    def case_id(self) -> str:
        return f"{self.task_id}|{self.tool_mode}|{self.condition}|{self.attempt}"
