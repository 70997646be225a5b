"""Two arms on the same cases, one run each. Discordant counts in; McNemar, Tango interval, equivalence, verdict out.

Throughout, b = pairs that only A solves, c = pairs that only B solves, difference = (b - c) / n, so A minus B.
Sources: McNemar exact and mid-p, Fagerland, Lydersen & Laake 2013; score interval, Tango 1998; TOST, Schuirmann 1987.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy.optimize import brentq
from scipy.stats import binom, norm
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar

from analysis.result import Interval, p_equals, p_value, percent, points, points_interval

Verdict = Literal["different", "equivalent", "different within the margin", "inconclusive"]

DEFAULT_MARGIN = 0.10
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Discordant:
    """The part of a paired table that carries the difference. Raises ValueError for impossible counts."""

    only_a: int
    only_b: int
    n: int

    def __post_init__(self) -> None:
        if min(self.only_a, self.only_b) < 0 or self.n < max(1, self.total):
            raise ValueError(f"discordant pairs need 0 <= b, c and b + c <= n, n > 0: got {self}")

    @property
    def total(self) -> int:
        return self.only_a + self.only_b

    @property
    def difference(self) -> float:
        return (self.only_a - self.only_b) / self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTable:
    """All four cells. Seen from A as the later model: retained, gained, lost, never solved."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @classmethod
    def of(cls, a: Sequence[bool], b: Sequence[bool]) -> PairedTable:
        """Raises ValueError when the two arms differ in length."""
        if len(a) != len(b):
            raise ValueError(f"paired arms need the same cases in the same order: got {len(a)} and {len(b)}")
        pairs = list(zip(a, b, strict=True))
        return cls(
            both=sum(x and y for x, y in pairs),
            only_a=sum(x and not y for x, y in pairs),
            only_b=sum(y and not x for x, y in pairs),
            neither=sum(not x and not y for x, y in pairs),
        )

    @property
    def n(self) -> int:
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def discordant(self) -> Discordant:
        return Discordant(only_a=self.only_a, only_b=self.only_b, n=self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class McNemar:
    """`p` is the exact p; `interval` is Tango's for the difference."""

    discordant: Discordant
    interval: Interval
    p: float
    mid_p: float
    method: str = "McNemar exact and mid-p; Tango score interval"

    @property
    def n(self) -> int:
        return self.discordant.n

    @property
    def estimate(self) -> float:
        return self.discordant.difference

    @property
    def note(self) -> str:
        """Empty, or why no exact p below .05 was possible."""
        needed = min_discordants()
        if self.discordant.total >= needed:
            return ""
        return (
            f"Only {self.discordant.total} discordant pairs: an exact p below .05 needs at least {needed}, all one way."
        )

    def reading(self, a: str = "A", b: str = "B") -> str:
        d = self.discordant
        sentence = (
            f"Of {d.n} pairs {d.only_a} are solved by {a} alone and {d.only_b} by {b} alone: a difference of "
            f"{points(d.difference)} points ({percent(self.interval.level, 0)} interval "
            f"{points_interval(self.interval)}), exact {p_equals(self.p)}, mid-{p_equals(self.mid_p)}."
        )
        return f"{sentence} {self.note}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """Two one-sided score tests; `interval` has level 1 - 2 alpha, so that it decides exactly as `p` does."""

    discordant: Discordant
    margin: float
    interval: Interval
    p: float
    method: str = "TOST with the Tango score statistic"

    @property
    def n(self) -> int:
        return self.discordant.n

    @property
    def estimate(self) -> float:
        return self.discordant.difference

    @property
    def is_equivalent(self) -> bool:
        return self.interval.inside(self.margin)

    def reading(self, a: str = "A", b: str = "B") -> str:
        verdict = "are equivalent" if self.is_equivalent else "are not shown to be equivalent"
        return (
            f"{a} and {b} {verdict} within {100 * self.margin:g} points: the {percent(self.interval.level, 0)} "
            f"interval is {points_interval(self.interval)} (TOST {p_equals(self.p)}, n = {self.n})."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Difference and equivalence together, and what they allow one to say.

    `family_p`: the exact p after correction for the comparisons planned beside this one; it decides the verdict.
    """

    mcnemar: McNemar
    equivalence: Equivalence
    family_p: float

    @property
    def verdict(self) -> Verdict:
        is_different = self.family_p < ALPHA
        if self.equivalence.is_equivalent:
            return "different within the margin" if is_different else "equivalent"
        return "different" if is_different else "inconclusive"

    def reading(self, a: str = "A", b: str = "B") -> str:
        margin = f"{100 * self.equivalence.margin:g} points"
        meaning = {
            "different": f"{a} and {b} differ",
            "equivalent": f"{a} and {b} are equivalent within {margin}",
            "different within the margin": f"{a} and {b} differ, but by less than {margin}",
            "inconclusive": f"Inconclusive: neither a difference nor equivalence within {margin} is shown",
        }[self.verdict]
        corrected = (
            f"Corrected for all comparisons {p_equals(self.family_p)}. " if self.family_p != self.mcnemar.p else ""
        )
        tost = p_value(self.equivalence.p)
        return f"{self.mcnemar.reading(a, b)} {corrected}TOST p within {margin}: {tost}. {meaning}."


def mcnemar(discordant: Discordant, *, level: float = 0.95) -> McNemar:
    """Exact and mid-p McNemar test with Tango's interval; no discordant pair gives p = 1."""
    b, c, n = discordant.only_a, discordant.only_b, discordant.n
    exact = float(sm_mcnemar([[n - b - c, b], [c, 0]], exact=True).pvalue)
    return McNemar(discordant=discordant, interval=tango_interval(discordant, level=level), p=exact, mid_p=_mid_p(b, c))


def _mid_p(b: int, c: int) -> float:
    total = b + c
    if total == 0:
        return 1.0
    pmf = float(binom.pmf(min(b, c), total, 0.5))
    if b == c:  # 2 cdf counts the central term twice; half of it is taken off what would be 1
        return 1 - pmf / 2
    return 2 * float(binom.cdf(min(b, c), total, 0.5)) - pmf


def mcnemar_chi2_p(discordant: Discordant, *, corrected: bool) -> float:
    """Asymptotic McNemar p, for comparison with published tables only; the report uses the exact one."""
    if discordant.total == 0:
        return 1.0
    table = [[discordant.n - discordant.total, discordant.only_a], [discordant.only_b, 0]]
    return float(sm_mcnemar(table, exact=False, correction=corrected).pvalue)


def tango_statistic(discordant: Discordant, delta: float) -> float:
    """Score statistic for difference = delta, its variance at the restricted maximum-likelihood estimate of p_only_b.

    Falls from positive to negative as delta grows. Infinite where the variance is zero but the data contradict delta.
    """
    b, c, n = discordant.only_a, discordant.only_b, discordant.n
    linear = -b - c + (2 * n - b + c) * delta
    constant = -c * delta * (1 - delta)
    root = math.sqrt(max(0.0, linear**2 - 8 * n * constant))
    # (root - linear) / 4n, written so that a positive `linear` does not cancel
    p_only_b = (root - linear) / (4 * n) if linear <= 0 else -2 * constant / (root + linear)
    variance = n * (2 * p_only_b + delta * (1 - delta))
    distance = b - c - n * delta
    if variance <= 1e-12:
        return 0.0 if abs(distance) < 1e-9 else math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def tango_interval(discordant: Discordant, *, level: float = 0.95) -> Interval:
    """All differences that the score test does not reject at 1 - level."""
    z = float(norm.ppf((1 + level) / 2))
    centre = discordant.difference

    def bound(target: float, end: float) -> float:
        """Where the statistic equals `target` between the estimate and `end`; `end` itself where it never does."""
        if abs(centre - end) < 1e-12 or abs(tango_statistic(discordant, end)) < abs(target):
            return end
        return float(brentq(lambda delta: _finite(tango_statistic(discordant, delta)) - target, centre, end))

    return Interval(low=bound(z, -1.0), high=bound(-z, 1.0), level=level)


def _finite(statistic: float) -> float:
    return max(-1e6, min(1e6, statistic))


def equivalence(discordant: Discordant, *, margin: float = DEFAULT_MARGIN, alpha: float = ALPHA) -> Equivalence:
    """TOST of |difference| < margin: p is the larger of the two one-sided p."""
    if not 0 < margin < 1:
        raise ValueError(f"the margin is a share between 0 and 1, got {margin}")
    above_lower = float(norm.sf(tango_statistic(discordant, -margin)))
    below_upper = float(norm.cdf(tango_statistic(discordant, margin)))
    return Equivalence(
        discordant=discordant,
        margin=margin,
        interval=tango_interval(discordant, level=1 - 2 * alpha),
        p=max(above_lower, below_upper),
    )


def compare(discordant: Discordant, *, margin: float = DEFAULT_MARGIN, family_p: float | None = None) -> Comparison:
    """`family_p` None: the comparison stands alone."""
    test = mcnemar(discordant)
    return Comparison(
        mcnemar=test,
        equivalence=equivalence(discordant, margin=margin),
        family_p=test.p if family_p is None else family_p,
    )


def min_discordants(alpha: float = ALPHA) -> int:
    """Fewest discordant pairs, all one way, whose exact two-sided p, 2 * (1/2)^m, falls below alpha."""
    return math.floor(-math.log2(alpha / 2)) + 1
