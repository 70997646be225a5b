"""One task's graph as it was found: edges in, a checked `CheckGraph` with its evidence, or its refusal, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustops.core.task import CheckGraph
from robustops.data.graphs.rules import Edge


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGraph:
    """`refused`: why the edges make no graph; the task then has none. `graph` is without edges in that case."""

    task_id: str
    graph: CheckGraph
    edges: tuple[Edge, ...] = ()
    refused: str = ""

    def row(self) -> dict[str, Any]:
        """As a line of graphs.jsonl."""
        evidence = [{"edge": [e.parent, e.child], "rule": e.rule, "why": e.why} for e in self.edges]
        return {
            "task_id": self.task_id,
            "num_checks": self.graph.num_checks,
            "edges": [list(edge) for edge in self.graph.edges],
            "evidence": evidence,
            "refused": self.refused,
        }


def checked(task_id: str, num_checks: int, edges: Sequence[Edge]) -> FoundGraph:
    """The graph, or its refusal: an unknown check, a self-edge or a cycle, by name."""
    try:
        graph = CheckGraph(num_checks=num_checks, edges=tuple((edge.parent, edge.child) for edge in edges))
    except ValueError as error:
        return FoundGraph(task_id=task_id, graph=CheckGraph(num_checks=num_checks), refused=str(error))
    if not gives_full_credit_only_to_all(graph):
        raise ValueError(f"graph of {task_id}: full credit without all checks")
    return FoundGraph(task_id=task_id, graph=graph, edges=tuple(edges))


def gives_full_credit_only_to_all(graph: CheckGraph) -> bool:
    """Full graph credit exactly when all checks pass (docs/algorithms.md).

    Credit never grows when a check stops passing, so the sets that lack one check stand for all others.
    """
    everything = (True,) * graph.num_checks
    lacking = ((*everything[:index], False, *everything[index + 1 :]) for index in range(graph.num_checks))
    is_full = graph.gated(everything) == graph.num_checks
    return is_full and all(graph.gated(passed) < graph.num_checks for passed in lacking)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Edges found against edges known, over all tasks that both have."""

    both: int
    found: int
    known: int

    @property
    def precision(self) -> float | None:
        """None without any edge found."""
        return self.both / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return self.both / self.known if self.known else None

    def reading(self) -> str:
        precision = "no edge found" if self.precision is None else f"precision {self.precision:.1%}"
        recall = "no edge known" if self.recall is None else f"recall {self.recall:.1%}"
        return f"{precision} ({self.both} of {self.found}), {recall} ({self.both} of {self.known})"


def compare(found: Iterable[FoundGraph], known: Mapping[str, CheckGraph]) -> Agreement:
    both = num_found = num_known = 0
    for item in found:
        if item.task_id not in known:
            continue
        ours, theirs = set(item.graph.edges), set(known[item.task_id].edges)
        both, num_found, num_known = both + len(ours & theirs), num_found + len(ours), num_known + len(theirs)
    return Agreement(both=both, found=num_found, known=num_known)
