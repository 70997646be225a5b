"""The view of token advantages: numbers worked out by hand, in the terminal and on a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from robustops.agent.codec import Codec
from robustops.compose.show.options import TINY_BASE
from robustops.core.episode import CheckResult, Episode, ToolCall, ToolResult, Turn, Verdict
from robustops.core.files import write_json
from robustops.core.json_lines import append_line
from robustops.core.task import Case
from robustops.rollout.run_folder import RUN, TRAJECTORIES
from robustops.rollout.trajectory import dump_episode
from robustops.show import main


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec.load(TINY_BASE, tool_schema="full")


def verdict(passed: bool) -> Verdict:
    check = CheckResult(index=0, name="check", passed=passed)
    return Verdict(checks=(check,), gated=int(passed))


def episode(codec: Codec, member: int, *, is_solved: bool, is_refused: bool) -> Episode:
    """Three tokens of a call, which the tool perhaps refuses, then two of a native stop."""
    result = ToolResult(text="no", observation="{}", is_error=is_refused)
    call = Turn(
        context_ids=(5, 6),
        sampled_ids=(codec.call_open_id, 30, codec.call_close_id),
        logprobs=(-1.0,) * 3,
        weight_version=0,
        text="",
        call=ToolCall(name="write", arguments={}),
        shown=result,
        native=result,
        hash_before="a",
        hash_after="a" if is_refused else "b",
    )
    stop = Turn(context_ids=(7,), sampled_ids=(31, codec.stop_ids[0]), logprobs=(-1.0,) * 2, weight_version=0, text="")
    return Episode(
        case=Case(task_id="csm/<b>", tool_mode="oracle", condition="clean", attempt=member),
        turns=(call, stop),
        boundary=verdict(False),
        end=verdict(is_solved),
        stop_reason="stop",
    )


@pytest.fixture
def run_folder(codec: Codec, tmp_path: Path) -> Path:
    """The success made one call, which was refused, so that Q = 0 as for the failure; the second group is constant."""
    members = [episode(codec, 0, is_solved=True, is_refused=True), episode(codec, 1, is_solved=False, is_refused=False)]
    for slot, group in (("0/clean/0", members), ("0/clean/1", [members[1], members[1]])):
        for number, member in enumerate(group):
            append_line(tmp_path / TRAJECTORIES, dump_episode(member, source={"slot": slot, "member": number}))
    return tmp_path


def test_caps_and_advantages_are_those_worked_out_by_hand(run_folder, capsys):
    """Two members: Z_batch of +-x is +-sqrt(1/2). The one call is bad, so Q = 0 for both and P, S alone count."""
    assert main(["advantages", str(run_folder)]) == 0
    shown = capsys.readouterr().out
    assert "0/clean/0, member 0" in shown
    assert "[-0.500 bad call: error, at most -0.5]" in shown
    assert "[+0.707]" in shown
    assert main(["advantages", str(run_folder), "--member", "1"]) == 0
    shown = capsys.readouterr().out
    assert "[-0.707]" in shown
    assert "[-0.707 stop of a failure, at most 0]" in shown


def test_the_length_term_of_a_run_counts(codec, tmp_path, capsys):
    """S and P speak for the success with weights of 1.3 in all, its greater length against it with 2."""
    long, short = (episode(codec, member, is_solved=member == 0, is_refused=False) for member in (0, 1))
    call, stop = long.turns
    long = replace(long, turns=(call, replace(stop, sampled_ids=(32, *stop.sampled_ids), logprobs=(-1.0,) * 3)))
    folder = tmp_path / "lengths"
    folder.mkdir()
    for number, member in enumerate((long, short)):
        append_line(folder / TRAJECTORIES, dump_episode(member, source={"slot": "0/clean/0", "member": number}))
    reward = {"weights": [1.0, 0.3, 0.0], "progress": "gated", "length_weight": 2.0}
    norm = {"kind": "component", "quality_credit": "temporal"}
    write_json(folder / RUN, {"config": {"reward": reward, "reward_norm": norm, "algorithm": {}}})
    assert main(["advantages", str(folder)]) == 0
    assert "[-0.707]" in capsys.readouterr().out


def test_the_page_is_one_file_with_every_text_escaped(run_folder, tmp_path, capsys):
    assert main(["advantages", str(run_folder), "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "csm/&lt;b&gt;" in page
    assert "&lt;tool_call&gt;" in page
    assert page.count("<mark") == 2
    assert "<script" not in page


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--slot", "0/clean/1"], "has no signal"),
        (["--slot", "9/clean/1"], "is not there; accepted ones: 0/clean/0"),
        (["--member", "2"], "members 0 to 1"),
    ],
)
def test_what_has_no_advantage_is_refused_in_one_line(run_folder, capsys, arguments, reason):
    assert main(["advantages", str(run_folder), *arguments]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert reason in line


def test_an_evaluation_has_no_groups(run_folder, codec, tmp_path, capsys):
    path = tmp_path / "eval" / TRAJECTORIES
    path.parent.mkdir()
    append_line(path, dump_episode(episode(codec, 0, is_solved=True, is_refused=False), source={"run": "eval"}))
    assert main(["advantages", str(path)]) == 2
    assert "belongs to no group" in capsys.readouterr().err
