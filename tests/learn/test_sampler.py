"""Dynamic sampling and delayed return: each rule of docs/algorithms.md, by a small example."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from fractions import Fraction

import pytest
from sampling import (
    ALL_WON,
    LOST,
    MIXED,
    NO_SIGNAL,
    SMALL,
    WEIGHTS,
    WON,
    boundary,
    ids,
    member,
    new_sampler,
    play,
    run_step,
)

from robustops.core.errors import ConfigError
from robustops.learn.case_source import CaseSource
from robustops.learn.sampler import UnderfullBatch, judge
from robustops.learn.slot import Slot, Waiting
from robustops.rollout.score import Score


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (MIXED, None),
        (ALL_WON, "all_success"),
        (NO_SIGNAL, "zero_signal"),
        ([LOST, LOST, LOST, member(False, Fraction(1, 5))], None),
        ([member(False, Fraction(1, 3)), *[member(False, Fraction(2, 6))] * 3], "zero_signal"),
        ([WON, LOST, LOST], "infrastructure"),
        ([WON, LOST, LOST, None], "infrastructure"),
    ],
    ids=[
        "mixed",
        "all success",
        "all equal",
        "progress alone",
        "equal fractions",
        "three members",
        "unscorable member",
    ],
)
def test_group_is_accepted_for_exact_signal_among_its_full_number(
    scores: list[Score | None], reason: str | None
) -> None:
    assert judge(scores, group_size=4, weights=WEIGHTS, norm="component") == reason


def test_equal_rewards_of_different_tuples_have_no_signal_in_aggregate_only() -> None:
    group = [member(False, Fraction(1, 3)), *[member(False, 0, 1)] * 3]
    assert judge(group, group_size=4, weights=WEIGHTS, norm="aggregate") == "zero_signal"
    assert judge(group, group_size=4, weights=WEIGHTS, norm="component") is None


def test_step_fills_each_flow_with_cases_of_its_own() -> None:
    dispatched, selected = run_step(new_sampler(), 0)
    assert (ids(dispatched, "clean"), ids(dispatched, "fault")) == (["a", "b"], ["u"])
    assert [slot.task_id for slot in selected.slots] == ["a", "b", "u"]
    assert selected.counts == {"clean/accepted": 2, "fault/accepted": 1}


def test_rejected_place_gets_another_case_of_its_flow() -> None:
    dispatched, selected = run_step(new_sampler(), 0, {"a": ALL_WON, "u": NO_SIGNAL})
    assert ids(dispatched, "clean") == ["a", "b", "c"]
    assert ids(dispatched, "fault") == ["u", "v"]
    assert selected.missing == {"clean": 0, "fault": 0}
    assert selected.counts == {
        "clean/accepted": 2,
        "clean/all_success": 1,
        "fault/accepted": 1,
        "fault/zero_signal": 1,
    }


def test_zero_signal_returns_ten_steps_later_on_the_first_vacated_place_and_not_before() -> None:
    sampler = new_sampler(clean="a", fault=[f"f{n:03}" for n in range(100)])
    assert ids(run_step(sampler, 3, {"f000": NO_SIGNAL})[0], "fault") == ["f000", "f001"]
    for step in range(4, 13):
        dispatched, _ = run_step(sampler, step, {f"f{2 * (step - 3):03}": ALL_WON})
        vacated = 2 * (step - 3)
        assert ids(dispatched, "fault") == [f"f{vacated:03}", f"f{vacated + 1:03}"]
    dispatched, _ = run_step(sampler, 13)
    assert "f000" not in ids(dispatched, "fault"), "no place was vacated"
    pending = sampler.plan(14)
    fresh = next(slot for slot in pending if slot.flow == "fault")
    again = sampler.refill(sampler.accept(fresh, ALL_WON).slot)
    assert again is not None
    assert (again.task_id, again.queued_step) == ("f000", 3)


def test_without_delayed_return_a_case_without_signal_waits_for_the_next_pass() -> None:
    settings = replace(SMALL, clean_groups=1, fault_groups=0, max_attempts=1, delay_steps=0, delayed_return=False)
    sampler = new_sampler(clean="abc", settings=settings)
    drawn = [ids(run_step(sampler, step, {"a": NO_SIGNAL})[0], "clean") for step in range(4)]
    assert drawn == [["a"], ["b"], ["c"], ["a"]]


def test_oldest_waiting_case_returns_first_and_a_second_zero_signal_restarts_its_wait() -> None:
    source = CaseSource("clean", "abc", seed=0, is_shuffled=False)
    source.enqueue(Waiting(task_id="b", queued_step=1, eligible_step=11))
    source.enqueue(Waiting(task_id="a", queued_step=2, eligible_step=12))
    first, second = source.returned(12, ()), source.returned(12, ())
    assert (first and first.task_id, second and second.task_id) == ("b", "a")

    sampler = new_sampler(clean="a", fault="u", settings=replace(SMALL, clean_groups=1))
    run_step(sampler, 0, {"u": NO_SIGNAL})
    assert ids(run_step(sampler, 9)[0], "fault") == []
    assert ids(run_step(sampler, 10, {"u": NO_SIGNAL})[0], "fault") == ["u"]
    assert ids(run_step(sampler, 19)[0], "fault") == []
    assert ids(run_step(sampler, 20)[0], "fault") == ["u"]


def test_fault_case_resumes_from_its_saved_boundary_and_clean_case_from_the_beginning() -> None:
    sampler = new_sampler(clean="a", fault="u", settings=replace(SMALL, clean_groups=1))
    run_step(sampler, 0, {"a": NO_SIGNAL, "u": NO_SIGNAL})
    again = {slot.flow: slot for slot in sampler.plan(10)}
    assert again["fault"].boundary == boundary("u")
    assert again["clean"].boundary is None
    assert again["clean"].queued_step == 0


def test_fault_case_cannot_wait_without_its_boundary() -> None:
    sampler = new_sampler()
    fault = next(slot for slot in sampler.plan(0) if slot.flow == "fault")
    with pytest.raises(ValueError, match="cannot wait without its recovery boundary"):
        sampler.accept(fault, NO_SIGNAL)


def test_waiting_case_is_not_drawn_by_the_next_pass() -> None:
    sampler = new_sampler(clean="ab", fault="u", settings=replace(SMALL, clean_groups=1))
    run_step(sampler, 0, {"a": NO_SIGNAL})
    for step in range(1, 10):
        assert "a" not in ids(run_step(sampler, step)[0], "clean")


def test_all_success_is_out_for_this_pass_and_may_return_in_the_next() -> None:
    sampler = new_sampler(clean="abcd", settings=replace(SMALL, clean_groups=1))
    assert ids(run_step(sampler, 0, {"a": ALL_WON})[0], "clean") == ["a", "b"]
    assert ids(run_step(sampler, 1)[0], "clean") == ["c"]
    assert ids(run_step(sampler, 2)[0], "clean") == ["d"]
    assert ids(run_step(sampler, 3)[0], "clean") == ["a"]


def test_no_opportunity_draws_another_case_and_is_not_queued() -> None:
    sampler = new_sampler()
    fault = next(slot for slot in sampler.plan(0) if slot.flow == "fault")
    again = sampler.refill(sampler.reject(fault, "no_opportunity").slot)
    assert again is not None
    assert again.task_id == "v"
    assert sampler.metrics(0)["sampler/fault_queue_cases"] == 0


def test_no_case_comes_twice_in_one_step_even_when_the_data_runs_out() -> None:
    dispatched, selected = run_step(new_sampler(clean="abc"), 0, dict.fromkeys("abc", ALL_WON))
    assert ids(dispatched, "clean") == ["a", "b", "c"]
    assert selected.missing == {"clean": 2, "fault": 0}


def test_place_gives_up_after_max_attempts() -> None:
    sampler = new_sampler(clean="abcdefghij", settings=replace(SMALL, clean_groups=1, max_attempts=3))
    dispatched, selected = run_step(sampler, 0, dict.fromkeys("abcdefghij", ALL_WON))
    assert ids(dispatched, "clean") == ["a", "b", "c"]
    assert selected.missing["clean"] == 1


def test_infrastructure_failures_have_a_budget_of_their_own_and_never_wait_as_no_signal() -> None:
    sampler = new_sampler(
        clean="abcdefghij", settings=replace(SMALL, clean_groups=1, max_attempts=1, max_replacements=2)
    )
    slot: Slot | None = sampler.plan(0)[0]
    tried = []
    while slot is not None:
        tried.append(slot.task_id)
        slot = sampler.refill(sampler.reject(slot, "infrastructure").slot)
    assert tried == ["a", "b", "c"]
    assert sampler.metrics(0)["sampler/clean_queue_cases"] == 0


def test_returned_case_lost_to_infrastructure_keeps_its_rank_and_boundary() -> None:
    sampler = new_sampler(clean="a", fault="uv", settings=replace(SMALL, clean_groups=1))
    run_step(sampler, 0, {"u": NO_SIGNAL, "v": NO_SIGNAL})
    slot = next(slot for slot in sampler.plan(10) if slot.flow == "fault")
    assert slot.task_id == "u"
    replacement = sampler.refill(sampler.reject(slot, "infrastructure").slot)
    assert replacement is not None
    assert replacement.task_id == "v"
    play(sampler, sampler.plan(10), {"v": NO_SIGNAL})
    sampler.finish(10)
    again = next(slot for slot in sampler.plan(11) if slot.flow == "fault")
    assert (again.task_id, again.queued_step, again.boundary) == ("u", 0, boundary("u"))


def test_selection_is_in_dispatch_order_whatever_finishes_first() -> None:
    sampler = new_sampler()
    slots = sampler.plan(0)
    for slot in reversed(slots):
        sampler.accept(slot, MIXED)
    assert [slot.dispatch for slot in sampler.finish(0).slots] == [0, 1, 2]


def test_smaller_batch_trains_on_what_there_is_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        _, selected = run_step(new_sampler(clean="ab"), 0, {"a": ALL_WON})
    assert (ids(selected.slots, "clean"), selected.is_skipped) == (["b"], False)
    assert "1 clean and 0 fault places stay empty" in caplog.text


def test_skip_keeps_accepted_groups_for_the_next_step() -> None:
    sampler = new_sampler(clean="ab", settings=replace(SMALL, on_underfill="skip"))
    _, selected = run_step(sampler, 0, {"a": ALL_WON})
    assert (selected.slots, selected.is_skipped) == ((), True)
    dispatched, selected = run_step(sampler, 1)
    assert ids(dispatched, "clean") == ["a"], "b is kept, so it may not be played again in this batch"
    assert ids(dispatched, "fault") == []
    assert (ids(selected.slots, "clean"), ids(selected.slots, "fault")) == (["b", "a"], ["u"])


def test_raise_names_the_empty_places_and_the_way_out() -> None:
    sampler = new_sampler(clean="ab", settings=replace(SMALL, on_underfill="raise"))
    play(sampler, sampler.plan(0), {"a": ALL_WON})
    with pytest.raises(
        UnderfullBatch, match=r"step 0: 1 clean and 0 fault places stay empty.*on_underfill=smaller_batch"
    ):
        sampler.finish(0)


def test_step_without_any_accepted_group_is_skipped() -> None:
    _, selected = run_step(new_sampler(clean="a", fault="u"), 0, {"a": ALL_WON, "u": ALL_WON})
    assert selected.is_skipped


def test_finishing_with_an_undecided_slot_is_refused() -> None:
    sampler = new_sampler()
    sampler.plan(0)
    with pytest.raises(ValueError, match="no decision yet"):
        sampler.finish(0)


def test_deciding_twice_or_refilling_an_accepted_slot_is_refused() -> None:
    sampler = new_sampler()
    slot = sampler.plan(0)[0]
    sampler.accept(slot, MIXED)
    with pytest.raises(ValueError, match="is not open"):
        sampler.accept(slot, MIXED)
    with pytest.raises(ValueError, match="was not rejected"):
        sampler.refill(slot)


def test_planning_over_an_unfinished_step_is_refused() -> None:
    sampler = new_sampler()
    sampler.plan(0)
    with pytest.raises(ValueError, match="step 0 is not finished"):
        sampler.plan(1)


def test_state_of_other_data_is_refused_by_name() -> None:
    sampler = new_sampler()
    run_step(sampler, 0)
    state = json.loads(json.dumps(sampler.state_dict()))
    with pytest.raises(ConfigError, match="clean case 'c' is not in the data"):
        new_sampler(clean="ab").load_state_dict(state)


def test_state_keeps_an_open_step_and_its_boundaries_through_json() -> None:
    sampler = new_sampler(clean="a", fault="uv", settings=replace(SMALL, clean_groups=1))
    run_step(sampler, 0, {"u": NO_SIGNAL, "v": NO_SIGNAL})
    open_slots = sampler.plan(10)
    copy = new_sampler(clean="a", fault="uv", settings=replace(SMALL, clean_groups=1))
    copy.load_state_dict(json.loads(json.dumps(sampler.state_dict())))
    assert copy.plan(10) == open_slots
    assert open_slots[-1].boundary == boundary("u")
    waiting = copy.refill(copy.accept(open_slots[-1], ALL_WON).slot)
    assert waiting is not None
    assert waiting.boundary == boundary("v")
