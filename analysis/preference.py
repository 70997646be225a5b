"""Which of two arms does better on more tasks. Counts in, the sign test out; ties say nothing and are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import binomtest

from analysis.rates import wilson
from analysis.result import Interval, p_equals, percent, percent_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """`estimate`: share of A among the tasks that prefer one arm, one half where none does."""

    prefer_a: int
    prefer_b: int
    num_ties: int
    p: float
    interval: Interval | None
    method: str = "sign test, exact; Wilson score interval"

    @property
    def n(self) -> int:
        return self.prefer_a + self.prefer_b + self.num_ties

    @property
    def estimate(self) -> float:
        decided = self.prefer_a + self.prefer_b
        return self.prefer_a / decided if decided else 0.5

    def reading(self, a: str = "A", b: str = "B") -> str:
        if self.interval is None:
            return f"Of {self.n} tasks none does better with either of {a} and {b}."
        return (
            f"Of {self.n} tasks {self.prefer_a} do better with {a}, {self.prefer_b} with {b}, {self.num_ties} alike: "
            f"{a} has {percent(self.estimate)} of the decided ones (95% interval {percent_interval(self.interval)}), "
            f"{p_equals(self.p)}."
        )


def preference(a: Sequence[float], b: Sequence[float]) -> Preference:
    """Per-task results of both arms, in the same order. Raises ValueError where they are not of the same tasks."""
    if len(a) != len(b) or not a:
        raise ValueError(f"a preference needs the same tasks for both arms, at least one: got {len(a)} and {len(b)}")
    more, fewer = (sum(sign * (x - y) > 0 for x, y in zip(a, b, strict=True)) for sign in (1, -1))
    return sign_test(more, fewer, num_ties=len(a) - more - fewer)


def sign_test(prefer_a: int, prefer_b: int, *, num_ties: int = 0) -> Preference:
    decided = prefer_a + prefer_b
    return Preference(
        prefer_a=prefer_a,
        prefer_b=prefer_b,
        num_ties=num_ties,
        p=float(binomtest(prefer_a, decided, 0.5).pvalue) if decided else 1.0,
        interval=wilson(prefer_a, decided).interval if decided else None,
    )
