"""Costs of two arms on the same tasks. Amounts per task in, the relative change of their mean out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.passk import NUM_RESAMPLES
from analysis.result import Interval, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class RelativeChange:
    """`estimate` = mean after / mean before - 1, over the same n tasks.

    `interval` is None where so few tasks cost anything before that some redraws hold none.
    """

    n: int
    mean_before: float
    mean_after: float
    interval: Interval | None
    p: None = None
    method: str = "ratio of means; bootstrap over tasks"

    @property
    def estimate(self) -> float:
        return self.mean_after / self.mean_before - 1

    def reading(self) -> str:
        spread = "" if self.interval is None else f" (95% interval {signed_percent_interval(self.interval)})"
        return (
            f"Over {self.n} tasks the mean goes from {self.mean_before:,.1f} to {self.mean_after:,.1f}: "
            f"{signed_percent(self.estimate)}{spread}."
        )


def relative_change(before: Sequence[float], after: Sequence[float], *, rng: np.random.Generator) -> RelativeChange:
    """Raises ValueError for unequal lengths, no task or nothing spent before."""
    old, new = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if len(old) != len(new) or old.sum() <= 0:
        raise ValueError(f"a change needs the same tasks and a cost before: got {len(old)} and {len(new)} tasks")
    drawn = rng.integers(len(old), size=(NUM_RESAMPLES, len(old)))
    old_means, new_means = old[drawn].mean(axis=1), new[drawn].mean(axis=1)
    interval = None
    if np.all(old_means > 0):
        low, high = np.percentile(new_means / old_means - 1, [2.5, 97.5])
        interval = Interval(low=float(low), high=float(high))
    return RelativeChange(n=len(old), mean_before=float(old.mean()), mean_after=float(new.mean()), interval=interval)


def signed_percent(share: float) -> str:
    text = percent(share)
    return text if share < 0 else f"+{text}"


def signed_percent_interval(interval: Interval) -> str:
    return f"{signed_percent(interval.low)} to {signed_percent(interval.high)}"
