"""The journal of a step: flushed record by record, torn tails cut, other weights refused, samples handed out once."""

from __future__ import annotations

import json
import logging
import resource
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustops.agent.policy import Prompt, Request, Sample, Sampling
from robustops.core.errors import TableError
from robustops.learn.journal import StepJournal, drop_journals
from robustops.rollout.groups import Rejection

ASKED = Request(
    prompt=Prompt(case_id="t|oracle|clean|0", task_id="t", turn=2, token_ids=(5, 6), messages=(), tools=()),
    sampling=Sampling(max_tokens=9, seed=3),
)
ANSWER = Sample(token_ids=(7, 8), logprobs=(-0.1, -2.5), text="hm", finish="stop", weight_version=4, cached_tokens=1)


def outcome(task_id: str) -> Rejection:
    return Rejection(task_id=task_id, flow="clean", reason="no_opportunity")


def filled(folder, *names: str):
    journal = StepJournal(folder, 3, "weights-a")
    for name in names:
        journal.write(f"3/clean/{name}", outcome(name))
    return folder / "step-000003.journal"


def test_what_was_written_is_found_again(tmp_path):
    filled(tmp_path, "x", "y")
    assert StepJournal(tmp_path, 3, "weights-a").found == {"3/clean/x": outcome("x"), "3/clean/y": outcome("y")}


def test_a_sample_is_handed_out_once_to_the_next_process_and_not_to_its_own(tmp_path):
    journal = StepJournal(tmp_path, 3, "weights-a")
    assert journal.find([ASKED]) is None
    journal.keep([ASKED], [ANSWER])
    assert journal.find([ASKED]) is None
    again = StepJournal(tmp_path, 3, "weights-a")
    assert again.num_found == 1
    assert again.find([ASKED]) == [ANSWER]
    assert again.find([ASKED]) is None


def test_equal_requests_get_their_samples_first_in_first_out(tmp_path):
    second = replace(ANSWER, text="second")
    StepJournal(tmp_path, 3, "weights-a").keep([ASKED, ASKED], [ANSWER, second])
    again = StepJournal(tmp_path, 3, "weights-a")
    assert again.find([ASKED, ASKED, ASKED]) is None, "two samples are no answer to three requests"
    assert again.find([ASKED]) == [ANSWER]
    assert again.find([ASKED]) == [second]


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, prompt=replace(ASKED.prompt, token_ids=(5, 7))),
        replace(ASKED, prompt=replace(ASKED.prompt, case_id="t|oracle|clean|1")),
        replace(ASKED, prompt=replace(ASKED.prompt, turn=3)),
        replace(ASKED, sampling=replace(ASKED.sampling, seed=4)),
        replace(ASKED, sampling=replace(ASKED.sampling, temperature=0.5)),
        replace(ASKED, sampling=replace(ASKED.sampling, max_tokens=8)),
    ],
)
def test_a_sample_answers_no_request_that_differs_in_anything_it_was_drawn_from(tmp_path, other):
    StepJournal(tmp_path, 3, "weights-a").keep([ASKED], [ANSWER])
    again = StepJournal(tmp_path, 3, "weights-a")
    assert again.find([other]) is None
    assert again.find([ASKED, other]) is None, "a batch is found whole or not at all"
    assert again.find([ASKED]) == [ANSWER]


@settings(max_examples=25)  # each example waits for the disk
@given(
    logprobs=st.lists(st.floats(allow_nan=False), max_size=4),
    text=st.text(max_size=8),
    ids=st.lists(st.integers(0, 2**31), max_size=4),
)
def test_a_sample_comes_back_to_the_last_bit(tmp_path_factory, logprobs, text, ids):
    sample = Sample(token_ids=tuple(ids), logprobs=tuple(logprobs), text=text, finish="length", dropped_calls=2)
    folder = tmp_path_factory.mktemp("bits")
    StepJournal(folder, 0, "w").keep([ASKED], [sample])
    assert StepJournal(folder, 0, "w").find([ASKED]) == [sample]


def test_without_groups_only_samples_are_kept(tmp_path):
    journal = StepJournal(tmp_path, 3, "weights-a", has_groups=False)
    journal.write("3/clean/x", outcome("x"))
    journal.keep([ASKED], [ANSWER])
    again = StepJournal(tmp_path, 3, "weights-a", has_groups=False)
    assert (again.found, again.num_found) == ({}, 1)


def test_another_step_begins_empty(tmp_path):
    filled(tmp_path, "x")
    assert StepJournal(tmp_path, 4, "weights-a").found == {}


def test_records_of_other_weights_are_dropped_with_one_line(tmp_path, caplog):
    filled(tmp_path, "x", "y")
    with caplog.at_level(logging.WARNING):
        assert StepJournal(tmp_path, 3, "weights-b").found == {}
    assert [record.getMessage().split(" was ")[1] for record in caplog.records] == [
        "sampled from other weights or with other settings; its 2 records are dropped"
    ]
    assert StepJournal(tmp_path, 3, "weights-b").found == {}


@pytest.mark.parametrize("num_lost", [1, 7, 40])
def test_a_torn_last_record_is_cut_off_and_written_anew(tmp_path, num_lost):
    path = filled(tmp_path, "x", "y")
    whole = path.read_bytes()
    path.write_bytes(whole[:-num_lost])
    journal = StepJournal(tmp_path, 3, "weights-a")
    assert journal.found == {"3/clean/x": outcome("x")}
    journal.write("3/clean/y", outcome("y"))
    assert path.read_bytes() == whole


def test_a_flipped_bit_ends_the_readable_part(tmp_path):
    path = filled(tmp_path, "x", "y")
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))
    assert StepJournal(tmp_path, 3, "weights-a").found == {"3/clean/x": outcome("x")}


def test_a_full_disk_costs_the_samples_and_is_one_line_for_a_group(tmp_path, caplog):
    path = filled(tmp_path, "x")
    journal = StepJournal(tmp_path, 3, "weights-a")
    whole = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, hard))
    try:
        journal.keep([ASKED], [ANSWER])
        journal.keep([ASKED], [ANSWER])
        with pytest.raises(TableError, match="a group could not be written"):
            journal.write("3/clean/y", outcome("y"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [record.getMessage().split(": ")[1].split(" (")[0] for record in caplog.records] == [
        "samples are no longer kept"
    ]
    assert path.read_bytes() == whole, "half a record would hide all that come after it"


def test_a_journal_is_read_without_running_what_it_holds(tmp_path):
    path = filled(tmp_path, "x")
    header = path.read_bytes()[12:].split(b"}")[0] + b"}"
    assert json.loads(header) == {"kind": "header", "version": 1, "weights": "weights-a"}


def test_journals_that_no_checkpoint_needs_go(tmp_path):
    for step in (3, 4, 5):
        StepJournal(tmp_path, step, "w")
    drop_journals(tmp_path, before=5)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000005.journal"]
