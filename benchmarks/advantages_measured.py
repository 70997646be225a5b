"""B1 inside the environment of verl: `advantages_measured.py PAIRS VERL`, called by advantages.py.

A: robustops, from exact scores to one write of the batch. B: `compute_gdpo_outcome_advantage` of verl, from arrays of
components. Each takes what its trainer has at hand; making that is timed for neither. Two rows: one after another,
means of 20 calls, which is the work itself; and one call after other work has emptied the caches, on a batch that
neither has seen, as in a training step, which is mostly the way from memory to the processor. With equal lengths ours
x sqrt((BT - 1) / (BT) * B / (B - 1)) are verl's, as verl whitens over BT tokens and robustops over B trajectories.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch
from table import Paired, append_row, interleave
from torch import Tensor
from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage

from robustops.learn.advantage import normalise
from robustops.rollout.score import Evidence, RewardWeights, Score

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "learn" / "verl_gdpo.json"
NUM_GROUPS, GROUP_SIZE, NUM_TOKENS = 32, 4, 2048
REPEATED_CALLS = 20
OTHER_WORK_FLOATS = 16 * 2**20  # 64 MiB, more than the caches hold
GOLDEN_SHAPES = ((2, 4, 5), (3, 4, 8), (8, 4, 3), (5, 8, 6), (4, 2, 7), (32, 4, 2))  # groups, members, tokens
WEIGHTS = (1.0, 0.3, 0.1)
KEYS = ("success", "progress", "quality")
Member = tuple[int, tuple[int, int], tuple[int, int]]  # S, and P and Q as integer pairs
NOTHING = Evidence(num_calls=0, bad=(), repeated_turns=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Theirs:
    """What verl's trainer has at hand when it calls its function."""

    columns: dict[str, np.ndarray]
    index_N: np.ndarray
    mask_NT: Tensor
    rewards_NT: Tensor
    tensors: dict[str, Tensor]


def random_members(num: int, seed: int) -> list[Member]:
    rng = random.Random(seed)
    members: list[Member] = []
    for _ in range(num):
        if rng.random() < 0.4:
            members.append((1, (1, 1), (rng.randint(5, 10), 10)))
        else:
            members.append((0, (rng.randint(0, 4), 5), (0, 1)))
    return members


def theirs_of(members: Sequence[Member], num_members: int, num_tokens: int) -> Theirs:
    values_KN = np.array([[s, p[0] / p[1], q[0] / q[1]] for s, p, q in members], dtype=np.float32).T
    mask_NT, prompts_NT = torch.ones(len(members), num_tokens), torch.ones(len(members), 1)
    return Theirs(
        columns=dict(zip(KEYS, values_KN, strict=True)),
        index_N=np.array([f"group {row // num_members}" for row in range(len(members))], dtype=object),
        mask_NT=mask_NT,
        rewards_NT=torch.zeros_like(mask_NT),
        tensors={"prompts": prompts_NT, "attention_mask": torch.cat([prompts_NT, mask_NT], 1).long()},
    )


def theirs(batch: Theirs) -> Tensor:
    advantage_NT, _ = compute_gdpo_outcome_advantage(
        token_level_rewards=batch.rewards_NT,
        response_mask=batch.mask_NT,
        index=batch.index_N,
        config={"gdpo_reward_keys": list(KEYS), "gdpo_reward_weights": list(WEIGHTS)},
        non_tensor_batch=batch.columns,
        batch=batch.tensors,
    )
    return advantage_NT


def groups_of(members: Sequence[Member], num_members: int) -> list[list[Score]]:
    scores = [
        Score(success=bool(s), progress=Fraction(*p), quality=Fraction(*q), evidence=NOTHING) for s, p, q in members
    ]
    return [scores[start : start + num_members] for start in range(0, len(scores), num_members)]


def write_golden(verl: str) -> None:
    batches = []
    for seed, (num_groups, num_members, num_tokens) in enumerate(GOLDEN_SHAPES):
        members = random_members(num_groups * num_members, seed)
        advantage_NT = theirs(theirs_of(members, num_members, num_tokens))
        assert bool((advantage_NT == advantage_NT[:, :1]).all()), "equal lengths: one value per trajectory"
        batches.append(
            {
                "group_size": num_members,
                "num_tokens": num_tokens,
                "members": members,
                "advantages": [round(float(value), 6) for value in advantage_NT[:, 0]],
            }
        )
    GOLDEN.write_text(json.dumps({"source": verl, "weights": WEIGHTS, "batches": batches}) + "\n")


class Step:
    """The inputs of the next call, as both take them; `renew` makes a batch that neither has seen yet."""

    def __init__(self) -> None:
        self._seeds = itertools.count()
        self._other_work = torch.zeros(OTHER_WORK_FLOATS)
        self._weights = RewardWeights()
        self.renew()

    def renew(self) -> None:
        members = random_members(NUM_GROUPS * GROUP_SIZE, next(self._seeds))
        self.groups, self.batch = groups_of(members, GROUP_SIZE), theirs_of(members, GROUP_SIZE, NUM_TOKENS)
        self._other_work.add_(1.0)

    def ours(self) -> Tensor:
        return normalise(self.groups, weights=self._weights).total_N.float()[:, None] * self.batch.mask_NT

    def theirs(self) -> Tensor:
        return theirs(self.batch)

    def one_write(self) -> Tensor:
        return torch.ones_like(self.batch.mask_NT)


def checked_difference(step: Step) -> float:
    """Raises SystemExit where the two do not compute the same."""
    size, rows = step.batch.mask_NT.numel(), len(step.batch.mask_NT)
    factor = math.sqrt((size - 1) / size * rows / (rows - 1))
    difference = float((step.ours() * factor - step.theirs()).abs().max())
    if difference > 1e-4:
        raise SystemExit(f"B1: values differ by {difference:.2e} after the documented factor {factor:.6f}")
    return difference


def main(num_pairs: int, verl: str) -> None:
    torch.set_num_threads(1)
    write_golden(verl)
    step = Step()
    difference = checked_difference(step)
    repeated = interleave(step.ours, step.theirs, num_pairs=num_pairs, calls=REPEATED_CALLS)
    write = interleave(step.one_write, step.ours, num_pairs=num_pairs, calls=REPEATED_CALLS)
    record("repeated", repeated, write, difference)
    single = interleave(step.ours, step.theirs, num_pairs=num_pairs, before=step.renew)
    write = interleave(step.one_write, step.ours, num_pairs=num_pairs, before=step.renew)
    record("one call a step", single, write, difference)


def record(kind: str, paired: Paired, write: Paired, difference: float) -> None:
    row = append_row(
        f"B1 advantages, {kind}",
        {
            "robustops_ms": round(paired.a_ms, 3),
            "verl_ms": round(paired.b_ms, 3),
            "ratio": round(paired.ratio, 1),
            "ratio_quartiles": [round(x, 1) for x in paired.ratio_quartiles],
            "robustops_fastest_ms": round(paired.a_fastest_ms, 3),
            "verl_fastest_ms": round(paired.b_fastest_ms, 3),
            "ratio_of_fastest": round(paired.b_fastest_ms / paired.a_fastest_ms, 1),
            "one_write_of_the_batch_ms": round(write.a_ms, 3),
            "max_difference": difference,
            "num_pairs": paired.num_pairs,
        },
        packages=("torch", "numpy", "verl"),
    )
    print("\n".join(f"{key:26} {value}" for key, value in row.items()), end="\n\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
