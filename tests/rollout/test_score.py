"""S, P, Q and the evidence behind Q, against the rules and figures of docs/algorithms.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.core.episode import (
    CheckResult,
    Episode,
    FaultEvent,
    StopReason,
    ToolCall,
    ToolResult,
    Turn,
    Verdict,
)
from robustops.core.task import Case, CheckGraph
from robustops.rollout.score import RewardWeights, Score, evidence, score


def verdict(*passed: bool | None, graph: CheckGraph | None = None) -> Verdict:
    checks = tuple(CheckResult(index=i, name="same name", passed=ok) for i, ok in enumerate(passed))
    graph = graph or CheckGraph(num_checks=len(passed))
    return Verdict(checks=checks, gated=graph.gated(tuple(ok is True for ok in passed)))


def turn(
    name: str | None,
    arguments: dict[str, Any] | None = None,
    *,
    before: str = "h0",
    after: str | None = None,
    is_error: bool = False,
    fault: str | None = None,
    generated: bool = True,
    malformed: str | None = None,
    reply: str = "{}",
) -> Turn:
    """A turn as the rollout records it; state is unchanged unless `after` is given."""
    after = before if after is None else after
    executed = fault not in ("throttled", "unavailable")
    native = ToolResult(text=reply, observation=reply, is_error=is_error) if executed else None
    shown = ToolResult(text=reply, observation=reply, is_error=is_error or fault is not None, executed=executed)
    event = FaultEvent(
        subtype=fault, call_index=0, native=reply, shown="?", hash_before=before, hash_after=after, remaining_cap=0
    ) if fault else None  # fmt: skip
    return Turn(
        context_ids=(),
        sampled_ids=(),
        logprobs=(),
        weight_version=0,
        text="",
        call=ToolCall(name=name, arguments=arguments or {}) if name else None,
        malformed=malformed,
        native=native if name else None,
        shown=shown if name else None,
        fault=event,
        generated=generated,
        hash_before=before,
        hash_after=after,
    )


def episode(
    *turns: Turn,
    start: Verdict | None = None,
    end: Verdict | None = None,
    stop_reason: StopReason = "stop",
) -> Episode:
    return Episode(
        case=Case(task_id="t"),
        turns=turns,
        boundary=start if start is not None else verdict(False),
        end=end if end is not None else verdict(True),
        stop_reason=stop_reason,
    )


def must_score(played: Episode) -> Score:
    found = score(played)
    assert found is not None
    return found


CALENDAR = CheckGraph(num_checks=3, edges=((0, 1), (0, 2)))


@pytest.mark.parametrize(
    ("passed", "credit"), [((False, True, True), Fraction(0)), ((True, True, False), Fraction(2, 3))]
)
def test_progress_of_the_calendar_example_is_gated_by_the_graph(passed: tuple[bool, ...], credit: Fraction) -> None:
    start = verdict(False, False, False, graph=CALENDAR)
    assert must_score(episode(start=start, end=verdict(*passed, graph=CALENDAR))).progress == credit


def test_progress_is_net_of_the_boundary_and_may_be_negative() -> None:
    start = verdict(True, True, False, False)
    assert must_score(episode(start=start, end=verdict(True, True, True, False))).progress == Fraction(1, 4)
    assert must_score(episode(start=start, end=verdict(False, True, False, False))).progress == Fraction(-1, 4)


def test_progress_kinds_differ_only_in_gating() -> None:
    start = verdict(False, False, False, graph=CALENDAR)
    played = episode(start=start, end=verdict(False, True, True, graph=CALENDAR))
    results = {kind: score(played, progress=kind) for kind in ("gated", "independent", "none")}  # type: ignore[arg-type]
    assert {kind: found.progress for kind, found in results.items() if found} == {
        "gated": 0,
        "independent": Fraction(2, 3),
        "none": 0,
    }


@pytest.mark.parametrize(
    "end", [verdict(), verdict(True, None), verdict(None)], ids=["no checks", "one skipped", "all skipped"]
)
def test_no_or_skipped_checks_are_unscorable_never_a_success(end: Verdict) -> None:
    start = verdict(*(False for _ in end.checks))
    assert score(episode(start=start, end=end)) is None


def test_infrastructure_failure_is_unscorable_even_with_passed_checks() -> None:
    assert score(episode(stop_reason="infrastructure")) is None


def test_quality_is_the_share_of_sound_calls_of_a_success_only() -> None:
    turns = (turn("a"), turn("b", is_error=True), turn("c"), turn(None, malformed="not JSON"), turn(None))
    assert must_score(episode(*turns)).quality == Fraction(1, 2)
    assert must_score(episode(*turns, end=verdict(False))).quality == 0
    assert must_score(episode(turn(None))).quality == 1  # no call at all: 1 - 0/max(1, 0)


def test_reward_is_exact_in_tenths() -> None:
    played = episode(turn("a"), turn("b", is_error=True), start=verdict(False, True), end=verdict(True, True))
    # S = 1, P = 1/2, Q = 1/2
    assert must_score(played).reward(RewardWeights()) == Fraction(12, 10)


def test_negative_reward_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        RewardWeights(progress=-0.1)


def test_verdicts_about_different_checks_are_refused() -> None:
    with pytest.raises(ValueError, match="different checks"):
        score(episode(start=verdict(False), end=verdict(True, True)))


def test_malformed_block_and_explicit_error_are_bad_calls() -> None:
    found = evidence(episode(turn(None, malformed="not JSON"), turn("a", is_error=True), turn("b")))
    assert [(call.turn, call.reason) for call in found.bad] == [(0, "malformed"), (1, "error")]
    assert found.num_calls == 3


def test_block_cut_off_by_the_output_budget_is_no_attempt() -> None:
    played = episode(turn("a"), turn(None, malformed="no closing tag"), stop_reason="length")
    assert evidence(played).num_calls == 1
    assert evidence(played).bad == ()


@pytest.mark.parametrize("subtype", ["throttled", "unavailable", "partial_list", "lost_ack"])
def test_call_that_an_injected_fault_made_fail_is_never_bad(subtype: str) -> None:
    after = "h1" if subtype == "lost_ack" else "h0"
    assert evidence(episode(turn("a", fault=subtype, after=after))).bad == ()


def test_retry_after_not_executed_is_never_bad() -> None:
    turns = (turn("create", {"x": 1}, fault="throttled"), turn("create", {"x": 1}, after="h1"))
    assert evidence(episode(*turns)).bad == ()


def test_retry_of_a_write_whose_ack_was_lost_is_a_duplicate_write() -> None:
    turns = (
        turn("create", {"x": 1, "y": 2}, fault="lost_ack", before="h0", after="h1", generated=False),
        turn("create", {"y": 2, "x": 1}, before="h1", after="h2"),
    )
    assert [(call.turn, call.reason) for call in evidence(episode(*turns)).bad] == [(1, "duplicate_write")]


def test_retry_hidden_by_the_same_fault_again_is_still_a_duplicate_write() -> None:
    turns = (
        turn("create", fault="lost_ack", before="h0", after="h1"),
        turn("create", fault="lost_ack", before="h1", after="h2"),
    )
    assert evidence(episode(*turns)).bad_turns == (1,)


def test_read_back_and_other_writes_after_a_lost_ack_are_never_bad() -> None:
    turns = (
        turn("create", {"x": 1}, fault="lost_ack", before="h0", after="h1"),
        turn("find", {"x": 1}, before="h1"),
        turn("create", {"x": 2}, before="h1", after="h2"),
    )
    assert evidence(episode(*turns)).bad == ()


def test_retry_after_a_timeout_that_committed_nothing_is_never_bad() -> None:
    turns = (turn("create", fault="timeout_not_committed"), turn("create", before="h0", after="h1"))
    assert evidence(episode(*turns)).bad == ()


def test_writing_again_after_the_hidden_write_was_undone_is_no_duplicate() -> None:
    turns = (
        turn("create", fault="lost_ack", before="h0", after="h1"),
        turn("delete", before="h1", after="h0"),
        turn("create", before="h0", after="h1"),
    )
    assert evidence(episode(*turns)).bad == ()


def test_inherited_calls_are_neither_counted_nor_marked() -> None:
    found = evidence(episode(turn("a", is_error=True, generated=False), turn("b")))
    assert (found.num_calls, found.bad) == (1, ())


def test_same_read_of_the_same_state_is_marked_from_the_third_time() -> None:
    played = episode(
        turn("get", {"id": 1, "k": 2}), turn("get", {"k": 2, "id": 1}), turn("other"), turn("get", {"id": 1, "k": 2})
    )
    assert evidence(played).repeated_turns == (3,)
    assert evidence(episode(*played.turns, played.turns[0])).repeated_turns == (3, 4)


def test_inherited_reads_count_but_only_generated_ones_are_marked() -> None:
    inherited = turn("get", generated=False)
    assert evidence(episode(inherited, inherited, inherited, turn("get"))).repeated_turns == (3,)


@pytest.mark.parametrize(
    "odd_one",
    [
        turn("get", fault="partial_list"),
        turn("get", before="h1"),
        turn("get", reply="[1]"),
        turn("get", {"id": 1}),
        turn("get", before="h0", after="h1"),
        turn("get", before=""),
    ],
    ids=["faulted", "other state", "other reply", "other arguments", "a write", "no hash recorded"],
)
def test_reads_that_differ_in_any_respect_are_no_occurrence(odd_one: Turn) -> None:
    assert evidence(episode(turn("get"), odd_one, turn("get"))).repeated_turns == ()
    assert evidence(episode(turn("get"), odd_one, turn("get"), turn("get"))).repeated_turns == (3,)


turns_st = st.builds(
    turn,
    st.sampled_from([None, "a", "b"]),
    st.sampled_from([{}, {"x": 1}]),
    before=st.sampled_from(["", "h0", "h1"]),
    after=st.sampled_from([None, "h0", "h1"]),
    is_error=st.booleans(),
    fault=st.sampled_from([None, "lost_ack", "throttled"]),
    generated=st.booleans(),
)


@given(st.lists(turns_st, max_size=12), st.booleans())
def test_quality_stays_between_zero_and_one_and_marks_only_generated_calls(turns: list[Turn], is_success: bool) -> None:
    found = must_score(episode(*turns, end=verdict(is_success)))
    assert 0 <= found.quality <= int(is_success)
    marked = {*found.evidence.bad_turns, *found.evidence.repeated_turns}
    assert all(turns[index].generated and turns[index].call is not None for index in marked)
