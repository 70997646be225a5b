"""Repeated runs of one policy: which tasks are in reach, how noisy a run is, how many tasks tell a difference.

Per-task counts in, named results out. A task with mixed outcomes is one that the policy solves in some of its runs: in
group-relative training only such groups carry a signal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.passk import Attempts, mean_interval
from analysis.power import min_pairs_for_difference
from analysis.rates import Rate, wilson
from analysis.result import Interval, percent, percent_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedGroups:
    """Share of groups of `size` runs that hold both outcomes, averaged over n tasks."""

    size: int
    n: int
    estimate: float
    interval: Interval | None
    p: None = None
    method: str = "without replacement per task; bootstrap over tasks"

    def reading(self) -> str:
        spread = "" if self.interval is None else f" (95% interval {percent_interval(self.interval)})"
        return (
            f"Of groups of {self.size} runs {percent(self.estimate)}{spread} hold both outcomes and carry a signal; "
            f"n = {self.n} tasks."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloor:
    """`estimate`: standard deviation of a single run's success rate over reruns, with the tasks fixed."""

    n: int
    estimate: float
    interval: None = None
    p: None = None
    method: str = "unbiased variance within task, summed over tasks"

    def reading(self) -> str:
        within = 1.96 * math.sqrt(2) * self.estimate
        return (
            f"A rerun on the same {self.n} tasks moves the success rate by {100 * self.estimate:.1f} points (one "
            f"standard deviation); 95 of 100 pairs of reruns differ by less than {100 * within:.1f} points."
        )


def mixed_share(tasks: Sequence[Attempts]) -> Rate:
    """Share of tasks in the mixed band: solved at least once and not always."""
    return wilson(sum(0 < task.num_solved < task.num_runs for task in tasks), len(tasks))


def mixed_groups(tasks: Sequence[Attempts], size: int, *, rng: np.random.Generator) -> MixedGroups:
    """1 - C(c, g)/C(n, g) - C(n - c, g)/C(n, g) per task. Raises ValueError for a task with fewer than `size` runs."""
    if size < 2 or any(task.num_runs < size for task in tasks) or not tasks:
        raise ValueError(f"groups of {size} need tasks with at least as many runs, and a size of at least 2")
    values = np.array([1 - _uniform(task, size) for task in tasks])
    return MixedGroups(size=size, n=len(tasks), estimate=float(values.mean()), interval=mean_interval(values, rng=rng))


def _uniform(task: Attempts, size: int) -> float:
    failed = task.num_runs - task.num_solved
    return (math.comb(task.num_solved, size) + math.comb(failed, size)) / math.comb(task.num_runs, size)


def noise_floor(tasks: Sequence[Attempts]) -> NoiseFloor:
    """Raises ValueError for a task with a single run, whose noise nobody has seen."""
    if not tasks or any(task.num_runs < 2 for task in tasks):
        raise ValueError("the noise of a run needs tasks with at least 2 runs each")
    variance = sum(_variance(task) for task in tasks)
    return NoiseFloor(n=len(tasks), estimate=math.sqrt(variance) / len(tasks))


def _variance(task: Attempts) -> float:
    """Unbiased variance of one run's outcome: c (n - c) / (n (n - 1))."""
    n, c = task.num_runs, task.num_solved
    return c * (n - c) / (n * (n - 1))


def rerun_discordance(tasks: Sequence[Attempts]) -> float:
    """How often two runs of the same policy differ on a task: twice the variance within it."""
    return 2 * sum(_variance(task) for task in tasks) / len(tasks)


def tasks_needed(difference: float, discordance: float, *, power: float = 0.8) -> int:
    """Least number of paired tasks on which the exact McNemar test shows `difference` between two single runs.

    The pairs that differ are those of a rerun plus those of the difference itself.
    """
    if not 0 < difference < 1:
        raise ValueError(f"a difference lies between 0 and 1, got {difference}")
    lost = discordance / 2
    return min_pairs_for_difference(p_only_a=min(1 - lost, lost + difference), p_only_b=lost, power=power)
