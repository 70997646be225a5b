"""Group and batch normalisation: exact scores in, one advantage per trajectory out. Knows no tokens and no lengths.

Shapes: G groups, N trajectories (all groups, one after the other), K components (S, P, Q; or R alone).
Source: docs/algorithms.md. Aggregate: Z_batch[Z_group(R)]; component: Z_batch[sum of w_k Z_group(k)], the order
of GDPO. Everything is fp64, in numpy, which is quicker than torch on so few numbers; whether a group is constant is
decided on exact integer pairs, never on a float's spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Literal

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


Pairs = Sequence[tuple[int, int]]  # numerator and denominator in lowest terms, so that equal numbers are equal pairs


def pairs_of(scores: Sequence[Score], *, weights: RewardWeights, kind: NormKind) -> tuple[Pairs, ...]:
    """What is normalised, exact: S, P and Q apart, or R alone."""
    if kind == "aggregate":
        return (_rewards(scores, weights),)
    return (
        [(1, 1) if score.success else (0, 1) for score in scores],
        [score.progress.as_integer_ratio() for score in scores],
        [score.quality.as_integer_ratio() for score in scores],
    )


def weights_of(weights: RewardWeights, kind: NormKind) -> tuple[float, ...]:
    return (1.0,) if kind == "aggregate" else (weights.success, weights.progress, weights.quality)


def is_constant(pairs: Pairs) -> bool:
    return pairs.count(pairs[0]) == len(pairs)


def _rewards(scores: Sequence[Score], weights: RewardWeights) -> Pairs:
    """`Score.reward` in whole numbers over one denominator of the weights: 1, 3/10, 1/10 are 10, 3, 1 over 10."""
    common = math.lcm(*(weight.denominator for weight in weights.exact))
    of_success, of_progress, of_quality = (int(weight * common) for weight in weights.exact)
    rewards = []
    for score in scores:
        (p, p_den), (q, q_den) = score.progress.as_integer_ratio(), score.quality.as_integer_ratio()
        total = of_success * int(score.success) * p_den * q_den + of_progress * p * q_den + of_quality * q * p_den
        rewards.append(Fraction(total, common * p_den * q_den).as_integer_ratio())
    return rewards


def has_signal(group: Sequence[Score], *, weights: RewardWeights, kind: NormKind) -> bool:
    """Whether the exact raw tuples give any member a nonzero group-relative advantage.

    No cancellation can hide a signal: weights are not negative, all members share one start, so S, P and Q rise
    together with success; and P alone varies where every member failed.
    """
    columns = pairs_of(group, weights=weights, kind=kind)
    return any(
        weight > 0 and not is_constant(pairs) for weight, pairs in zip(weights_of(weights, kind), columns, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthTerm:
    """An ablation: -`weight` times each answer's share of its group's longest, in tokens. Never admits a group."""

    weight: float
    tokens_G: Sequence[Sequence[int]]

    def pairs(self) -> Pairs:
        found: list[tuple[int, int]] = []
        for tokens in self.tokens_G:
            longest = max(1, *tokens)
            found += [Fraction(-number, longest).as_integer_ratio() for number in tokens]
        return found


def raw_scores(
    groups: Sequence[Sequence[Score]], *, weights: RewardWeights, kind: NormKind, length: LengthTerm | None = None
) -> RawScores:
    """Raises ValueError for no group at all and for a group of fewer than two."""
    if not groups:
        raise ValueError("no group to normalise")
    sizes = [len(group) for group in groups]
    if min(sizes) < 2:
        raise ValueError(f"group {sizes.index(min(sizes))} has {min(sizes)} trajectories; a group needs at least two")
    columns = pairs_of([score for group in groups for score in group], weights=weights, kind=kind)
    weight_K = weights_of(weights, kind)
    if length is not None and kind == "component":
        columns, weight_K = (*columns, length.pairs()), (*weight_K, length.weight)
    elif length is not None:
        share = Fraction(str(length.weight))
        with_length = zip(columns[0], length.pairs(), strict=True)
        columns = ([(Fraction(*r) + share * Fraction(*part)).as_integer_ratio() for r, part in with_length],)
    starts = [0, *accumulate(sizes[:-1])]
    cuts = [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    return RawScores(
        value_KN=np.array([[number / den for number, den in pairs] for pairs in columns]),
        is_constant_KG=np.array([[is_constant(pairs[cut]) for cut in cuts] for pairs in columns]),
        start_G=np.array(starts),
        size_G=np.array(sizes),
        weight_K=np.array(weight_K),
    )


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
    zeros_N = np.zeros_like(combined_N)
    if raw.is_constant_KG[raw.weight_K > 0].all():
        return Advantages(total_N=torch.from_numpy(zeros_N), quality_N=torch.from_numpy(zeros_N))
    centred_N = combined_N - combined_N.mean()
    scale = math.sqrt(centred_N @ centred_N / (len(centred_N) - DDOF)) + eps
    quality_N = raw.weight_K[2] * z_KN[2] / scale if kind == "component" else zeros_N
    return Advantages(total_N=torch.from_numpy(centred_N / scale), quality_N=torch.from_numpy(quality_N))
