"""The supervised loss: logprobs and token weights in, one micro-batch's summand of the step's loss out.

Shapes: T tokens. Source: docs/algorithms.md. A trajectory's weights (`data.sft`) add up to 1; the sum over
trajectories is divided by their number in the optimiser step.
"""

from __future__ import annotations

import math

from torch import Tensor


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
