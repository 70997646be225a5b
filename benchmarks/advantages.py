"""B1: token advantages of 32 groups x 4 trajectories x 2,048 tokens, against verl. Run: python benchmarks/advantages.py

A: robustops, from exact scores to one write of the batch. B: `compute_gdpo_outcome_advantage` of verl, from arrays of
components; one measurement is ten calls. verl's pins conflict with ours, so both run in an environment of its own,
runs/verl-env, which the first run makes (minutes, a gigabyte). The same run writes verl's outputs on small batches to
tests/learn/verl_gdpo.json, which tests compare with: with equal lengths ours x sqrt((BT - 1) / (BT) * B / (B - 1)) are
verl's, as verl whitens over BT tokens and robustops over B trajectories.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "runs" / "verl-env"
PYTHON = ENVIRONMENT / "bin" / "python"
GOLDEN = ROOT / "tests" / "learn" / "verl_gdpo.json"
VERL = "verl==0.9.1"
NUM_GROUPS, GROUP_SIZE, NUM_TOKENS = 32, 4, 2048
CALLS = 10  # in one measurement
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

    torch.set_num_threads(1)
    nothing = Evidence(num_calls=0, bad=(), repeated_turns=())

    def theirs(values_KN: np.ndarray, index: np.ndarray, mask_NT: Tensor) -> Tensor:
        prompts_NT = torch.ones(len(mask_NT), 1)
        advantage_NT, _ = compute_gdpo_outcome_advantage(
            token_level_rewards=torch.zeros_like(mask_NT),
            response_mask=mask_NT,
            index=index,
            config={"gdpo_reward_keys": list(KEYS), "gdpo_reward_weights": list(WEIGHTS)},
            non_tensor_batch=dict(zip(KEYS, values_KN, strict=True)),
            batch={"prompts": prompts_NT, "attention_mask": torch.cat([prompts_NT, mask_NT], 1).long()},
        )
        return advantage_NT

    def arrays(members: Sequence[Member], num_members: int) -> tuple[np.ndarray, np.ndarray]:
        values = [[s, p[0] / p[1], q[0] / q[1]] for s, p, q in members]
        index = np.array([f"group {row // num_members}" for row in range(len(members))], dtype=object)
        return np.array(values, dtype=np.float32).T, index

    def groups_of(members: Sequence[Member], num_members: int) -> list[list[Score]]:
        scores = [
            Score(success=bool(s), progress=Fraction(*p), quality=Fraction(*q), evidence=nothing) for s, p, q in members
        ]
        return [scores[start : start + num_members] for start in range(0, len(scores), num_members)]

    batches = []
    for seed, (num_groups, num_members, num_tokens) in enumerate(GOLDEN_SHAPES):
        members = random_members(num_groups * num_members, seed)
        advantage_NT = theirs(*arrays(members, num_members), torch.ones(len(members), num_tokens))
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

    members = random_members(NUM_GROUPS * GROUP_SIZE, 0)
    groups, (values_KN, index) = groups_of(members, GROUP_SIZE), arrays(members, GROUP_SIZE)
    mask_NT = torch.ones(len(members), NUM_TOKENS)
    weights = RewardWeights()

    target_NT = torch.empty_like(mask_NT)

    def ours() -> Tensor:
        return torch.mul(normalise(groups, weights=weights).total_N.float()[:, None], mask_NT, out=target_NT)

    size, rows = mask_NT.numel(), len(mask_NT)
    factor = math.sqrt((size - 1) / size * rows / (rows - 1))
    difference = float((ours() * factor - theirs(values_KN, index, mask_NT)).abs().max())
    if difference > 1e-4:
        raise SystemExit(f"B1: values differ by {difference:.2e} after the documented factor {factor:.6f}")

    def ten(call: Callable[[], Tensor]) -> Callable[[], None]:
        def calls() -> None:
            for _ in range(CALLS):
                call()

        return calls

    paired = interleave(ten(ours), ten(lambda: theirs(values_KN, index, mask_NT)), num_pairs=num_pairs)
    write = interleave(ten(lambda: target_NT.fill_(1.0)), ten(ours), num_pairs=num_pairs)
    row = append_row(
        "B1 advantages",
        {
            "robustops_ms": round(paired.a_ms / CALLS, 3),
            "verl_ms": round(paired.b_ms / CALLS, 3),
            "ratio": round(paired.ratio, 1),
            "ratio_quartiles": [round(x, 1) for x in paired.ratio_quartiles],
            "one_write_of_the_batch_ms": round(write.a_ms / CALLS, 3),
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
