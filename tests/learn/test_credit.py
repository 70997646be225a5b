"""Token-local credit: spans, caps and the temporal quality term, with numbers worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.core.episode import Episode, StopReason, ToolCall, Turn
from robustops.core.task import Case
from robustops.learn.credit import CallTags, Span, Spans, spans, temporal_quality, token_advantages
from robustops.rollout.score import BadCall, Evidence

OPEN, CLOSE, END = 90, 91, 92
TAGS = CallTags(open_id=OPEN, close_id=CLOSE)


def turn(*ids: int, malformed: str | None = None, generated: bool = True) -> Turn:
    return Turn(
        context_ids=(1, 2, 3),
        sampled_ids=ids,
        logprobs=(-1.0,) * len(ids),
        weight_version=0,
        text="",
        call=ToolCall(name="f", arguments={}) if CLOSE in ids and malformed is None else None,
        malformed=malformed,
        generated=generated,
    )


def episode(*turns: Turn, stop_reason: StopReason = "stop") -> Episode:
    return Episode(case=Case(task_id="t"), turns=turns, boundary=None, end=None, stop_reason=stop_reason)


def evidence(bad: tuple[int, ...] = (), repeated: tuple[int, ...] = ()) -> Evidence:
    calls = tuple(BadCall(turn=index, reason="error") for index in bad)
    return Evidence(num_calls=9, bad=calls, repeated_turns=repeated)


NARRATED = turn(10, 11, OPEN, 12, 13, CLOSE)
ANSWER = turn(20, 21, END)


def test_bad_call_marks_its_block_and_leaves_the_narration_before_it() -> None:
    found = spans(episode(NARRATED, NARRATED, ANSWER), evidence(bad=(1,)), TAGS)
    assert found.num_tokens == 15
    assert found.bad == (Span(start=8, stop=12),)
    values = token_advantages(found, advantage=1.0, quality=0.0, is_failed=False).tolist()
    assert values == [1.0] * 8 + [-0.5] * 4 + [1.0] * 3


def test_malformed_block_marks_from_its_opening_tag_to_the_end_of_the_turn() -> None:
    broken = turn(10, OPEN, 12, CLOSE, 13, END, malformed="not JSON")
    assert spans(episode(broken, ANSWER), evidence(bad=(0,)), TAGS).bad == (Span(start=1, stop=6),)
    untagged = turn(10, 12, CLOSE, malformed="no opening tag")
    assert spans(episode(untagged, ANSWER), evidence(bad=(0,)), TAGS).bad == (Span(start=0, stop=3),)


def test_inherited_turns_hold_no_trained_token() -> None:
    inherited = turn(10, OPEN, CLOSE, generated=False)
    found = spans(episode(inherited, NARRATED, ANSWER), evidence(bad=(1,)), TAGS)
    assert found.num_tokens == 9
    assert found.bad == (Span(start=2, stop=6),)


def test_repeated_read_is_capped_like_a_bad_call() -> None:
    found = spans(episode(NARRATED, ANSWER), evidence(repeated=(0,)), TAGS)
    values = token_advantages(found, advantage=0.2, quality=0.0, is_failed=False).tolist()
    assert values == [0.2, 0.2, -0.5, -0.5, -0.5, -0.5, 0.2, 0.2, 0.2]


def test_cap_never_raises_a_lower_advantage() -> None:
    found = spans(episode(NARRATED, ANSWER), evidence(bad=(0,)), TAGS)
    assert token_advantages(found, advantage=-2.0, quality=0.0, is_failed=True).tolist() == [-2.0] * 9


def test_native_stop_of_a_failed_trajectory_is_capped_at_zero_with_its_end_of_turn() -> None:
    found = spans(episode(NARRATED, ANSWER), evidence(), TAGS)
    assert found.native_stop == Span(start=6, stop=9)
    failed = token_advantages(found, advantage=0.7, quality=0.0, is_failed=True).tolist()
    assert failed == [0.7] * 6 + [0.0] * 3
    assert token_advantages(found, advantage=0.7, quality=0.0, is_failed=False).tolist() == [0.7] * 9


@pytest.mark.parametrize("reason", ["length", "context", "max_turns", "deadline"])
def test_forced_stop_gets_no_cap(reason: StopReason) -> None:
    assert spans(episode(NARRATED, ANSWER, stop_reason=reason), evidence(), TAGS).native_stop is None


def test_last_turn_with_a_call_is_no_native_stop() -> None:
    assert spans(episode(NARRATED), evidence(), TAGS).native_stop is None


def test_lower_cap_wins_where_both_apply() -> None:
    both = Spans(num_tokens=4, bad=(Span(start=2, stop=3),), native_stop=Span(start=1, stop=4))
    assert token_advantages(both, advantage=1.0, quality=0.0, is_failed=True).tolist() == [1.0, 0.0, -0.5, 0.0]


# ten tokens, two bad calls at 1..3 and 5..7
MARKED = Spans(num_tokens=10, bad=(Span(start=1, stop=3), Span(start=5, stop=7)))


def test_positive_quality_moves_onto_the_tokens_after_the_last_bad_call() -> None:
    """0.3 a token over 10 tokens is a mass of 3.0; three tokens are left after the last bad call: 1.0 each."""
    assert temporal_quality(0.3, MARKED).tolist() == pytest.approx([0.0] * 7 + [1.0] * 3)


def test_negative_quality_moves_onto_the_bad_calls() -> None:
    """-0.2 a token over 10 tokens is a mass of -2.0; four tokens are bad: -0.5 each."""
    assert temporal_quality(-0.2, MARKED).tolist() == pytest.approx([0, -0.5, -0.5, 0, 0, -0.5, -0.5, 0, 0, 0])


@pytest.mark.parametrize("quality", [0.3, -0.3])
def test_quality_is_uniform_without_bad_calls(quality: float) -> None:
    assert temporal_quality(quality, Spans(num_tokens=3)).tolist() == pytest.approx([quality] * 3)


def test_positive_quality_is_uniform_when_the_bad_call_is_the_end() -> None:
    at_the_end = Spans(num_tokens=4, bad=(Span(start=2, stop=4),))
    assert temporal_quality(0.3, at_the_end).tolist() == pytest.approx([0.3] * 4)


def test_temporal_credit_only_moves_the_quality_part() -> None:
    """A = 0.8 of which Q gave 0.3: outside the last three tokens 0.5 is left, there 0.5 + 1.0; then the caps."""
    values = token_advantages(MARKED, advantage=0.8, quality=0.3, is_failed=False).tolist()
    assert values == pytest.approx([0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 1.5, 1.5, 1.5])


def test_uniform_credit_leaves_the_quality_part_where_it_was() -> None:
    values = token_advantages(MARKED, advantage=0.8, quality=0.3, is_failed=False, quality_credit="uniform").tolist()
    assert values == pytest.approx([0.8, -0.5, -0.5, 0.8, 0.8, -0.5, -0.5, 0.8, 0.8, 0.8])


def test_without_caps_only_the_quality_part_differs_between_tokens() -> None:
    marked = Spans(
        num_tokens=4, bad=(Span(start=0, stop=1),), repeated=(Span(start=1, stop=2),), native_stop=Span(start=3, stop=4)
    )
    values = token_advantages(marked, advantage=1.0, quality=0.0, is_failed=True, has_caps=False).tolist()
    assert values == [1.0, 1.0, 1.0, 1.0]
    moved = token_advantages(marked, advantage=1.0, quality=0.3, is_failed=True, has_caps=False).tolist()
    assert moved == pytest.approx([0.7, 1.1, 1.1, 1.1])


@st.composite
def marked_st(draw: st.DrawFn) -> Spans:
    num_tokens = draw(st.integers(1, 30))
    edges = sorted(draw(st.sets(st.integers(0, num_tokens), max_size=6)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return Spans(num_tokens=num_tokens, bad=tuple(Span(start=a, stop=b) for a, b in pairs))


@given(marked_st(), st.floats(-3, 3))
def test_temporal_and_uniform_credit_have_equal_mass(marked: Spans, quality: float) -> None:
    assert float(temporal_quality(quality, marked).sum()) == pytest.approx(quality * marked.num_tokens, abs=1e-9)


@given(marked_st(), st.floats(-3, 3), st.floats(-1, 1), st.booleans())
def test_no_token_in_a_bad_call_ends_above_the_cap(marked: Spans, total: float, quality: float, failed: bool) -> None:
    values = token_advantages(marked, advantage=total, quality=quality, is_failed=failed).tolist()
    assert all(values[t] <= -0.5 for span in marked.bad for t in range(span.start, span.stop))
