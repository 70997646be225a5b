"""Group and batch normalisation: exact scores in, one advantage per trajectory out. Knows no tokens and no lengths.

Shapes: G groups, N trajectories (all groups, one after the other), K components (S, P, Q; or R alone).
Source: algorithms.md, section 2. Aggregate: Z_batch[Z_group(R)]; component: Z_batch[sum of w_k Z_group(k)], the order
of GDPO. Everything is fp64; whether a group is constant is decided on exact integer pairs, never on a float's spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from robustops.rollout.score import RewardWeights, Score

NormKind = Literal["component", "aggregate"]
EPS = 1e-6  # added to every standard deviation
DDOF = 1  # sample standard deviation, in groups and over the batch


@dataclass(frozen=True, slots=True, kw_only=True)
class RawScores:
    """What Z_group sees: values and, decided exactly, which groups are constant in which component."""

    value_KN: Tensor
    is_constant_KG: Tensor
    group_N: Tensor
    size_G: Tensor
    weight_K: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantages:
    """`total_N` includes `quality_N`, the share that came from Q (zero under aggregate normalisation)."""

    total_N: Tensor
    quality_N: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One component of one group as exact integer pairs (numerator, denominator), not necessarily in lowest terms."""

    weight: float
    pairs: tuple[tuple[int, int], ...]

    @property
    def is_constant(self) -> bool:
        first, first_den = self.pairs[0]
        return all(number * first_den == first * den for number, den in self.pairs)

    @property
    def values(self) -> list[float]:
        return [number / den for number, den in self.pairs]


def components(group: Sequence[Score], *, weights: RewardWeights, kind: NormKind) -> tuple[Component, ...]:
    """What is normalised of one group: S, P and Q apart, or R alone."""
    if kind == "aggregate":
        return (Component(weight=1.0, pairs=_rewards(group, weights)),)
    progress = tuple((score.progress.numerator, score.progress.denominator) for score in group)
    quality = tuple((score.quality.numerator, score.quality.denominator) for score in group)
    return (
        Component(weight=weights.success, pairs=tuple((int(score.success), 1) for score in group)),
        Component(weight=weights.progress, pairs=progress),
        Component(weight=weights.quality, pairs=quality),
    )


def _rewards(group: Sequence[Score], weights: RewardWeights) -> tuple[tuple[int, int], ...]:
    """`Score.reward` in whole numbers over one denominator of the weights: 1, 3/10, 1/10 are 10, 3, 1 over 10."""
    common = math.lcm(*(weight.denominator for weight in weights.exact))
    of_success, of_progress, of_quality = (int(weight * common) for weight in weights.exact)
    rewards = []
    for score in group:
        p, p_den = score.progress.numerator, score.progress.denominator
        q, q_den = score.quality.numerator, score.quality.denominator
        total = of_success * int(score.success) * p_den * q_den + of_progress * p * q_den + of_quality * q * p_den
        rewards.append((total, common * p_den * q_den))
    return tuple(rewards)


def has_signal(group: Sequence[Score], *, weights: RewardWeights, kind: NormKind) -> bool:
    """Whether the exact raw tuples give any member a nonzero group-relative advantage.

    No cancellation can hide a signal: weights are not negative, all members share one start, so S, P and Q rise
    together with success; and P alone varies where every member failed.
    """
    return any(part.weight > 0 and not part.is_constant for part in components(group, weights=weights, kind=kind))


def raw_scores(groups: Sequence[Sequence[Score]], *, weights: RewardWeights, kind: NormKind) -> RawScores:
    """Raises ValueError for no group at all and for a group of fewer than two."""
    if not groups:
        raise ValueError("no group to normalise")
    sizes = [len(group) for group in groups]
    if min(sizes) < 2:
        raise ValueError(f"group {sizes.index(min(sizes))} has {min(sizes)} trajectories; a group needs at least two")
    parts_GK = [components(group, weights=weights, kind=kind) for group in groups]
    parts_KG = list(zip(*parts_GK, strict=True))
    return RawScores(
        value_KN=torch.tensor(
            [[value for part in parts for value in part.values] for parts in parts_KG], dtype=torch.float64
        ),
        is_constant_KG=torch.tensor([[part.is_constant for part in parts] for parts in parts_KG]),
        group_N=torch.repeat_interleave(torch.arange(len(groups)), torch.tensor(sizes)),
        size_G=torch.tensor(sizes, dtype=torch.float64),
        weight_K=torch.tensor([part.weight for part in parts_GK[0]], dtype=torch.float64),
    )


def z_group(raw: RawScores, *, eps: float = EPS) -> Tensor:
    """(x - mean) / (std + eps) within each group, as KN; exactly zero where a group is constant."""
    num_components, num_groups = raw.is_constant_KG.shape
    zeros_KG = torch.zeros(num_components, num_groups, dtype=torch.float64)
    mean_KG = zeros_KG.index_add(1, raw.group_N, raw.value_KN) / raw.size_G
    centred_KN = raw.value_KN - mean_KG[:, raw.group_N]
    square_KG = zeros_KG.index_add(1, raw.group_N, centred_KN.square())
    std_KG = (square_KG / (raw.size_G - DDOF)).sqrt()
    z_KN = centred_KN / (std_KG + eps)[:, raw.group_N]
    return z_KN.masked_fill(raw.is_constant_KG[:, raw.group_N], 0.0)


def normalise(
    groups: Sequence[Sequence[Score]], *, weights: RewardWeights, kind: NormKind = "component", eps: float = EPS
) -> Advantages:
    """One advantage per trajectory of the accepted groups; each is one entry of Z_batch, whatever its length.

    Raises ValueError as `raw_scores` does.
    """
    raw = raw_scores(groups, weights=weights, kind=kind)
    z_KN = z_group(raw, eps=eps)
    combined_N = raw.weight_K @ z_KN
    zeros_N = torch.zeros_like(combined_N)
    if bool(raw.is_constant_KG[raw.weight_K > 0].all()):
        return Advantages(total_N=zeros_N, quality_N=zeros_N)
    scale = combined_N.std(correction=DDOF) + eps
    quality_N = raw.weight_K[2] * z_KN[2] / scale if kind == "component" else zeros_N
    return Advantages(total_N=(combined_N - combined_N.mean()) / scale, quality_N=quality_N)
