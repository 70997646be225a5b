"""Adapters on weights that are spread over two processes train as in one, and merge to the same whole weights."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
import rl_process
import sft_process
import torch
from rl_forks import run_main
from tiny_qwen3 import tiny_model

from robustops.learn.model import named_weights

RANK = 3  # not a multiple of the number of processes: their parts of a factor differ in size
IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"
IN_FULL_SIZE = pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")

pytestmark = pytest.mark.slow


def column(folder: Path, name: str) -> list[float]:
    with (folder / "metrics.csv").open(newline="") as file:
        return [float(row[name]) for row in csv.DictReader(file) if row[name]]


def check_merged(alone: dict, both: dict) -> None:
    """Whole weights under a plain model's names, equal in both runs; only layers with adapters differ from before."""
    before = named_weights(tiny_model(0, spread=0.02))
    assert both["merged"].keys() == alone["merged"].keys() == before.keys()
    for name, weight in before.items():
        one, two = torch.tensor(alone["merged"][name]), torch.tensor(both["merged"][name])
        torch.testing.assert_close(two, one, rtol=1e-4, atol=1e-5)
        assert torch.equal(two, weight) != ("_proj" in name), name


@pytest.mark.parametrize(
    ("strategy", "is_checkpointed"), [("fsdp", True), pytest.param("ddp", False, marks=IN_FULL_SIZE)]
)
def test_adapters_fine_tune_in_two_processes_as_in_one(strategy, is_checkpointed, tmp_path):
    folders = tmp_path / "alone", tmp_path / "both"
    alone = run_main(sft_process.main, folders[0], "", False, RANK).result()
    both = run_main(sft_process.main, folders[1], strategy, False, RANK, is_checkpointed, num_ranks=2).result()
    for name in ("sft/loss", "sft/grad_norm", "sft/monitoring_loss"):
        assert column(folders[1], name) == pytest.approx(column(folders[0], name), rel=1e-4)
    for name, whole in alone["weights"].items():
        torch.testing.assert_close(torch.tensor(both["weights"][name]), torch.tensor(whole), rtol=1e-4, atol=1e-5)
    check_merged(alone, both)
    plain = named_weights(tiny_model(0, spread=0.02))
    for name, (last, _) in both["weights"].items():
        if "lora_" not in name:
            assert torch.equal(torch.tensor(last), plain[name.replace(".base_layer", "")]), "a frozen weight moved"


@pytest.mark.parametrize("strategy", ["fsdp", pytest.param("ddp", marks=IN_FULL_SIZE)])
def test_adapters_learn_by_reward_in_two_processes_as_in_one(strategy, tmp_path):
    """The probe of each step proves that the engine holds what the spread model computes with its adapters."""
    alone = run_main(rl_process.main, tmp_path / "alone", 2, "", "auto", RANK).result()
    both = run_main(rl_process.main, tmp_path / "both", 2, "", strategy, RANK, num_ranks=2).result()
    for name in ("played", "rewards", "num_updates", "versions"):
        assert both[name] == alone[name]
    for name in ("advantage/std", "policy/trained_tokens", "policy/kl_nats", "train/loss_nats", "train/grad_norm"):
        assert both["history"][name] == pytest.approx(alone["history"][name], rel=1e-4, abs=1e-6)
    assert both["history"]["sync/probe_max_nats"] < 1e-4
    check_merged(alone, both)
