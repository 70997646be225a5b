"""Recovery, damage and discordant cases in a report, against counts made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.figures import draw, plot_groups
from analysis.rates import wilson
from analysis.report import main
from analysis.viewer.__main__ import main as write_viewer
from tests.analysis.run_folders import MakeRun, faulted, markdown_table, outcomes

KINDS = {
    "throttled": {"family": "not_executed", "visibility": "explicit", "persistence": "transient", "pack": "main"},
    "dropped_filter": {
        "family": "ignored_filter",
        "visibility": "implicit",
        "persistence": "transient",
        "pack": "main",
        "held_out": True,
    },
    "outage": {"family": "lasting_outage", "visibility": "explicit", "persistence": "permanent", "pack": "stress"},
}


def report_of(*runs: Path, flags: tuple[str, ...] = ()) -> str:
    out = runs[-1] / "report"
    assert main([*map(str, runs), "--out", str(out), *flags]) == 0
    return (out / "report.md").read_text()


def by_group(text: str, title: str) -> dict[str, tuple[str, str]]:
    return {row["Group"]: (row["Recovered"], row["Of those solved clean"]) for row in markdown_table(text, title)}


def test_recovery_counts_hit_cases_alone_by_every_tag(make_run: MakeRun) -> None:
    """Six tasks of which the model solves the first five clean; two of each kind, one throttled one is not hit."""
    clean = outcomes("111110")
    fault = [
        *faulted(outcomes("11", prefix="t")),
        *faulted(outcomes("0010")[2:], subtype="dropped_filter"),
        *faulted(outcomes("000001")[4:], subtype="outage"),
    ]
    fault[0] = replace(fault[0], hit=False)
    text = report_of(make_run("rl", [*clean, *fault], fault_kinds=KINDS))
    expected = {
        "throttled": ("1 of 1", "1 of 1"),
        "dropped_filter": ("1 of 2", "1 of 2"),
        "outage": ("1 of 2", "0 of 1"),
    }
    assert by_group(text, "By kind") == expected
    assert by_group(text, "Explicit and implicit") == {
        "explicit": ("2 of 3", "1 of 2"),
        "implicit": ("1 of 2", "1 of 2"),
    }
    assert by_group(text, "Transient and permanent") == {
        "permanent": ("1 of 2", "0 of 1"),
        "transient": ("2 of 3", "2 of 3"),
    }
    assert by_group(text, "Met in training or not") == {
        "held-out family": ("1 of 2", "1 of 2"),
        "kinds of training": ("1 of 1", "1 of 1"),
        "stress pack": ("1 of 2", "0 of 1"),
    }


def test_a_figure_by_group_gives_one_number_of_cases_or_one_for_each_model() -> None:
    """Two of three models share a number: three are written still, or nobody knows whose is missing."""
    sizes = {"apart": (13, 36, 36), "alike": (8, 8, 8)}
    groups = {
        group: dict(zip(("Base", "SFT", "RL"), (wilson(1, n) for n in ns), strict=True)) for group, ns in sizes.items()
    }
    figure = draw("kinds", "By kind.", lambda ax: plot_groups(groups, ax, what="Recovered"), height=3)
    assert "apart (n = 13 / 36 / 36)" in figure.svg
    assert "alike (n = 8)" in figure.svg


def test_damage_is_counted_with_its_severity_and_compared_in_pairs(make_run: MakeRun) -> None:
    sft = [
        replace(case, damage=found)
        for case, found in zip(outcomes("1100"), ((), ("LOW",), ("LOW", "HIGH"), ()), strict=True)
    ]
    rl = [replace(case, damage=found) for case, found in zip(outcomes("1110"), ((), (), (), None), strict=True)]
    text = report_of(make_run("sft", sft), make_run("rl", rl))
    first, second = markdown_table(text, "Damaging episodes")
    assert (first["Damaging"], first["Rows damaged"], first["Solved with damage"]) == ("2 of 4", "3", "1")
    assert (first["Low"], first["Medium"], first["High"]) == ("1", "0", "1")  # by the worst row of an episode
    assert (second["Damaging"], second["Unknown"]) == ("0 of 3", "1")
    (change,) = markdown_table(text, "Change of damage, paired case by case")
    assert (change["n"], change["Damage gone"], change["Damage new"], change["Change (pp)"]) == ("3", "2", "0", "-66.7")


def test_without_knowledge_of_damage_the_report_has_no_such_section(make_run: MakeRun) -> None:
    assert "## Damage" not in report_of(make_run("rl", outcomes("10")))


def test_discordant_cases_are_named_and_lead_to_the_viewer(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("base", outcomes("1100")), make_run("rl", outcomes("1011"))]
    assert write_viewer([*map(str, runs), "--out", str(tmp_path / "viewer")]) == 0
    text = report_of(*runs, flags=("--viewer", str(tmp_path / "viewer")))
    rows = markdown_table(text, "RL over Base, clean")
    assert [row["Outcome"] for row in rows] == ["lost", "gained", "gained"]
    assert [re.findall(r"t\d+", row["Case"])[0] for row in rows] == ["t001", "t002", "t003"]
    page = (runs[-1] / "report" / "report.html").read_text()
    assert 'href="../../viewer/index.html#case=t001%7Coracle%7Cclean%7C0&amp;a=Base&amp;b=RL"' in page
    without = report_of(*runs)
    assert "viewer" not in without.split("## Discordant cases")[1]


def test_a_viewer_that_is_not_there_is_told_with_the_command_that_writes_it(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(make_run("rl", outcomes("1"))), "--viewer", str(tmp_path / "none")]) == 2
    assert "python -m analysis.viewer" in capsys.readouterr().err


def test_a_flipped_damage_fails_the_check(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run("rl", [replace(case, damage=("LOW",)) for case in outcomes("11")])
    assert main([str(run), "--check"]) == 0
    path = run / "trajectories.jsonl"
    path.write_text(path.read_text().replace('"severity": "LOW"', '"severity": "HIGH"', 1))
    assert main([str(run), "--check"]) == 2
    assert "damage_severity is 'HIGH' by the trajectory" in capsys.readouterr().err
