"""Repeated runs of one arm. Per-task success counts in; pass@k, pass^k and mean@k with task-bootstrap intervals out.

Sources: pass@k, Chen et al. 2021, eq. 1; pass^k, Yao et al. 2024 (tau-bench), both unbiased over the drawn attempts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.result import Interval, percent, percent_interval

Kind = Literal["pass@k", "pass^k", "mean@k"]

NUM_RESAMPLES = 2000
SEED = 20_240_607  # of all resampling: the same runs give the same report


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """One task run `num_runs` times, solved `num_solved` times."""

    num_runs: int
    num_solved: int

    def __post_init__(self) -> None:
        if not 0 <= self.num_solved <= self.num_runs or self.num_runs == 0:
            raise ValueError(f"attempts need 0 <= solved <= runs and runs > 0, got {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRate:
    """A mean over n tasks. `interval` is None for a single task, which says nothing about other tasks."""

    kind: Kind
    k: int
    n: int
    estimate: float
    interval: Interval | None
    p: None = None
    method: str = "unbiased per task; bootstrap over tasks"

    def reading(self) -> str:
        meaning = {
            "pass@k": f"at least one of {self.k} runs solves the task",
            "pass^k": f"all of {self.k} runs solve the task",
            "mean@k": "a run picked at random solves the task",
        }[self.kind]
        spread = "" if self.interval is None else f" (95% interval {percent_interval(self.interval)})"
        return f"Over {self.n} tasks the chance that {meaning} is {percent(self.estimate)}{spread}."


def pass_at_k(attempts: Attempts, k: int) -> float:
    """Chance that at least one of k runs drawn without replacement succeeds. Raises ValueError when runs < k."""
    n, c = _enough(attempts, k)
    return 1 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(attempts: Attempts, k: int) -> float:
    """pass^k: chance that all of k runs drawn without replacement succeed. Raises ValueError when runs < k."""
    n, c = _enough(attempts, k)
    return math.comb(c, k) / math.comb(n, k)


def mean_at_k(attempts: Attempts, k: int) -> float:
    """Share of solved runs, over all runs of the task. Raises ValueError when runs < k."""
    n, c = _enough(attempts, k)
    return c / n


def _enough(attempts: Attempts, k: int) -> tuple[int, int]:
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    if attempts.num_runs < k:
        raise ValueError(f"k = {k} needs at least {k} runs of every task, got {attempts.num_runs}")
    return attempts.num_runs, attempts.num_solved


def repeated_rate(tasks: Sequence[Attempts], k: int, kind: Kind, *, rng: np.random.Generator) -> RepeatedRate:
    """Mean over tasks; a task with fewer than k runs is an error, never left out."""
    if not tasks:
        raise ValueError(f"{kind} needs at least one task")
    per_task = {"pass@k": pass_at_k, "pass^k": pass_hat_k, "mean@k": mean_at_k}[kind]
    values = np.array([per_task(task, k) for task in tasks])
    return RepeatedRate(
        kind=kind, k=k, n=len(tasks), estimate=float(values.mean()), interval=mean_interval(values, rng=rng)
    )


def mean_interval(values: np.ndarray, *, rng: np.random.Generator) -> Interval | None:
    """Percentile bootstrap of a mean over tasks; None for a single task."""
    if len(values) < 2:
        return None
    low, high = np.percentile(resampled_means(values, NUM_RESAMPLES, rng=rng), [2.5, 97.5])
    return Interval(low=float(low), high=float(high))


def resampled_means(values: np.ndarray, num_resamples: int, *, rng: np.random.Generator) -> np.ndarray:
    """Means of `num_resamples` redraws of the values with replacement."""
    drawn = rng.integers(len(values), size=(num_resamples, len(values)))
    return np.asarray(values[drawn].mean(axis=1))
