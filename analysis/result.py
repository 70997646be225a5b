"""What every statistic here returns: n, estimate, interval, p, method and a sentence. Knows no table and no file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A two-sided confidence interval of the given level."""

    low: float
    high: float
    level: float = 0.95

    def inside(self, margin: float) -> bool:
        """Whether the whole interval lies strictly between -margin and +margin."""
        return -margin < self.low and self.high < margin


class Result(Protocol):
    """The shape that all named results share. `interval` and `p` are None where a statistic has none."""

    @property
    def n(self) -> int: ...

    @property
    def estimate(self) -> float: ...

    @property
    def interval(self) -> Interval | None: ...

    @property
    def p(self) -> float | None: ...

    @property
    def method(self) -> str: ...

    def reading(self) -> str: ...


def percent(share: float, digits: int = 1) -> str:
    """A share as per cent: 0.824 -> '82.4%'."""
    return f"{100 * share:.{digits}f}%"


def points(difference: float, digits: int = 1) -> str:
    """A difference of shares in signed percentage points: 0.016 -> '+1.6'."""
    text = f"{100 * difference:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def p_value(p: float) -> str:
    """Four digits, the leading zero left out: 0.0703 -> '.0703'; below a ten-thousandth '<.0001'."""
    if p < 1e-4:
        return "<.0001"
    return f"{p:.4f}".removeprefix("0")


def p_equals(p: float) -> str:
    """The same inside a sentence: 'p = .0703' or 'p < .0001'."""
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def percent_interval(interval: Interval) -> str:
    return f"{percent(interval.low)} to {percent(interval.high)}"


def points_interval(interval: Interval) -> str:
    return f"{points(interval.low)} to {points(interval.high)}"
