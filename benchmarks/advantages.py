"""B1: token advantages of 32 groups x 4 trajectories x 2,048 tokens, against verl. Run: python benchmarks/advantages.py

A: robustops, from exact scores to one write of the batch. B: `compute_gdpo_outcome_advantage` of verl, from arrays of
components. One measurement is one call, as a training step makes one: on a batch that neither has seen, into memory of
its own, after other work has filled the caches. Making the inputs is timed for neither. verl's pins conflict with ours,
so both run in an environment of its own, runs/verl-env, which the first run makes (minutes, a gigabyte). The same run
writes verl's outputs on small batches to tests/learn/verl_gdpo.json, which tests compare with: with equal lengths
ours x sqrt((BT - 1) / (BT) * B / (B - 1)) are verl's, as verl whitens over BT tokens and robustops over B trajectories.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "runs" / "verl-env"
PYTHON = ENVIRONMENT / "bin" / "python"
GOLDEN = ROOT / "tests" / "learn" / "verl_gdpo.json"
VERL = "verl==0.9.1"
NUM_GROUPS, GROUP_SIZE, NUM_TOKENS = 32, 4, 2048
OTHER_WORK_FLOATS = 16 * 2**20  # 64 MiB, more than the caches hold
GOLDEN_SHAPES = ((2, 4, 5), (3, 4, 8), (8, 4, 3), (5, 8, 6), (4, 2, 7), (32, 4, 2))  # groups, members, tokens
WEIGHTS = (1.0, 0.3, 0.1)
KEYS = ("success", "progress", "quality")
Member = tuple[int, tuple[int, int], tuple[int, int]]  # S, and P and Q as integer pairs


def random_members(num: int, seed: int) -> list[Member]:
    rng = random.Random(seed)
    members: list[Member] = []
    for _ in range(num):
        if rng.random() < 0.4:
            members.append((1, (1, 1), (rng.randint(5, 10), 10)))
        else:
            members.append((0, (rng.randint(0, 4), 5), (0, 1)))
    return members


def make_environment() -> None:
    """Raises CalledProcessError where packages cannot be installed."""
    uv = [sys.executable, "-m", "uv"]
    links = os.environ.get("PIP_FIND_LINKS")
    torch = ["--find-links", links] if links else ["--torch-backend", "cpu"]
    subprocess.run([*uv, "venv", "-q", "--python", "3.11", str(ENVIRONMENT)], check=True)
    subprocess.run([*uv, "pip", "install", "-q", "--python", str(PYTHON), VERL, *torch], check=True)


def measure(num_pairs: int) -> None:
    """Inside the environment of verl."""
    import numpy as np
    import torch
    from table import append_row, interleave
    from torch import Tensor
    from verl.trainer.ppo.core_algos import compute_gdpo_outcome_advantage

    from robustops.learn.advantage import normalise
    from robustops.rollout.score import Evidence, RewardWeights, Score

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Theirs:
        """What verl's trainer has at hand when it calls its function."""

        columns: dict[str, np.ndarray]
        index_N: np.ndarray
        mask_NT: Tensor
        rewards_NT: Tensor
        tensors: dict[str, Tensor]

    torch.set_num_threads(1)
    nothing = Evidence(num_calls=0, bad=(), repeated_turns=())

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

    def groups_of(members: Sequence[Member], num_members: int) -> list[list[Score]]:
        scores = [
            Score(success=bool(s), progress=Fraction(*p), quality=Fraction(*q), evidence=nothing) for s, p, q in members
        ]
        return [scores[start : start + num_members] for start in range(0, len(scores), num_members)]

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
    GOLDEN.write_text(json.dumps({"source": VERL, "weights": WEIGHTS, "batches": batches}) + "\n")

    weights = RewardWeights()
    seeds = itertools.count()
    other_work = torch.zeros(OTHER_WORK_FLOATS)

    def step() -> tuple[list[list[Score]], Theirs]:
        """A batch that has not been seen yet, as both take it."""
        members = random_members(NUM_GROUPS * GROUP_SIZE, next(seeds))
        found = groups_of(members, GROUP_SIZE), theirs_of(members, GROUP_SIZE, NUM_TOKENS)
        other_work.add_(1.0)
        return found

    groups, batch = step()

    def before() -> None:
        nonlocal groups, batch
        groups, batch = step()

    def ours() -> Tensor:
        return normalise(groups, weights=weights).total_N.float()[:, None] * batch.mask_NT

    size, rows = batch.mask_NT.numel(), len(batch.mask_NT)
    factor = math.sqrt((size - 1) / size * rows / (rows - 1))
    difference = float((ours() * factor - theirs(batch)).abs().max())
    if difference > 1e-4:
        raise SystemExit(f"B1: values differ by {difference:.2e} after the documented factor {factor:.6f}")

    paired = interleave(ours, lambda: theirs(batch), num_pairs=num_pairs, before=before)
    write = interleave(lambda: torch.ones_like(batch.mask_NT), ours, num_pairs=num_pairs, before=before)
    row = append_row(
        "B1 advantages, one call a step",
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
            "num_pairs": num_pairs,
        },
        packages=("torch", "numpy", "verl"),
    )
    print("\n".join(f"{key:26} {value}" for key, value in row.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=30, help="interleaved pairs to time (default 30)")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        measure(options.pairs)
        return 0
    if not PYTHON.is_file():
        make_environment()
    command = [str(PYTHON), __file__, "--inside", "--pairs", str(options.pairs)]
    return subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
