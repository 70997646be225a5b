"""Watching a loss: one number a step in, the steps that stand out and what they trained on out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from robustops.core.errors import RobustopsError

WINDOW = 20  # steps whose median is the measure
LEAST = 10  # steps before anything can stand out: the first ones fall fast
FLOOR = 0.1  # nats above the median: a loss near zero varies by factors and means nothing


class DivergedError(RobustopsError):
    """The loss is no number any more; the message names the demonstrations of that step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spike:
    """A step whose loss is far above the recent ones."""

    step: int
    loss: float
    median: float
    sources: tuple[str, ...]


class LossWatch:
    """`factor`: how many times the median of the recent losses is a spike; None watches nothing."""

    def __init__(self, factor: float | None) -> None:
        if factor is not None and factor <= 1:
            raise ValueError(f"spike factor: got {factor}, expected more than 1")
        self._factor = factor
        self.recent: list[float] = []

    def see(self, step: int, loss: float, sources: Sequence[str]) -> Spike | None:
        """A spike does not enter the median, so that a run of them is reported as a whole."""
        if self._factor is None:
            return None
        median = statistics.median(self.recent) if len(self.recent) >= LEAST else None
        if median is not None and loss > self._factor * median and loss > median + FLOOR:
            return Spike(step=step, loss=loss, median=median, sources=tuple(sources))
        self.recent = [*self.recent, loss][-WINDOW:]
        return None
