"""Which faults really happened. Hit sets in; the common-hit set and its coverage out.

Models leave the planned path, so that a planned fault may never meet its call. Only cases where the fault hit every
compared model compare like with like; how many those are must stand beside the result, and so must the result on all.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass
from typing import Generic, TypeVar

from analysis.rates import wilson
from analysis.result import Interval, percent

CaseKey = TypeVar("CaseKey", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonHits(Generic[CaseKey]):
    """`cases`: hit in every model. `assigned`: where the manifest plans a fault. `num_hits`: per model."""

    cases: frozenset[CaseKey]
    assigned: frozenset[CaseKey]
    num_hits: Mapping[str, int]
    interval: Interval
    p: None = None
    method: str = "intersection of actual hits; Wilson score interval of the coverage"

    @property
    def n(self) -> int:
        return len(self.assigned)

    @property
    def estimate(self) -> float:
        return len(self.cases) / self.n

    def reading(self) -> str:
        per_model = ", ".join(f"{model} {hits}" for model, hits in self.num_hits.items())
        return (
            f"The planned fault happened for every model in {len(self.cases)} of {self.n} assigned cases "
            f"(coverage {percent(self.estimate)}; per model: {per_model})."
        )


def common_hits(hits: Mapping[str, Set[CaseKey]], assigned: Set[CaseKey]) -> CommonHits[CaseKey]:
    """Intersection of the models' actual hits. Raises ValueError for a hit that was never assigned."""
    if not hits or not assigned:
        raise ValueError("common hits need at least one model and one assigned case")
    for model, cases in hits.items():
        if stray := cases - assigned:
            raise ValueError(f"{model}: {len(stray)} hits outside the assigned cases, such as {min(map(str, stray))}")
    common = frozenset.intersection(*(frozenset(cases) for cases in hits.values()))
    return CommonHits(
        cases=common,
        assigned=frozenset(assigned),
        num_hits={model: len(cases) for model, cases in hits.items()},
        interval=wilson(len(common), len(assigned)).interval,
    )
