"""One RL run in two processes is the run of one: same groups, same weights. Through Lightning, over gloo."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import rl_forks
import torch
from rl_forks import Ended

from robustops.learn import ranks

SCRIPT = Path(__file__).with_name("rl_process.py")
STEPS = 2
IS_FULL_SIZE = os.environ.get("ROBUSTOPS_TEST_SIZE") == "full"
IN_FULL_SIZE = pytest.mark.skipif(not IS_FULL_SIZE, reason="in make test-all")

pytestmark = pytest.mark.slow


def run_command(folder: Path, strategy: str) -> Ended:
    """As a user's command, which Lightning starts once more for the second rank."""
    helpers = os.pathsep.join(map(str, (SCRIPT.parent, SCRIPT.parents[1])))
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": helpers, "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, str(SCRIPT), str(folder), str(STEPS), "", strategy]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    return Ended(exit_code=done.returncode, printed=done.stderr if done.returncode else done.stdout)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return rl_forks.run(tmp_path_factory.mktemp("alone") / "run", STEPS, strategy="auto").result()


@pytest.mark.parametrize(
    ("strategy", "is_command"),
    [
        ("ddp", False),
        pytest.param("ddp", True, marks=IN_FULL_SIZE),
        pytest.param("fsdp", True, marks=IN_FULL_SIZE),
    ],
)
def test_two_processes_sample_the_groups_and_learn_the_weights_of_one(strategy, is_command, alone, tmp_path):
    folder = tmp_path / "both"
    if is_command:
        both = run_command(folder, strategy).result()
    else:
        both = rl_forks.run(folder, STEPS, strategy=strategy, num_ranks=2).result()
    for name in ("played", "rewards", "num_updates", "versions"):
        assert both[name] == alone[name]
    for name in ("reward/mean", "advantage/std", "policy/trained_tokens", "policy/kl_nats", "train/loss_nats"):
        assert both["history"][name] == pytest.approx(alone["history"][name], rel=1e-4, abs=1e-6)
    for one, other in zip(alone["parameters"], both["parameters"], strict=True):
        torch.testing.assert_close(torch.tensor(other), torch.tensor(one), rtol=1e-5, atol=2e-6)
    trained = [line.split() for line in (folder / "trained.txt").read_text().splitlines()]
    assert len(trained) == 2 * STEPS, "each rank makes each update"


def test_groups_stay_whole_and_ranks_have_about_the_same_to_do():
    groups = [name for name in "abcdef" for _ in range(4)]
    sizes = [size for size in (90, 10, 50, 40, 30, 20) for _ in range(4)]
    found = ranks.shares(groups, sizes, 2)
    assert {len({taker for name, taker in zip(groups, found, strict=True) if name == group}) for group in groups} == {1}
    loads = [sum(size for size, taker in zip(sizes, found, strict=True) if taker == rank) for rank in (0, 1)]
    assert loads == [480, 480]


def test_a_rank_may_have_nothing_to_do():
    assert ranks.shares(["a", "a"], [3, 4], 3) == [0, 0]
