"""Difficulty of tasks from reruns, against values worked out by hand and by enumeration."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.calibrate import main
from analysis.difficulty import mixed_groups, mixed_share, noise_floor, rerun_discordance, tasks_needed
from analysis.passk import Attempts
from analysis.power import mcnemar_power
from tests.analysis.run_folders import MakeRun, outcomes

RNG = np.random.default_rng(0)


def tasks(*counts: tuple[int, int]) -> list[Attempts]:
    return [Attempts(num_solved=solved, num_runs=runs) for solved, runs in counts]


def test_a_group_is_mixed_unless_all_its_runs_agree() -> None:
    """Every group of 2 out of 4 runs, of which 1 succeeded: 3 of 6 hold both outcomes."""
    runs = [True, False, False, False]
    enumerated = [len(set(group)) == 2 for group in itertools.combinations(runs, 2)]
    assert mixed_groups(tasks((1, 4)), 2, rng=RNG).estimate == statistics.mean(enumerated) == 0.5
    assert mixed_groups(tasks((0, 4), (4, 4)), 4, rng=RNG).estimate == 0.0
    with pytest.raises(ValueError, match="at least as many runs"):
        mixed_groups(tasks((1, 3)), 4, rng=RNG)


def test_the_mixed_band_leaves_out_both_ends() -> None:
    assert mixed_share(tasks((0, 4), (4, 4), (1, 4), (3, 4))).num_successes == 2


def test_the_noise_floor_is_that_of_simulated_reruns() -> None:
    chances = np.array([0.1, 0.5, 0.9, 1.0])
    rng = np.random.default_rng(1)
    reruns = rng.random((20_000, 4)) < chances
    expected = reruns.mean(axis=1).std()
    counts = [(int(reruns[:, task].sum()), len(reruns)) for task in range(4)]
    assert noise_floor(tasks(*counts)).estimate == pytest.approx(expected, rel=0.02)
    differ = (reruns[:10_000] != reruns[10_000:]).mean()
    assert rerun_discordance(tasks(*counts)) == pytest.approx(differ, abs=0.01)


def test_the_tasks_needed_have_the_power_and_fewer_have_not() -> None:
    n = tasks_needed(0.10, 0.20)
    assert mcnemar_power(p_only_a=0.20, p_only_b=0.10, n=n) >= 0.8
    assert mcnemar_power(p_only_a=0.20, p_only_b=0.10, n=n - 20) < 0.8
    with pytest.raises(ValueError, match="between 0 and 1"):
        tasks_needed(0.0, 0.2)


def test_the_curriculum_holds_the_tasks_within_the_band_the_easiest_first(make_run: MakeRun, tmp_path: Path) -> None:
    patterns = ("11010", "10010", "11000", "11010")  # task by task 4, 3, 0, 3 and 0 of 4 runs
    cases = [replace(case, attempt=n) for n, pattern in enumerate(patterns) for case in outcomes(pattern, prefix="u")]
    patterns = ("0", "1", "0", "0")
    cases += [replace(case, attempt=n) for n, pattern in enumerate(patterns) for case in outcomes(pattern)]
    run = make_run("rl", cases)
    assert main([str(run), "--out", str(tmp_path / "out"), "--high", "0.8"]) == 0
    remark, *ids = (tmp_path / "out" / "curriculum.txt").read_text().splitlines()
    assert remark.startswith("# success within 0.01 to 0.8")
    assert ids == ["u001", "u003", "t000"]
    assert "3 of 6 tasks are in the mixed band" in (tmp_path / "out" / "report.md").read_text()


def test_single_runs_cannot_be_calibrated(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(make_run("rl", outcomes("10")))]) == 2
    assert "evaluation.attempts=8" in capsys.readouterr().err
