"""Two arms with repeated runs. The task is the unit: runs of one task are never pooled as if independent.

Per-task outcomes in; paired mean difference, macro difference over domains and flip-rate excess out.
Permutation p-values are (1 + number at least as extreme) / (1 + number drawn), Phipson & Smyth 2010.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import permutation_test

from analysis.passk import NUM_RESAMPLES, mean_interval, resampled_means
from analysis.result import Interval, p_equals, points, points_interval

NUM_PERMUTATIONS = 9999


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """Mean over n tasks of (mean outcome of A - mean outcome of B). `p` is None where no test was asked for."""

    n: int
    estimate: float
    interval: Interval | None
    p: float | None
    method: str

    def reading(self, a: str = "A", b: str = "B") -> str:
        spread = "" if self.interval is None else f" (95% interval {points_interval(self.interval)})"
        test = "" if self.p is None else f", {p_equals(self.p)}"
        return f"Over {self.n} tasks {a} is {points(self.estimate)} points from {b}{spread}{test}; {self.method}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """One task, both arms: A solves `solved_a` and B `solved_b` of k runs each."""

    solved_a: int
    solved_b: int
    k: int

    def __post_init__(self) -> None:
        if self.k < 2 or not (0 <= self.solved_a <= self.k and 0 <= self.solved_b <= self.k):
            raise ValueError(f"repeats need k >= 2 and 0 <= solved <= k, got {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipExcess:
    """How much more two arms disagree with each other than with themselves; 0 when they are the same policy."""

    n: int
    estimate: float
    p: float
    interval: Interval | None = None
    method: str = "flip-rate excess; permutation of run labels within task"

    def reading(self, a: str = "A", b: str = "B") -> str:
        return (
            f"Over {self.n} tasks {a} and {b} disagree {points(self.estimate)} points more often with each other than "
            f"with a rerun of themselves ({p_equals(self.p)})."
        )


def paired_difference(a: Sequence[float], b: Sequence[float], *, rng: np.random.Generator) -> MeanDifference:
    """Per-task means of both arms, in the same task order. Sign-flip permutation; exact where all flips are few."""
    arm_a, arm_b = _same_tasks(a, b)
    drawn = permutation_test(
        (arm_a, arm_b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=NUM_PERMUTATIONS,
        batch=1000,
        rng=rng,
    )
    return MeanDifference(
        n=len(arm_a),
        estimate=float(np.mean(arm_a - arm_b)),
        interval=mean_interval(arm_a - arm_b, rng=rng),
        p=min(1.0, float(drawn.pvalue)),
        method="sign-flip permutation and bootstrap over tasks",
    )


def _same_tasks(a: Sequence[float], b: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"paired arms need the same tasks, at least one: got {len(a)} and {len(b)}")
    return np.asarray(a, dtype=float), np.asarray(b, dtype=float)


def macro_difference(
    domains: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    rng: np.random.Generator,
    num_resamples: int = NUM_RESAMPLES,
) -> MeanDifference:
    """Every domain weighs the same. Tasks are redrawn within their domain, with the same draw for both arms."""
    if not domains:
        raise ValueError("a macro average needs at least one domain")
    differences = [arm_a - arm_b for arm_a, arm_b in (_same_tasks(a, b) for a, b in domains.values())]
    redrawn = [resampled_means(task_differences, num_resamples, rng=rng) for task_differences in differences]
    low, high = np.percentile(np.mean(redrawn, axis=0), [2.5, 97.5])
    return MeanDifference(
        n=sum(map(len, differences)),
        estimate=float(np.mean([task_differences.mean() for task_differences in differences])),
        interval=Interval(low=float(low), high=float(high)),
        p=None,
        method="macro average over domains; bootstrap over tasks within domain",
    )


def flip_excess(tasks: Sequence[Repeats], *, rng: np.random.Generator, num_draws: int = NUM_PERMUTATIONS) -> FlipExcess:
    """Cross-arm disagreement minus the mean within-arm disagreement, averaged over tasks; one-sided upwards."""
    if not tasks:
        raise ValueError("flip-rate excess needs at least one task")
    a, b, k = (np.array([getattr(task, name) for task in tasks]) for name in ("solved_a", "solved_b", "k"))
    observed = float(_excess(a, b, k).mean())
    # Permuting the 2k labels of a task redraws how many of its successes fall to A: hypergeometric.
    redrawn = rng.hypergeometric(a + b, 2 * k - a - b, k, size=(num_draws, len(tasks)))
    extreme = int((_excess(redrawn, a + b - redrawn, k).mean(axis=1) >= observed - 1e-12).sum())
    return FlipExcess(n=len(tasks), estimate=observed, p=(1 + extreme) / (1 + num_draws))


def _excess(a: np.ndarray, b: np.ndarray, k: np.ndarray) -> np.ndarray:
    cross = (a * (k - b) + b * (k - a)) / k**2
    within = (a * (k - a) + b * (k - b)) / (k * (k - 1))
    return np.asarray(cross - within)
