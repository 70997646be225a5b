"""A multirun as one comparison, against values worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.multirun import main
from tests.analysis.run_folders import markdown_table, outcomes, write_run


def job(folder: Path, *overrides: str) -> Path:
    (folder / ".hydra").mkdir(parents=True)
    (folder / ".hydra" / "overrides.yaml").write_text("".join(f"- {override}\n" for override in overrides))
    return folder


def compared(folder: Path) -> str:
    assert main([str(folder)]) == 0
    return (folder / "comparison" / "report.md").read_text()


def test_jobs_that_differ_in_their_seed_are_one_setting(tmp_path: Path) -> None:
    for number, (norm, seed, last) in enumerate(
        [("aggregate", 1, 0.2), ("aggregate", 2, 0.4), ("component", 1, 0.5), ("component", 2, 0.7)]
    ):
        folder = job(tmp_path / str(number), "+experiment=rl120", f"reward_norm={norm}", f"seed={seed}")
        (folder / "metrics.csv").write_text(f"step,reward_mean\n0,{last}\n")
    rows = markdown_table(compared(tmp_path), "Settings")
    assert [(row["Setting"], row["Seeds"], row["Last mean"], row["Range over seeds"]) for row in rows] == [
        ("reward_norm=aggregate", "2", "0.300", "0.200 to 0.400"),
        ("reward_norm=component", "2", "0.600", "0.500 to 0.700"),
    ]


def test_evaluations_are_paired_with_the_first_job(tmp_path: Path) -> None:
    for number, (temperature, pattern) in enumerate([("0", "1100"), ("1", "1111")]):
        folder = tmp_path / str(number)
        write_run(folder, "rl", outcomes(pattern), {})
        job(folder, f"evaluation.temperature={temperature}")
    first, second = markdown_table(compared(tmp_path), "Jobs")
    assert (first["Setting"], first["Solved"], first["Against the first (pp)"]) == (
        "evaluation.temperature=0",
        "2 of 4",
        "",
    )
    assert (second["Solved"], second["Against the first (pp)"], second["Holm p"]) == ("4 of 4", "+50.0", ".5000")


def test_jobs_without_results_are_counted_and_a_folder_without_any_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job(tmp_path / "0", "seed=1")
    assert main([str(tmp_path)]) == 2
    assert "none of its 1 jobs" in capsys.readouterr().err
    (job(tmp_path / "1", "seed=2") / "metrics.csv").write_text("step,reward_mean\n0,0.5\n")
    assert "1 of 2 jobs left results" in compared(tmp_path)
