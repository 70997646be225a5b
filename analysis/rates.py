"""Success rates. Counts in, a rate with its Wilson interval out."""

from __future__ import annotations

from dataclasses import dataclass

from statsmodels.stats.proportion import proportion_confint

from analysis.result import Interval, percent, percent_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Share of n cases that are solved; an unscored case counts in n and is not solved."""

    num_successes: int
    n: int
    interval: Interval
    p: None = None
    method: str = "Wilson score interval"

    @property
    def estimate(self) -> float:
        return self.num_successes / self.n

    def reading(self) -> str:
        return (
            f"{self.num_successes} of {self.n} are solved: {percent(self.estimate)} "
            f"({percent(self.interval.level, 0)} interval {percent_interval(self.interval)})."
        )


def wilson(num_successes: int, n: int, *, level: float = 0.95) -> Rate:
    """Wilson interval of a rate (Wilson 1927). Raises ValueError unless 0 <= successes <= n and n > 0."""
    if not 0 <= num_successes <= n or n == 0:
        raise ValueError(f"a rate needs 0 <= successes <= n and n > 0, got {num_successes} of {n}")
    low, high = proportion_confint(num_successes, n, alpha=1 - level, method="wilson")
    # The bounds at 0 and n successes are exactly 0 and 1; floating point leaves them at 1e-17 or so.
    interval = Interval(
        low=0.0 if num_successes == 0 else float(low),
        high=1.0 if num_successes == n else float(high),
        level=level,
    )
    return Rate(num_successes=num_successes, n=n, interval=interval)
