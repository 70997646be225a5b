"""What a person sees at the command line: help, and one line for every mistake."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException

from robustops.cli import check_installation, explain, run
from robustops.core.errors import ConfigError


def command(entry: str, *overrides: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", f"robustops.{entry}", *overrides]
    return subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, timeout=300)


def refusal(entry: str, *overrides: str, cwd: Path) -> str:
    """Run a command that must be refused and return its only line of error."""
    done = command(entry, *overrides, cwd=cwd)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    return line


@pytest.mark.parametrize("entry", ["train", "evaluate", "collect", "prepare"])
def test_help_names_the_groups_and_gives_three_examples_or_more(entry: str, tmp_path: Path) -> None:
    done = command(entry, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "reward_norm: aggregate, component" in done.stdout
    assert done.stdout.split("Examples")[1].count(f"python -m robustops.{entry}") >= 3
    assert max(map(len, done.stdout.splitlines())) <= 120, "a terminal's width"
    assert ("  source: agentrelbench, hub, local, synthetic" in done.stdout) == (entry == "prepare"), (
        "it alone takes it"
    )


def test_the_composed_configuration_can_be_printed_from_any_folder(tmp_path: Path) -> None:
    done = command("train", "+experiment=rl120", "reward_norm=aggregate", "--cfg", "job", cwd=tmp_path)
    assert done.returncode == 0
    assert "kind: aggregate" in done.stdout
    assert "steps: 120" in done.stdout


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("algorthm.steps=3", "'algorithm.steps'"),
        ("algorithm.stepz=3", "'algorithm.steps'"),
        ("rewardnorm=aggregate", "'reward_norm'"),
        ("reward_norm=agregate", "'aggregate'"),
        ("+experiment=rl12", "'rl120'"),
        ("reward.progress=gatd", "'gated'"),
        ("+algorithm.stepz=3", "'algorithm.steps'"),
    ],
)
def test_a_typo_is_answered_with_the_nearest_valid_name(override: str, expected: str, tmp_path: Path) -> None:
    assert expected in refusal("train", override, cwd=tmp_path)


def test_a_wrong_type_names_the_key_and_the_expected_type(tmp_path: Path) -> None:
    line = refusal("train", "algorithm.steps=many", cwd=tmp_path)
    assert "algorithm.steps" in line
    assert "Integer" in line


def test_a_missing_value_names_its_key(tmp_path: Path) -> None:
    assert "algorithm.demonstrations" in refusal("train", "algorithm=sft", cwd=tmp_path)


def test_several_values_without_multirun_point_to_it(tmp_path: Path) -> None:
    assert "-m (multirun)" in refusal("train", "seed=1,2", cwd=tmp_path)


def test_a_home_folder_that_hydra_cannot_read_is_told_how_to_write_it() -> None:
    with pytest.raises(HydraException) as refused:
        OverridesParser.create().parse_overrides(["run.dir=~/runs/mine"])
    assert re.match(r"run\.dir=~/runs/mine: .* write ~ as \$HOME", explain(refused.value))


def test_an_unwritable_run_directory_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "run.dir" in refusal("train", f"run.dir={tmp_path}/file/run", cwd=tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full here")
@pytest.mark.parametrize(("opening", "is_quiet"), [("", False), ("cli.quiet_libraries()", True)])
def test_a_log_file_on_a_full_disk_puts_no_traceback_on_the_terminal(opening: str, is_quiet: bool) -> None:
    a_line = "logging.FileHandler('/dev/full').handle(logging.makeLogRecord({}))"
    program = f"import logging; from robustops import cli; {opening}\n{a_line}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ("Traceback" not in done.stderr) == is_quiet
