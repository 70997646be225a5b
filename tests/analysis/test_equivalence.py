"""Equivalence of two harness runs, against values worked out by hand and published ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.equivalence import main
from analysis.preference import preference, sign_test
from tests.analysis.run_folders import MakeRun, markdown_table, outcomes


def test_the_sign_test_of_the_published_preference_counts() -> None:
    assert round(sign_test(112, 106).p, 4) == 0.7350
    assert sign_test(0, 0, num_ties=3).p == 1.0


def test_ties_decide_nothing() -> None:
    found = preference([1.0, 0.5, 0.0, 1.0], [0.5, 0.5, 0.5, 0.0])
    assert (found.prefer_a, found.prefer_b, found.num_ties) == (2, 1, 1)
    assert found.n == 4
    with pytest.raises(ValueError, match="same tasks"):
        preference([1.0], [])


def test_equal_runs_agree_in_everything(make_run: MakeRun) -> None:
    runs = [make_run("rl", outcomes("1" * 130 + "000"), folder=name) for name in ("one", "two")]
    assert main([*map(str, runs)]) == 0
    text = (runs[1] / "equivalence" / "report.md").read_text()
    found = {row["Question"]: row for row in markdown_table(text, "Agreement")}
    assert found["Same outcome"]["Value"] == found["Same checks passed"]["Value"] == "100.0%"
    assert found["TOST"]["Value"] == "equivalent"  # 133 pairs without a discordant one are just enough for 2 points
    assert found["Preference of tasks"]["Value"] == "0 : 0"
    assert "Flip excess (pp)" not in found  # single runs cannot disagree with themselves


def test_repeated_runs_tell_flaky_tasks_and_flip_excess(make_run: MakeRun) -> None:
    """Task by task, A solves 2, 1, 0 of 2 runs and B 2, 1, 2: excess (0, -.5, 1) on average 1/6."""

    def attempts(*patterns: str) -> list:
        return [replace(case, attempt=n) for n, pattern in enumerate(patterns) for case in outcomes(pattern)]

    runs = [make_run("rl", attempts("110", "100"), folder="one"), make_run("rl", attempts("111", "101"), folder="two")]
    assert main([*map(str, runs)]) == 0
    text = (runs[1] / "equivalence" / "report.md").read_text()
    found = {row["Question"]: row for row in markdown_table(text, "Agreement")}
    assert found["Flaky tasks, RL (one)"]["Value"] == "33.3%"
    assert found["Flip excess (pp)"]["Value"] == "+16.7"
    assert found["Macro difference (pp)"]["Value"] == "-33.3"


def test_cases_that_end_alike_may_still_pass_other_checks(make_run: MakeRun) -> None:
    runs = [make_run("rl", outcomes("00"), folder=name) for name in ("one", "two")]
    path: Path = runs[1] / "trajectories.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for check in lines[0]["end"]["checks"]:
        check["passed"] = not check["passed"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main([*map(str, runs)]) == 0
    text = (runs[1] / "equivalence" / "report.md").read_text()
    found = {row["Question"]: row["Value"] for row in markdown_table(text, "Agreement")}
    assert (found["Same outcome"], found["Same checks passed"]) == ("100.0%", "50.0%")
