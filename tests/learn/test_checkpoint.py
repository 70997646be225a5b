"""Training state on disk: what is kept, what a cut file costs, what a full disk leaves."""

from __future__ import annotations

import io
import logging
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from robustops.core.errors import TableError
from robustops.learn.checkpoint import load_latest, save_state


def state(number: int) -> dict[str, object]:
    return {"weights": torch.full((1000,), float(number)), "note": {"seed": number}}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def files_no_longer_than(num_bytes: int) -> Iterator[None]:
    """What a full disk looks like to a process: a write that the system refuses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_the_newest_state_comes_back_and_two_are_kept(tmp_path: Path):
    for step in (5, 10, 1000000, 1000005):
        save_state(tmp_path, step, state(step))
    assert names(tmp_path) == ["step-1000000.pt", "step-1000005.pt"]
    found = load_latest(tmp_path)
    assert found is not None
    assert found.step == 1000005
    assert torch.equal(found.state["weights"], torch.full((1000,), 1000005.0))
    assert found.state["note"] == {"seed": 1000005}


def test_no_folder_is_no_state(tmp_path: Path):
    assert load_latest(tmp_path / "never written") is None


@pytest.mark.parametrize("kept_bytes", [0, 100, -30])
def test_a_cut_newest_state_is_skipped_with_one_warning(tmp_path: Path, caplog, kept_bytes: int):
    for step in (5, 10):
        save_state(tmp_path, step, state(step))
    newest = tmp_path / "step-000010.pt"
    newest.write_bytes(newest.read_bytes()[:kept_bytes])
    with caplog.at_level(logging.WARNING):
        found = load_latest(tmp_path)
    assert found is not None
    assert found.step == 5
    assert torch.equal(found.state["weights"], torch.full((1000,), 5.0))
    assert len(caplog.records) == 1
    assert "step-000010.pt is damaged" in caplog.text
    assert len(caplog.messages[0].splitlines()) == 1


def test_a_damaged_state_goes_once_the_run_has_saved_again(tmp_path: Path):
    for step in (5, 10):
        save_state(tmp_path, step, state(step))
    (tmp_path / "step-000010.pt").write_bytes(b"")
    save_state(tmp_path, 7, state(7))
    assert names(tmp_path) == ["step-000005.pt", "step-000007.pt"]


def test_what_a_kill_left_half_written_is_cleared_away(tmp_path: Path):
    (tmp_path / "step-000003.12345.partial").write_bytes(b"half")
    assert load_latest(tmp_path) is None
    save_state(tmp_path, 5, state(5))
    assert names(tmp_path) == ["step-000005.pt"]


@pytest.mark.parametrize("num_bytes", [0, 1500])
def test_a_full_disk_is_one_line_and_the_previous_state_stays(tmp_path: Path, num_bytes: int):
    save_state(tmp_path, 5, state(5))
    with files_no_longer_than(num_bytes), pytest.raises(TableError) as caught:
        save_state(tmp_path, 10, state(10))
    assert "step-000010.pt: the checkpoint could not be written" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert names(tmp_path) == ["step-000005.pt"]
    found = load_latest(tmp_path)
    assert found is not None
    assert found.step == 5


class Interrupted(io.FileIO):
    """A Ctrl-C in the middle of a write."""

    num_writes = 0

    def write(self, data):
        self.num_writes += 1
        if self.num_writes == 3:
            raise KeyboardInterrupt
        return super().write(data)


def test_a_ctrl_c_while_a_state_is_written_is_no_full_disk_and_the_previous_state_stays(tmp_path: Path, monkeypatch):
    save_state(tmp_path, 5, state(5))
    monkeypatch.setattr(Path, "open", lambda path, mode: Interrupted(path, mode))
    with pytest.raises(KeyboardInterrupt):
        save_state(tmp_path, 10, state(10))
    assert names(tmp_path) == ["step-000005.pt"]


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return (os.mkdir, (str(self.marker),))


def test_loading_a_state_runs_no_code_of_its_own(tmp_path: Path, caplog):
    save_state(tmp_path, 5, state(5))
    torch.save({"weights": Bomb(tmp_path / "ran")}, tmp_path / "step-000010.pt")
    found = load_latest(tmp_path)
    assert found is not None
    assert found.step == 5
    assert not (tmp_path / "ran").exists()


def test_a_state_of_an_older_form_is_refused_in_one_line_and_left_alone(tmp_path: Path):
    path = tmp_path / "step-000005.pt"
    torch.save(state(5), path)
    with pytest.raises(TableError) as caught:
        load_latest(tmp_path)
    assert str(caught.value) == (
        f"{path}: a training state of version 1, expected 2; "
        "finish the run with the release that began it, or begin anew with another run.dir"
    )
    assert path.is_file()


def test_a_state_of_another_algorithm_is_refused_in_one_line(tmp_path: Path):
    save_state(tmp_path, 5, {"best_weights": {}})
    found = load_latest(tmp_path)
    assert found is not None
    found.require("best_weights")
    with pytest.raises(TableError, match=r"step 5 is of another algorithm .*another run\.dir"):
        found.require("sampler")
