"""The lines of progress in a log: how often, and what is left."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from robustops.compose.progress import _lines


def clock(*times: float) -> Iterator[float]:
    return iter(times)


def test_time_left_follows_the_pace_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    report = _lines("cases", 0.0, clock(0.0, 20.0, 60.0).__next__)
    report(1, 4, "")
    report(3, 4, "fine")
    assert capsys.readouterr().out.splitlines() == ["cases: 1/4, 20 s, 60 s left", "cases: 3/4, 60 s, 20 s left fine"]


def test_what_a_resumed_run_had_done_before_does_not_count_as_pace(capsys: pytest.CaptureFixture[str]) -> None:
    report = _lines("cases", 0.0, clock(0.0, 0.0, 30.0).__next__)
    report(90, 100, "")
    report(93, 100, "")
    assert capsys.readouterr().out.splitlines()[1] == "cases: 93/100, 30 s, 70 s left"


def test_lines_are_rare_but_the_last_is_always_there(capsys: pytest.CaptureFixture[str]) -> None:
    report = _lines("cases", 10.0, clock(0.0, 1.0, 11.0, 12.0, 13.0).__next__)
    for done in (1, 2, 3, 4):
        report(done, 4, "")
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["cases: 2/4", "cases: 4/4"]
