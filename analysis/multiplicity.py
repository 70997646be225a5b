"""Many tests at once. Raw p in, adjusted p out: Holm for what was planned, Benjamini-Hochberg for a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from statsmodels.stats.multitest import multipletests


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjusted:
    """`p` in the order given; `method` says what is controlled."""

    p: tuple[float, ...]
    method: str


def holm(p_values: Sequence[float]) -> Adjusted:
    """Family-wise error rate (Holm 1979), for confirmatory comparisons."""
    return Adjusted(p=_adjust(p_values, "holm"), method="Holm, family-wise error rate")


def benjamini_hochberg(p_values: Sequence[float]) -> Adjusted:
    """False discovery rate (Benjamini & Hochberg 1995), for exploratory breakdowns."""
    return Adjusted(p=_adjust(p_values, "fdr_bh"), method="Benjamini-Hochberg, false discovery rate")


def _adjust(p_values: Sequence[float], method: str) -> tuple[float, ...]:
    if not p_values:
        return ()
    return tuple(float(p) for p in multipletests(p_values, method=method)[1])
