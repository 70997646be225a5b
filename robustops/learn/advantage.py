"""Group and batch normalisation: exact scores in, one advantage per trajectory out. Knows no tokens and no lengths.

Shapes: G groups, N trajectories (all groups, one after the other), K components (S, P, Q; or R alone).
Source: docs/algorithms.md. Aggregate: Z_batch[Z_group(R)]; component: Z_batch[sum of w_k Z_group(k)], the order
of GDPO. Everything is fp64, in numpy, which is quicker than torch on so few numbers; whether a group is constant is
decided on exact integer pairs, never on a float's spread.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustops.rollout.score import RewardWeights, Score

Array = NDArray[np.float64]
NormKind = Literal["component", "aggregate"]
EPS = 1e-6  # added to every standard deviation
DDOF = 1  # sample standard deviation, in groups and over the batch


@dataclass(frozen=True, slots=True, kw_only=True)
class RawScores:
    """What Z_group sees: values and, decided exactly, which groups are constant in which component."""

    value_KN: Array
    is_constant_KG: NDArray[np.bool_]
    start_G: NDArray[np.int64]
    size_G: NDArray[np.int64]
    weight_K: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantages:
    """`total_N` includes `quality_N`, the share that came from Q (zero under aggregate normalisation)."""

    total_N: Tensor
    quality_N: Tensor


# Of one trajectory: numerator and denominator of each component in turn, in lowest terms, so that equal components are
# equal integers.
Ratios = tuple[int, ...]


def ratios_of(scores: Iterable[Score], *, weights: RewardWeights, kind: NormKind) -> list[Ratios]:
    """What is normalised, exact: S, P and Q apart, or R alone."""
    if kind == "aggregate":
        return _rewards(scores, weights)
    return [score.ratios for score in scores]


def weights_of(weights: RewardWeights, kind: NormKind) -> tuple[float, ...]:
    return (1.0,) if kind == "aggregate" else (weights.success, weights.progress, weights.quality)


def _rewards(scores: Iterable[Score], weights: RewardWeights) -> list[Ratios]:
    """`Score.reward` in whole numbers over one denominator of the weights: 1, 3/10, 1/10 are 10, 3, 1 over 10."""
    common = math.lcm(*(weight.denominator for weight in weights.exact))
    of_success, of_progress, of_quality = (int(weight * common) for weight in weights.exact)
    rewards: list[Ratios] = []
    for score in scores:
        s, _, p, p_den, q, q_den = score.ratios
        total = of_success * s * p_den * q_den + of_progress * p * q_den + of_quality * q * p_den
        rewards.append(Fraction(total, common * p_den * q_den).as_integer_ratio())
    return rewards


def has_signal(group: Sequence[Score], *, weights: RewardWeights, kind: NormKind) -> bool:
    """Whether the exact raw tuples give any member a nonzero group-relative advantage.

    No cancellation can hide a signal: weights are not negative, all members share one start, so S, P and Q rise
    together with success; and P alone varies where every member failed.
    """
    raw = raw_scores([group], weights=weights, kind=kind)
    return not raw.is_constant_KG[raw.weight_K > 0].all()


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthTerm:
    """An ablation: -`weight` times each answer's share of its group's longest, in tokens. Never admits a group."""

    weight: float
    tokens_G: Sequence[Sequence[int]]

    def ratios(self) -> list[Ratios]:
        found: list[Ratios] = []
        for tokens in self.tokens_G:
            longest = max(1, *tokens)
            found += [Fraction(-number, longest).as_integer_ratio() for number in tokens]
        return found

    def added_to(self, ratios: Sequence[Ratios], kind: NormKind) -> list[Ratios]:
        """A component of its own, or a part of R."""
        rows = zip(ratios, self.ratios(), strict=True)
        if kind == "component":
            return [(*row, *own) for row, own in rows]
        share = Fraction(str(self.weight))
        return [(Fraction(*row) + share * Fraction(*own)).as_integer_ratio() for row, own in rows]


def raw_scores(
    groups: Sequence[Sequence[Score]], *, weights: RewardWeights, kind: NormKind, length: LengthTerm | None = None
) -> RawScores:
    """Raises ValueError for no group at all and for a group of fewer than two."""
    if not groups:
        raise ValueError("no group to normalise")
    sizes = [len(group) for group in groups]
    if min(sizes) < 2:
        raise ValueError(f"group {sizes.index(min(sizes))} has {min(sizes)} trajectories; a group needs at least two")
    rows, weight_K = ratios_of(chain.from_iterable(groups), weights=weights, kind=kind), weights_of(weights, kind)
    if length is not None:
        rows = length.added_to(rows, kind)
        weight_K = (*weight_K, length.weight) if kind == "component" else weight_K
    ratio_NK2, size_G = _integers(rows), np.array(sizes)
    start_G = size_G.cumsum() - size_G
    return RawScores(
        value_KN=(ratio_NK2[..., 0] / ratio_NK2[..., 1]).T.astype(np.float64, copy=False),
        is_constant_KG=is_constant(ratio_NK2, start_G),
        start_G=start_G,
        size_G=size_G,
        weight_K=np.array(weight_K),
    )


def _integers(rows: Sequence[Ratios]) -> NDArray[Any]:
    """Of 64 bits, or Python's own where one of them is longer."""
    shape = len(rows), len(rows[0]) // 2, 2
    try:
        return np.fromiter(chain.from_iterable(rows), np.int64, math.prod(shape)).reshape(shape)
    except OverflowError:
        return np.array(rows, dtype=object).reshape(shape)


def is_constant(ratio_NK2: NDArray[Any], start_G: NDArray[np.int64]) -> NDArray[np.bool_]:
    """As KG: whether the smallest integer of a group is its largest, above the line and below."""
    is_equal_GK2 = np.minimum.reduceat(ratio_NK2, start_G) == np.maximum.reduceat(ratio_NK2, start_G)
    found_KG: NDArray[np.bool_] = (is_equal_GK2[..., 0] & is_equal_GK2[..., 1]).T
    return found_KG


def z_group(raw: RawScores, *, eps: float = EPS) -> Array:
    """(x - mean) / (std + eps) within each group, as KN; exactly zero where a group is constant."""
    mean_KG = np.add.reduceat(raw.value_KN, raw.start_G, axis=1) / raw.size_G
    centred_KN = raw.value_KN - mean_KG.repeat(raw.size_G, axis=1)
    square_KG = np.add.reduceat(centred_KN * centred_KN, raw.start_G, axis=1)
    std_KG = np.sqrt(square_KG / (raw.size_G - DDOF)) + eps
    std_KG[raw.is_constant_KG] = np.inf
    return centred_KN / std_KG.repeat(raw.size_G, axis=1)


def normalise(
    groups: Sequence[Sequence[Score]],
    *,
    weights: RewardWeights,
    kind: NormKind = "component",
    eps: float = EPS,
    length: LengthTerm | None = None,
) -> Advantages:
    """One advantage per trajectory of the accepted groups; each is one entry of Z_batch, whatever its length.

    Raises ValueError as `raw_scores` does.
    """
    raw = raw_scores(groups, weights=weights, kind=kind, length=length)
    z_KN = z_group(raw, eps=eps)
    combined_N = raw.weight_K @ z_KN
    combined_N -= combined_N.sum() / len(combined_N)
    scale = math.sqrt(combined_N @ combined_N / (len(combined_N) - DDOF)) + eps
    quality_N = z_KN[2] * (raw.weight_K[2] / scale) if kind == "component" else np.zeros_like(combined_N)
    return Advantages(total_N=torch.from_numpy(combined_N / scale), quality_N=torch.from_numpy(quality_N))
