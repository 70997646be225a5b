"""A tiny RL run killed with SIGKILL at the worst moments ends as if nothing had happened."""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("rl_process.py")
STEPS = 3
IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"

pytestmark = pytest.mark.slow


def run(folder: Path, kill_at: str = "", *, steps: int = STEPS) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), str(steps), kill_at]
    helpers = os.pathsep.join(map(str, (SCRIPT.parent, SCRIPT.parents[1])))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": helpers}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)


def result(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


# What tells how long something took, or how often a kill made it happen.
NOT_COMPARED = ("time/", "rollout/tokens_per_s", "rollout/groups_", "train/tokens_per_s", "train/peak_memory_mib")


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: value for name, value in row.items() if not name.startswith(NOT_COMPARED)} for row in rows]


@pytest.mark.parametrize(
    ("num_kills", "steps"),
    [
        (2, STEPS),
        pytest.param(10, 20, marks=pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")),
    ],
)
def test_a_run_killed_at_random_again_and_again_ends_with_the_bits_and_the_table_of_one_left_alone(
    num_kills, steps, undisturbed, tmp_path
):
    """About seven events a step: four groups, an update, the halves of a state."""
    rng = random.Random(f"kills {num_kills}")
    whole, _, whole_folder = undisturbed
    if steps != STEPS:
        whole_folder = tmp_path / "whole"
        whole = result(run(whole_folder, steps=steps))
    killed = 0
    while killed < num_kills:
        done = run(tmp_path / "killed", str(rng.randint(1, 7 * steps // num_kills)), steps=steps)
        assert done.returncode == -9, done.stderr[-3000:]
        killed += 1
    rest = result(run(tmp_path / "killed", steps=steps))
    assert rest["fingerprint"] == whole["fingerprint"]
    assert rest["num_updates"] == whole["num_updates"]
    assert table(tmp_path / "killed") == table(whole_folder)
    assert len(table(whole_folder)) == steps


def trained(folder: Path) -> list[str]:
    return (folder / "trained.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rl") / "undisturbed"
    return result(run(folder)), trained(folder), folder


@pytest.mark.parametrize(
    "kill_at",
    [
        "group",
        pytest.param("update", marks=pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")),
        pytest.param("checkpoint", marks=pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")),
    ],
)
def test_a_killed_run_ends_with_the_bits_of_an_undisturbed_one(kill_at, undisturbed, tmp_path):
    whole, whole_trained, _ = undisturbed
    killed = run(tmp_path, kill_at)
    assert killed.returncode == -9, killed.stderr[-3000:]
    rest = result(run(tmp_path))

    assert rest["fingerprint"] == whole["fingerprint"]
    assert rest["weights"] == whole["weights"]
    assert rest["num_updates"] == whole["num_updates"] == STEPS
    # The run's history holds each step's data as often as it was trained; only an update whose state never reached
    # the disk is made again, on the same trajectories.
    again = Counter(trained(tmp_path))
    assert set(again) == set(whole_trained)
    repeated = [line for line, times in again.items() if times > 1]
    assert [line.split()[0] for line in repeated] == (["1"] if kill_at == "checkpoint" else [])
    # Groups that were in the journal are not played again, all others are played exactly once.
    num_known = {"group": 2, "update": 4, "checkpoint": 4}[kill_at]
    of_step = [slot for slot in whole["played"] if slot.startswith("1/")]
    assert len(of_step) == 4, "the numbers above take a step without refills"
    assert rest["counted"] == of_step[:num_known]
    assert rest["played"] == of_step[num_known:] + [slot for slot in whole["played"] if slot.startswith("2/")]
    # Every step rolled out under weights of its own.
    assert rest["versions"] == [1, 2]
    assert not list((tmp_path / "checkpoints").glob("*.partial")) or kill_at == "checkpoint"
