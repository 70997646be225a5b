"""The journal of finished groups: flushed record by record, torn tails cut, other weights refused."""

from __future__ import annotations

import logging

import pytest

from robustops.learn.journal import GroupJournal, drop_journals
from robustops.rollout.groups import Rejection


def outcome(task_id: str) -> Rejection:
    return Rejection(task_id=task_id, flow="clean", reason="no_opportunity")


def filled(folder, *names: str):
    journal = GroupJournal(folder, 3, "weights-a")
    for name in names:
        journal.write(f"3/clean/{name}", outcome(name))
    return folder / "step-000003.groups"


def test_what_was_written_is_found_again(tmp_path):
    filled(tmp_path, "x", "y")
    assert GroupJournal(tmp_path, 3, "weights-a").found == {"3/clean/x": outcome("x"), "3/clean/y": outcome("y")}


def test_another_step_begins_empty(tmp_path):
    filled(tmp_path, "x")
    assert GroupJournal(tmp_path, 4, "weights-a").found == {}


def test_groups_of_other_weights_are_dropped_with_one_line(tmp_path, caplog):
    filled(tmp_path, "x", "y")
    with caplog.at_level(logging.WARNING):
        assert GroupJournal(tmp_path, 3, "weights-b").found == {}
    assert [record.getMessage().split(" was ")[1] for record in caplog.records] == [
        "sampled from other weights; its 2 groups are dropped"
    ]
    assert GroupJournal(tmp_path, 3, "weights-b").found == {}


@pytest.mark.parametrize("num_lost", [1, 7, 40])
def test_a_torn_last_record_is_cut_off_and_written_anew(tmp_path, num_lost):
    path = filled(tmp_path, "x", "y")
    whole = path.read_bytes()
    path.write_bytes(whole[:-num_lost])
    journal = GroupJournal(tmp_path, 3, "weights-a")
    assert journal.found == {"3/clean/x": outcome("x")}
    journal.write("3/clean/y", outcome("y"))
    assert path.read_bytes() == whole


def test_a_flipped_bit_ends_the_readable_part(tmp_path):
    path = filled(tmp_path, "x", "y")
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))
    assert GroupJournal(tmp_path, 3, "weights-a").found == {"3/clean/x": outcome("x")}


def test_journals_that_no_checkpoint_needs_go(tmp_path):
    for step in (3, 4, 5):
        GroupJournal(tmp_path, step, "w")
    drop_journals(tmp_path, before=5)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000005.groups"]
