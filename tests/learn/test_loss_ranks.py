"""Two gloo processes: denominators and gradients of a step equal those of one process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from rl_forks import run_main
from torch.nn.parallel import DistributedDataParallel
from toy import ToyModel, backward, gradient, random_trajectories

from robustops.learn.denominators import count_tokens, token_weights
from robustops.learn.loss import LossSums
from robustops.learn.ranks import leave

WORLD_SIZE = 2


def one_rank(folder: Path) -> None:
    """Five rows here, three there, and rank 1 has no clean token at all: a local denominator would be wrong twice."""
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo", rank=rank, world_size=WORLD_SIZE)
    rows = [row for row in random_trajectories(8) if (row.flow == 1 and row.case_id > "case 2") == bool(rank)]
    local = count_tokens([row.num_trained for row in rows], [row.flow for row in rows])
    weights = token_weights(local.over_ranks(), num_averaged_ranks=WORLD_SIZE)
    model = DistributedDataParallel(ToyModel())
    loss = backward(model, rows, [list(range(len(rows)))], weights)
    sums = LossSums(num_tokens=sum(local.counts), max_mismatch=float(rank)).over_ranks()
    torch.save({"gradient": gradient(model), "loss": loss, "local": local, "sums": sums}, folder / f"rank{rank}.pt")
    del model
    leave()
    assert not dist.is_initialized()


@pytest.mark.slow
def test_two_gloo_processes_give_the_gradient_of_one(tmp_path: Path) -> None:
    ended = run_main(one_rank, tmp_path, num_ranks=WORLD_SIZE)
    assert ended.exit_code == 0, ended.printed
    ranks = [torch.load(tmp_path / f"rank{rank}.pt", weights_only=False) for rank in range(WORLD_SIZE)]

    rows = random_trajectories(8)
    tokens = count_tokens([row.num_trained for row in rows], [row.flow for row in rows])
    model = ToyModel()
    loss = backward(model, rows, [list(range(8))], token_weights(tokens))

    assert ranks[1]["local"].counts[0] == 0
    for found in ranks:
        torch.testing.assert_close(found["gradient"], gradient(model), rtol=1e-10, atol=1e-12)
        assert found["sums"] == LossSums(num_tokens=sum(tokens.counts), max_mismatch=1.0)
    assert sum(found["loss"] for found in ranks) / WORLD_SIZE == pytest.approx(loss)
