"""A tiny RL run killed with SIGKILL at the worst moments ends as if nothing had happened."""

from __future__ import annotations

import csv
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from rl_forks import run

STEPS = 3
IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"

pytestmark = pytest.mark.slow


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
        whole = run(whole_folder, steps).result()
    killed = 0
    while killed < num_kills:
        done = run(tmp_path / "killed", steps, kill_at=str(rng.randint(1, 7 * steps // num_kills)))
        assert done.exit_code == -9, done.printed[-3000:]
        killed += 1
    rest = run(tmp_path / "killed", steps).result()
    assert rest["fingerprint"] == whole["fingerprint"]
    assert rest["num_updates"] == whole["num_updates"]
    assert table(tmp_path / "killed") == table(whole_folder)
    assert len(table(whole_folder)) == steps


def trained(folder: Path) -> list[str]:
    return (folder / "trained.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rl") / "undisturbed"
    return run(folder, STEPS).result(), trained(folder), folder


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
    killed = run(tmp_path / "killed", STEPS, kill_at=kill_at)
    assert killed.exit_code == -9, killed.printed[-3000:]
    rest = run(tmp_path / "killed", STEPS).result()

    assert rest["fingerprint"] == whole["fingerprint"]
    assert rest["weights"] == whole["weights"]
    assert rest["num_updates"] == whole["num_updates"] == STEPS
    # The run's history holds each step's data as often as it was trained; only an update whose state never reached
    # the disk is made again, on the same trajectories.
    again = Counter(trained(tmp_path / "killed"))
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
    assert not list((tmp_path / "killed" / "checkpoints").glob("*.partial")) or kill_at == "checkpoint"
