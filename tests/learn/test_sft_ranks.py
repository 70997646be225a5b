"""SFT in two processes is SFT in one: same losses, same weights, same state on disk."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
import sft_process
import torch
from rl_forks import run_main

from robustops.learn.checkpoint import load_latest

IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"
IN_FULL_SIZE = pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")
STEPS = 6  # two epochs of three

pytestmark = pytest.mark.slow


def column(folder: Path, name: str) -> list[float]:
    with (folder / "metrics.csv").open(newline="") as file:
        return [float(row[name]) for row in csv.DictReader(file) if row[name]]


@pytest.mark.parametrize(
    ("strategy", "packing"),
    [
        pytest.param("ddp", True, marks=IN_FULL_SIZE),
        ("ddp", False),
        ("fsdp", True),
        pytest.param("fsdp", False, marks=IN_FULL_SIZE),
    ],
)
def test_two_processes_fine_tune_as_one(strategy, packing, tmp_path):
    """Its losses as well: Adam divides a gradient by its size, so weights alone would hide a wrong factor."""
    folders = tmp_path / "alone", tmp_path / "both"
    alone = run_main(sft_process.main, folders[0], "", packing).result()
    both = run_main(sft_process.main, folders[1], strategy, packing, num_ranks=2).result()
    assert both["notes"] == alone["notes"] == list(range(1, STEPS + 1))
    for name, number in (("sft/loss", STEPS), ("sft/grad_norm", STEPS), ("sft/monitoring_loss", 2)):
        assert len(column(folders[0], name)) == number
        assert column(folders[1], name) == pytest.approx(column(folders[0], name), rel=1e-4)
    assert both["best_loss"] == pytest.approx(alone["best_loss"], rel=1e-4)
    for name, whole in alone["weights"].items():
        torch.testing.assert_close(torch.tensor(both["weights"][name]), torch.tensor(whole), rtol=1e-4, atol=1e-5)
    one, two = (load_latest(folder / "checkpoints") for folder in folders)
    assert one is not None
    assert two is not None
    assert one.step == two.step == STEPS
    for number, entry in one.state["optimiser"]["state"].items():
        found = two.state["optimiser"]["state"][number]["exp_avg"]
        torch.testing.assert_close(found, entry["exp_avg"], rtol=1e-3, atol=1e-6)
