"""B2: one policy step on the four continuations of a shared prefix. Run: python benchmarks/shared_prefix.py

A: the members of the group share one forward and backward of their prefix, as training does by default. B: a row per
member (`algorithm.share_prefix=false`), the same module otherwise. Both compute the whole gradient, and it
must be the same. The model has the dimensions of the shipped tiny one; P prefix tokens, R tokens of each member's own,
all of which are trained on. The limit is G (P + R) / (P + G R).
"""

from __future__ import annotations

import argparse
import logging
from functools import partial

import torch
from table import append_row, interleave
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode
from transformers import AutoConfig, AutoModelForCausalLM

from robustops.cli import PACKAGE
from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.loss import PolicyLoss
from robustops.learn.trajectory import Trajectory

GROUP_SIZE = 4
SHAPES = ((1024, 128), (2048, 256), (3072, 128))
MAX_DIFFERENCE = 1e-5
FAULT = 1


def module(share_prefix: bool) -> GrpoModule:
    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(str(PACKAGE / "assets" / "models" / "tiny-base"))
    config.max_position_embeddings = 8192
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="sdpa").train()
    return GrpoModule(model, None, GrpoSettings(loss=PolicyLoss(kl_coef=0.0), share_prefix=share_prefix))


def group(num_prefix: int, num_own: int) -> list[Trajectory]:
    generator = torch.Generator().manual_seed(0)
    prefix_P = torch.randint(1536, (num_prefix,), generator=generator)
    rows = []
    for number in range(GROUP_SIZE):
        own_R = torch.randint(1536, (num_own,), generator=generator)
        is_trained_T = torch.arange(num_prefix + num_own) >= num_prefix
        rows.append(
            Trajectory(
                case_id=f"case {number}",
                group_id="group",
                flow=FAULT,
                token_ids_T=torch.cat([prefix_P, own_R]),
                is_trained_T=is_trained_T,
                logp_rollout_T=is_trained_T * -7.0,
                advantage_T=is_trained_T * (number - 1.5),
            )
        )
    return rows


def step(found: GrpoModule, rows: list[Trajectory]) -> Tensor:
    found.zero_grad()
    found.accumulate(rows)
    return torch.cat([parameter.grad.flatten() for parameter in found.parameters() if parameter.grad is not None])


def num_flops(found: GrpoModule, rows: list[Trajectory]) -> int:
    with FlopCounterMode(display=False) as counter:
        step(found, rows)
    return counter.get_total_flops()


def measure(num_prefix: int, num_own: int, num_pairs: int) -> dict[str, object]:
    rows, shared, alone = group(num_prefix, num_own), module(True), module(False)
    one, two = step(shared, rows).double(), step(alone, rows).double()
    difference = float((one - two).norm() / two.norm())
    if difference > MAX_DIFFERENCE:
        raise SystemExit(f"B2: gradients differ by {difference:.1e}; expected at most {MAX_DIFFERENCE:.0e}")
    limit = GROUP_SIZE * (num_prefix + num_own) / (num_prefix + GROUP_SIZE * num_own)
    flops = num_flops(alone, rows) / num_flops(shared, rows)
    time = interleave(partial(step, shared, rows), partial(step, alone, rows), num_pairs=num_pairs)
    return append_row(
        "B2 shared prefix",
        {
            "prefix_tokens": num_prefix,
            "own_tokens": num_own,
            "robustops_ms": round(time.a_ms),
            "row_per_member_ms": round(time.b_ms),
            "ratio": round(time.ratio, 2),
            "ratio_quartiles": [round(x, 2) for x in time.ratio_quartiles],
            "flops_ratio": round(flops, 2),
            "limit": round(limit, 2),
            "flops_share_of_limit": round(flops / limit, 3),
            "relative_gradient_difference": difference,
            "num_pairs": num_pairs,
        },
        packages=("torch", "transformers"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5, help="interleaved pairs to time (default 5)")
    num_pairs = parser.parse_args().pairs
    torch.set_num_threads(1)
    logging.getLogger("robustops").setLevel(logging.ERROR)  # a batch of one flow alone is meant here
    for num_prefix, num_own in SHAPES:
        row = measure(num_prefix, num_own, num_pairs)
        print("\n".join(f"{key:30} {value}" for key, value in row.items()), end="\n\n")


if __name__ == "__main__":
    main()
