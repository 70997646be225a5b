"""How many cases are enough. Assumed rates in; power of the exact McNemar test and least n out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import binom

from analysis.paired import ALPHA, Discordant, equivalence


def mcnemar_power(*, p_only_a: float, p_only_b: float, n: int, alpha: float = ALPHA) -> float:
    """Exact power: over every number of discordant pairs, and over every way they can split."""
    p_discordant = p_only_a + p_only_b
    if min(p_only_a, p_only_b) < 0 or not 0 < p_discordant <= 1 or n < 1:
        raise ValueError(f"need shares of discordant pairs within (0, 1], got {p_only_a} and {p_only_b}, n = {n}")
    totals = np.arange(n + 1)
    # The test rejects iff min(b, c) <= critical, where 2 cdf(critical) <= alpha; critical is -1 where none does.
    critical = binom.ppf(alpha / 2, totals, 0.5)
    critical = np.where(2 * binom.cdf(critical, totals, 0.5) < alpha, critical, critical - 1)
    share_a = p_only_a / p_discordant
    rejects = binom.cdf(critical, totals, share_a) + binom.sf(totals - critical - 1, totals, share_a)
    return float(np.sum(binom.pmf(totals, n, p_discordant) * np.where(critical < 0, 0.0, rejects)))


def min_pairs_for_difference(
    *, p_only_a: float, p_only_b: float, power: float = 0.8, alpha: float = ALPHA, limit: int = 20_000
) -> int:
    """Least n at which the exact McNemar test has this power. Raises ValueError when `limit` pairs do not suffice."""
    return _least(
        lambda n: mcnemar_power(p_only_a=p_only_a, p_only_b=p_only_b, n=n, alpha=alpha) >= power,
        limit,
        f"power {power} with shares {p_only_a} and {p_only_b}",
    )


def min_pairs_for_equivalence(margin: float, *, alpha: float = ALPHA, limit: int = 100_000) -> int:
    """Least n at which two arms without one discordant pair are shown equivalent: a floor, not a plan."""
    return _least(
        lambda n: equivalence(Discordant(only_a=0, only_b=0, n=n), margin=margin, alpha=alpha).p < alpha,
        limit,
        f"equivalence within {margin}",
    )


def _least(is_enough: Callable[[int], bool], limit: int, goal: str) -> int:
    """Bisection; exact power has small saw-teeth in n, so the answer is exact to within one tooth."""
    high = 1
    while not is_enough(high):
        high *= 2
        if high > limit:
            raise ValueError(f"{goal}: {limit} pairs are not enough")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high
