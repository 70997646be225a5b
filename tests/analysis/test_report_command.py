"""The command: mistakes end in one line and exit code 2, and --check finds every altered number."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from analysis.check import check_run, holds
from analysis.document import Document, Section, Table
from analysis.render import is_number_like, to_terminal
from analysis.report import main
from robustops.core.errors import TableError
from tests.analysis.run_folders import MakeRun, faulted, outcomes

Edit = Callable[[dict[str, Any]], object]


def edit_line(run: Path, number: int, edit: Edit) -> None:
    path = run / "trajectories.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    edit(lines[number])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture
def run(make_run: MakeRun) -> Path:
    return make_run("sft", outcomes("10?1") + faulted(outcomes("1100")))


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_untouched_trajectories_confirm_every_row(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked = check_run(run)
    assert (checked.num_episodes, checked.num_values, checked.num_judged) == (8, 14, 0)
    assert main([str(run), "--check"]) == 0
    assert "8 episodes, 14 check values" in capsys.readouterr().out


def flip_value(line: dict[str, Any]) -> None:
    line["end"]["checks"][1]["value"] = "closed"


def flip_verdict(line: dict[str, Any]) -> None:
    line["end"]["checks"][0]["passed"] = False


def flip_both(line: dict[str, Any]) -> None:
    line["end"]["checks"][0] |= {"passed": False, "value": 4}


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (flip_value, "check 1 (state): value 'closed' equals 'open' is False, the record says True"),
        (flip_verdict, "check 0 (count): value 3 equals 3 is True, the record says False"),
        (flip_both, "success is False by the trajectory, episodes.parquet says True"),
        (lambda line: line["end"]["checks"].pop(), "checks_passed is 1 by the trajectory"),
        (lambda line: line["turns"].pop(), "turns is 2 by the trajectory"),
        (lambda line: line["turns"][0].update(sampled_ids=[7, 7]), "prompt_tokens is 305 by the trajectory"),
        (lambda line: line["turns"][0].update(call=None), "tool_calls is 1 by the trajectory"),
        (lambda line: line.update(faults=[{"subtype": "throttled"}]), "fault_hit is True by the trajectory"),
        (lambda line: line.update(stop_reason="context"), "stop_reason is 'context' by the trajectory"),
        (lambda line: line.pop("turns"), "not an episode"),
    ],
)
def test_one_altered_value_fails_the_check_and_is_named(
    run: Path, capsys: pytest.CaptureFixture[str], edit: Edit, named: str
) -> None:
    edit_line(run, 3, edit)
    message = error_of(capsys, run, "--check")
    assert "trajectories.jsonl:4: case t003" in message
    assert named in message


def test_a_row_without_its_trajectory_fails_the_check(run: Path) -> None:
    path = run / "trajectories.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(TableError, match=r"1 cases .* no trajectory, the first is t003\|oracle\|fault\|0"):
        check_run(run)


def test_a_trajectory_without_its_row_fails_the_check(run: Path) -> None:
    path = run / "trajectories.jsonl"
    path.write_text(path.read_text() + path.read_text().splitlines(keepends=True)[0])
    with pytest.raises(TableError, match=r":9: case 't000\|oracle\|clean\|0' has no row"):
        check_run(run)


def test_a_judged_check_keeps_its_outcome_and_is_counted(make_run: MakeRun) -> None:
    run = make_run("sft", outcomes("1"))
    edit_line(run, 0, lambda line: line["end"]["checks"][0].update(expected=None, value=8.0))
    assert check_run(run).num_judged == 1


def test_of_checks_with_one_name_the_last_decides_success(make_run: MakeRun) -> None:
    """The benchmark's rule; the strict verdict still wants both."""
    run = make_run("sft", outcomes("1"))
    edit_line(run, 0, lambda line: line["end"]["checks"][0].update(name="state", value=4, passed=False))
    with pytest.raises(TableError, match="success_strict is False"):
        check_run(run)


@pytest.mark.parametrize(
    ("value", "expected", "comparison", "outcome"),
    [
        (1, "1", "equals", False),
        (2, 1, "greater_than", True),
        ("2", 1, "greater_than", False),
        (1, 2, "less_than", True),
        (1234, "23", "contains", True),
        (1234, 23, "contains", False),
        (1, 1, "roughly", False),
    ],
)
def test_comparisons_are_the_benchmarks(value: Any, expected: Any, comparison: str, outcome: bool) -> None:
    assert holds(value, expected, comparison) is outcome


def test_a_missing_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such folder" in error_of(capsys, tmp_path / "nothing")


def test_a_folder_that_is_no_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "not a finished run" in error_of(capsys, tmp_path)


def test_runs_without_common_cases_are_one_line(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = make_run("base", outcomes("1")), make_run("sft", outcomes("1", prefix="u"))
    assert "share no case" in error_of(capsys, one, other)


def test_a_training_run_given_as_an_evaluation_is_one_line(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run("rl", outcomes("10") + faulted(outcomes("01", prefix="u")), split="train")
    message = error_of(capsys, run)
    assert "a training run" in message
    assert f"--training {run}" in message


def test_cases_that_ran_in_one_condition_each_have_no_price_of_a_fault(make_run: MakeRun) -> None:
    """Collected episodes are such: a task is played clean or with a fault."""
    run = make_run("teacher", outcomes("10") + faulted(outcomes("01", prefix="u")), split="train")
    assert main([str(run), "--out", str(run / "report")]) == 0
    text = (run / "report" / "report.md").read_text()
    assert "Teacher solves 50.0% of 2 clean cases" in text
    assert "Clean against fault" not in text


@pytest.mark.parametrize("cell", ["12", "1,204", ".0703", "<.0001", "+1.6", "-2.5 to +3.0", "82.4%", "3 of 4", ""])
def test_numbers_are_aligned_right(cell: str) -> None:
    assert is_number_like(cell)


@pytest.mark.parametrize("cell", ["7f68db3bf2675ba8", "8887af49c5b0", "1234567890123456", "20261130-161310", "oracle"])
def test_hashes_dates_and_words_are_not(cell: str) -> None:
    assert not is_number_like(cell)


def test_a_mistyped_option_is_answered_with_the_nearest(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean --check?" in error_of(capsys, run, "--chek")


def test_no_run_at_all_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "RUN" in error_of(capsys)


def test_a_training_folder_without_metrics_is_one_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no metrics.csv" in error_of(capsys, run, "--training", run)


def test_an_unwritable_folder_is_one_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write the report there" in error_of(capsys, run, "--out", tmp_path / "file" / "report")


def test_narrow_terminals_get_every_column(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("Model", *(f"column{number}" for number in range(12)))
    table = Table(title="Wide", columns=columns, rows=(("Base", *map(str, range(100, 112))),))
    to_terminal(
        Document(title="T", summary=(), sections=(Section(title="S", tables=(table,), is_key=True),)), Console(width=60)
    )
    shown = capsys.readouterr().out
    assert all(column in shown for column in columns)
    assert all(str(number) in shown for number in range(100, 112))
    assert max(map(len, shown.splitlines())) <= 60
    assert shown.count("Base") > 1


def test_report_runs_as_a_module_without_torch(run: Path) -> None:
    code = (
        "import sys; from analysis.report import main; code = main(sys.argv[1:]); "
        "assert not {'torch', 'lightning', 'vllm', 'hydra'} & set(sys.modules), sorted(sys.modules); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "report.html" in done.stdout
