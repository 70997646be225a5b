"""What benchmarks count and compare, without running them: their names, the work of B8 and the figures of B9."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A file of the benchmarks, imported as their scripts do."""
    monkeypatch.syspath_prepend(str(FOLDER / "trl"))
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def test_every_name_is_a_script_and_no_shared_part():
    names = importlib.import_module("benchmarks.__main__").NAMES
    assert {"rollout_engine", "grpo_step_trl", "sft_trl", "gym"} <= set(names)
    for name in names:
        tree = ast.parse((FOLDER / f"{name}.py").read_text())
        assert ast.get_docstring(tree), name
        assert "main" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, name
        assert ast.unparse(tree.body[-1].test) == "__name__ == '__main__'", name


def test_lengths_are_those_of_the_recorded_quantiles(part):
    quantile = part("rollout_work").quantile
    assert [quantile(share) for share in (0.0, 0.5, 0.9, 1.0)] == [13, 28, 173, 530]
    assert quantile(0.625) == 52  # halfway between the median, 28, and the upper quartile, 76


def test_each_round_deals_the_same_lengths_to_other_turns(part):
    work = part("rollout_work").Work
    one, two = work.dealt(1), work.dealt(2)
    assert one != two
    assert sorted(sum(one.lengths, ())) == sorted(sum(two.lengths, ()))
    assert [len(turns) for turns in one.lengths] == [4] * 16


def test_lockstep_steps_are_the_longest_of_each_turn_for_one_longest_session(part):
    work = part("rollout_work").Work(((10, 1, 1), (2, 20, 2), (3, 3, 30)))
    assert work.num_tokens == 72
    assert work.steps_ratio == (10 + 20 + 30) / 36


def test_a_batch_waits_for_the_one_before_where_a_session_waits_for_one_place(part):
    work = part("rollout_work").Work(((10,), *((1,),) * 16))
    assert work.batches() == [range(0, 16), range(16, 17)]
    assert work.steps_ratio == (10 + 1) / 10  # the seventeenth follows one of the short ones


def test_the_context_of_the_longest_session_fits_the_engine(part):
    found = part("rollout_work")
    longest = sorted(sum(found.Work.dealt(0).lengths, ()))[-found.NUM_TURNS :]
    assert found.PROMPT_TOKENS + sum(longest) + (found.NUM_TURNS - 1) * found.REPLY_TOKENS <= 2048


def test_members_of_a_group_have_different_rewards_for_the_same_tokens(part):
    passed_checks = part("grpo_data").passed_checks
    assert len({passed_checks([1, 2, 3], member) for member in range(4)}) == 4


def test_a_phase_is_compared_pair_by_pair(part):
    ours = [{"step_s": 1.0, "rollout_s": 0.5, "train_s": 0.5}] * 3
    theirs = [{"step_s": s, "rollout_s": s / 4, "train_s": 3 * s / 4} for s in (4.0, 2.0, 3.0)]
    row = part("grpo_step_trl").compared(ours, theirs)
    assert (row["robustops_step_ms"], row["trl_step_ms"], row["step_ratio"]) == (1000, 3000, 3.0)
    assert (row["rollout_ratio"], row["train_ratio"]) == (1.5, 4.5)
    assert row["step_ratio_quartiles"] == [2.0, 4.0]


@pytest.mark.vllm
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")
def test_our_side_of_b9_makes_a_step_of_all_its_tokens():
    """It plays a part of the rollouts itself, so that a change of theirs can leave it behind."""
    sizes = (
        "--model",
        str(FOLDER.parent / "robustops" / "assets" / "models" / "tiny-base"),
        "--steps",
        "1",
        "--words",
        "41",
    )
    made = subprocess.run(
        [sys.executable, str(FOLDER / "trl" / "grpo_ours.py"), *sizes],
        input="\n",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-2000:]
    assert json.loads(made.stdout)["num_tokens"] == 8 * 4 * 64
