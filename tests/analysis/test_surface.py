"""The reliability surface against values worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.surface import main
from tests.analysis.run_folders import MakeRun, Outcome, faulted, markdown_table, outcomes


def repeated(*patterns: str) -> list[Outcome]:
    """One pattern an attempt, over the same tasks."""
    return [replace(case, attempt=attempt) for attempt, pattern in enumerate(patterns) for case in outcomes(pattern)]


def with_intensity(folder: Path, intensity: float) -> Path:
    path = folder / "trajectories.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["plan"]:
            line["plan"]["intensity"] = intensity
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_pass_hat_k_at_every_place_of_the_surface(make_run: MakeRun, tmp_path: Path) -> None:
    """Four tasks, two runs: solved 2, 1, 2 and 0 times clean, so pass^1 = 5/8 and pass^2 = 2/4."""
    clean = repeated("1110", "1010")
    mild, severe = faulted(repeated("1010", "1010")), faulted(repeated("1000", "0000"))
    runs = [
        with_intensity(make_run("rl", [*clean, *mild], folder="mild"), 0.0),
        with_intensity(make_run("rl", severe, folder="severe", config={"evaluation": {"paraphrase": 1}}), 1.0),
    ]
    out = tmp_path / "out"
    names = {}
    assert main([*map(str, runs), "--out", str(out)]) == 0
    for row in markdown_table((out / "report.md").read_text(), "pass^k"):
        names[row["Wording"], row["Intensity"]] = (row["pass^1"], row["pass^2"], row["Tasks"])
    assert names == {
        ("0", "none"): ("62.5%", "50.0%", "4"),
        ("0", "0"): ("50.0%", "50.0%", "4"),
        ("1", "1"): ("12.5%", "0.0%", "4"),
    }
    (figure,) = (out / "figures").iterdir()
    assert "n = 4 tasks" in figure.read_text()


def test_single_runs_are_no_surface(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(make_run("rl", outcomes("10")))]) == 2
    assert "evaluation.attempts=4" in capsys.readouterr().err
