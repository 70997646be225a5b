"""B1: token advantages of 32 groups x 4 trajectories x 2,048 tokens. Run: python benchmarks/advantages.py

A: robustops, from exact scores to one write of the batch. B: the same normalisation by the procedure of verl's GDPO
estimator, from arrays of components: rewards set on last tokens, groups filled row by row, rows normalised one by one,
whitening over tokens. B is a re-implementation of that procedure, not verl's code, whose pins conflict with ours.
With equal lengths both agree up to sqrt((BT - 1) / (BT) * B / (B - 1)), as B whitens over BT tokens, A over B rows.
"""

from __future__ import annotations

import argparse
import math
import random
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import torch
from table import append_row, interleave
from torch import Tensor

from robustops.learn.advantage import normalise
from robustops.rollout.score import Evidence, RewardWeights, Score

NUM_GROUPS, GROUP_SIZE, NUM_TOKENS = 32, 4, 2048
WEIGHTS = RewardWeights()
NO_EVIDENCE = Evidence(num_calls=0, bad=(), repeated_turns=())


def random_groups(seed: int) -> list[list[Score]]:
    rng = random.Random(seed)
    groups = []
    for _ in range(NUM_GROUPS):
        members = []
        for _ in range(GROUP_SIZE):
            success = rng.random() < 0.4
            quality = Fraction(rng.randint(5, 10), 10) if success else Fraction(0)
            progress = Fraction(1) if success else Fraction(rng.randint(0, 4), 5)
            members.append(Score(success=success, progress=progress, quality=quality, evidence=NO_EVIDENCE))
        groups.append(members)
    return groups


def ours(groups: Sequence[Sequence[Score]], mask_NT: Tensor) -> Tensor:
    return normalise(groups, weights=WEIGHTS).total_N.float()[:, None] * mask_NT


def per_group_loops(values_KN: np.ndarray, index: Sequence[str], mask_NT: Tensor) -> Tensor:
    combined_NT = torch.zeros_like(mask_NT)
    for weight, values_N in zip((1.0, 0.3, 0.1), values_KN, strict=True):
        rewards_NT = torch.zeros_like(mask_NT)
        rewards_NT[torch.arange(len(values_N)), mask_NT.sum(dim=1).long() - 1] = torch.tensor(values_N)
        scores_N = rewards_NT.sum(dim=-1)
        members: dict[str, list[Tensor]] = defaultdict(list)
        for row, group in enumerate(index):
            members[group].append(scores_N[row])
        mean = {group: torch.stack(values).mean() for group, values in members.items()}
        std = {group: torch.stack(values).std() for group, values in members.items()}
        normalised_N = scores_N.clone()
        for row, group in enumerate(index):
            normalised_N[row] = (scores_N[row] - mean[group]) / (std[group] + 1e-6)
        combined_NT = combined_NT + weight * normalised_N[:, None] * mask_NT
    num_tokens = mask_NT.sum()
    mean_all = (combined_NT * mask_NT).sum() / num_tokens
    variance = ((combined_NT - mean_all) ** 2 * mask_NT).sum() / (num_tokens - 1)
    return (combined_NT - mean_all) * torch.rsqrt(variance + 1e-8) * mask_NT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30, help="interleaved pairs to time (default 30)")
    num_pairs = parser.parse_args().pairs
    torch.set_num_threads(1)
    groups = random_groups(0)
    mask_NT = torch.ones(NUM_GROUPS * GROUP_SIZE, NUM_TOKENS)
    values_KN = np.array([[float(x) for x in score.raw] for group in groups for score in group], dtype=np.float32).T
    index = [f"group {number}" for number in range(NUM_GROUPS) for _ in range(GROUP_SIZE)]

    size, rows = mask_NT.numel(), len(mask_NT)
    factor = math.sqrt((size - 1) / size * rows / (rows - 1))
    ours_NT, loops_NT = ours(groups, mask_NT), per_group_loops(values_KN, index, mask_NT)
    difference = float((ours_NT * factor - loops_NT).abs().max())
    if difference > 1e-4:
        raise SystemExit(f"B1: values differ by {difference:.2e} after the documented factor {factor:.6f}")
    paired = interleave(
        lambda: ours(groups, mask_NT), lambda: per_group_loops(values_KN, index, mask_NT), num_pairs=num_pairs
    )
    target = torch.empty_like(mask_NT)
    write = interleave(lambda: target.fill_(1.0), lambda: ours(groups, mask_NT), num_pairs=num_pairs)
    row = append_row(
        "B1 advantages",
        {
            "robustops_ms": round(paired.a_ms, 3),
            "per_group_loops_ms": round(paired.b_ms, 3),
            "ratio": round(paired.ratio, 1),
            "ratio_quartiles": [round(x, 1) for x in paired.ratio_quartiles],
            "one_write_of_the_batch_ms": round(write.a_ms, 3),
            "max_difference": difference,
            "num_pairs": num_pairs,
            "baseline": "re-implementation of verl's procedure, verl not installed",
        },
        packages=("torch", "numpy"),
    )
    print("\n".join(f"{key:26} {value}" for key, value in row.items()))


if __name__ == "__main__":
    main()
