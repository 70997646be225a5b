"""Weights of supervised tokens: which decision each token belongs to in, one weight per token and the loss out.

Shapes: T tokens. Source: algorithms.md, section 7: a supervised token weighs 1 / (D_i * supervised tokens in its
decision), and the sum is divided by the trajectories actually in the optimiser step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

UNSUPERVISED = -1


def supervision_weights(decision_T: Sequence[int], *, row_id: str) -> Tensor:
    """Weights of one trajectory; they sum to 1. `decision_T`: decision index of a token, UNSUPERVISED for no loss.

    Raises ValueError naming the row when it has no supervised decision: D_i = 0.
    """
    index_T = torch.tensor(decision_T, dtype=torch.int64)
    is_supervised_T = index_T != UNSUPERVISED
    decisions_D, slot_S, count_D = torch.unique(index_T[is_supervised_T], return_inverse=True, return_counts=True)
    if len(decisions_D) == 0:
        raise ValueError(f"{row_id}: no supervised decision; leave the trajectory out or mend its mask")
    weight_T = torch.zeros(len(index_T), dtype=torch.float64)
    weight_T[is_supervised_T] = 1.0 / (len(decisions_D) * count_D[slot_S].double())
    return weight_T


def supervised_loss(logp_T: Tensor, weight_T: Tensor, *, num_trajectories: int, num_averaged_ranks: int = 1) -> Tensor:
    """One micro-batch's summand: - sum of weight * logp / trajectories of the whole optimiser step, all ranks included.

    `num_averaged_ranks`: the world size where gradients are averaged over ranks, else 1.
    Tokens of weight zero stay out. Raises ValueError for a step without trajectories.
    """
    if num_trajectories < 1:
        raise ValueError(f"an optimiser step needs at least one trajectory, got {num_trajectories}")
    keep_T = weight_T > 0
    total = (weight_T[keep_T].to(logp_T.dtype) * logp_T[keep_T]).sum()
    return -total * (num_averaged_ranks / num_trajectories)


def steps_per_epoch(num_trajectories: int, batch_size: int) -> int:
    """Optimiser steps of an epoch; the last, smaller batch is kept: 692 trajectories, 8 a step, are 87 steps."""
    return math.ceil(num_trajectories / batch_size)
