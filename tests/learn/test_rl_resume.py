"""A tiny RL run killed with SIGKILL at the worst moments ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("rl_process.py")
STEPS = 3
IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"

pytestmark = pytest.mark.slow


def run(folder: Path, kill_at: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), str(STEPS), kill_at]
    helpers = os.pathsep.join(map(str, (SCRIPT.parent, SCRIPT.parents[1])))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": helpers}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)


def result(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def trained(folder: Path) -> list[str]:
    return (folder / "trained.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rl") / "undisturbed"
    return result(run(folder)), trained(folder)


@pytest.mark.parametrize(
    "kill_at",
    [
        "group",
        pytest.param("update", marks=pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")),
        "checkpoint",
    ],
)
def test_a_killed_run_ends_with_the_bits_of_an_undisturbed_one(kill_at, undisturbed, tmp_path):
    whole, whole_trained = undisturbed
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
