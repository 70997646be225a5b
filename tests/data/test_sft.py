"""Masks and weights of demonstrations, against hand-counted spans."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.core.episode import CheckResult, Episode, FaultEvent, ToolCall, ToolResult, Turn, Verdict
from robustops.core.errors import TableError
from robustops.core.listing import write_listing
from robustops.core.task import Case
from robustops.data.sft import MaskSpan, SftSample, load_samples, save_samples
from robustops.data.supervision import Demonstration, export, mask_spans

OPEN, CLOSE, STOP = 100, 101, 102
OK = ToolResult(text="{}", observation="{}")
REFUSED = ToolResult(text="API Error [x]: no", observation="{}", is_error=True)


def turn(*sampled: int, native: ToolResult = OK, **fields: object) -> Turn:
    """Three context tokens, then the sample; a call if it closes one."""
    call = ToolCall(name="find_account", arguments={"n": sampled[0]}) if CLOSE in sampled else None
    made = Turn(
        context_ids=(1, 2, 3),
        sampled_ids=sampled,
        logprobs=(),
        weight_version=0,
        text="",
        call=call,
        shown=native if call else None,
        native=native if call else None,
    )
    return replace(made, **fields)


def verdict(passed: bool) -> Verdict:
    return Verdict(checks=(CheckResult(index=0, name="c", passed=passed),), gated=int(passed))


def episode(*turns: Turn, passed: bool = True, stop: str = "stop", **fields: object) -> Episode:
    made = Episode(case=Case(task_id="t"), turns=turns, boundary=verdict(False), end=verdict(passed), stop_reason=stop)
    return replace(made, **fields)


def reasons(*turns: Turn, **fields: object) -> list[tuple[int, int, str]]:
    return [
        (s.start, s.end, s.reason)
        for s in mask_spans(Demonstration(source="run/t", episode=episode(*turns, **fields)), call_open_id=OPEN)
    ]


def rejections(made: Episode) -> list[str]:
    found = export([Demonstration(source="run/t", episode=made)], call_open_id=OPEN)
    assert len(found.samples) + len(found.rejected) == 1
    return [f"{item.source}: {item.reason}" for item in found.rejected]


CALL, ANSWER = turn(OPEN, 7, 8, CLOSE), turn(9, STOP)


def test_calls_and_the_final_answer_are_supervised_and_context_is_not():
    assert reasons(CALL, ANSWER) == [(0, 3, "context"), (3, 7, "call"), (7, 10, "context"), (10, 12, "final_answer")]


def test_every_decision_weighs_the_same_however_long_it_is():
    """Two decisions of 4 and 2 tokens: 1/(2*4) = 0.125 and 1/(2*2) = 0.25 a token."""
    (sample,) = export([Demonstration(source="run/t", episode=episode(CALL, ANSWER))], call_open_id=OPEN).samples
    assert sample.token_ids == (1, 2, 3, OPEN, 7, 8, CLOSE, 1, 2, 3, 9, STOP)
    assert sample.weights == (0, 0, 0, 0.125, 0.125, 0.125, 0.125, 0, 0, 0, 0.25, 0.25)
    assert (sample.source, sample.num_decisions) == ("run/t", 2)


def test_narration_before_a_call_carries_no_loss_and_does_not_dilute_the_call():
    """Five tokens of narration; the call's four tokens weigh 1/(1*4) each where it is the only decision."""
    made = episode(turn(5, 5, 5, 5, 5, OPEN, 7, 8, CLOSE), turn(9, STOP, generated=False))
    (sample,) = export([Demonstration(source="s", episode=made)], call_open_id=OPEN).samples
    assert [(s.start, s.end, s.reason) for s in sample.spans][1:3] == [(3, 8, "narration"), (8, 12, "call")]
    assert sample.weights[3:12] == (0,) * 5 + (0.25,) * 4


def test_a_call_that_its_tool_refused_is_never_supervised():
    assert reasons(turn(OPEN, 7, CLOSE, native=REFUSED), CALL, ANSWER)[1] == (3, 6, "invalid_call")


def test_a_malformed_block_is_never_supervised():
    assert reasons(turn(OPEN, 7, malformed="unclosed"), ANSWER)[1] == (3, 5, "malformed")


def fault(subtype: str, before: str, after: str) -> FaultEvent:
    return FaultEvent(
        subtype=subtype, call_index=0, native="", shown="", hash_before=before, hash_after=after, remaining_cap=0
    )


def test_a_call_that_a_fault_made_fail_and_its_retry_are_both_supervised():
    """Retrying what was not executed is sound: neither is held against the policy."""
    failed = replace(CALL, shown=REFUSED, native=None, fault=fault("throttled", "h", "h"))
    assert [reason for _, _, reason in reasons(failed, CALL, ANSWER)][1::2] == ["call", "call", "final_answer"]


def test_a_blind_retry_of_a_hidden_write_is_not_supervised():
    hidden = replace(CALL, shown=REFUSED, fault=fault("lost_ack", "h0", "h1"), hash_before="h0", hash_after="h1")
    again = replace(CALL, hash_before="h1", hash_after="h2")
    assert [reason for _, _, reason in reasons(hidden, again, ANSWER)][1::2] == ["call", "invalid_call", "final_answer"]


def test_the_third_equal_read_is_not_supervised():
    read = replace(CALL, hash_before="h", hash_after="h")
    assert [r for _, _, r in reasons(read, read, read, ANSWER)][1::2] == [
        "call",
        "call",
        "repeated_read",
        "final_answer",
    ]


def test_turns_from_before_the_boundary_are_not_supervised():
    assert reasons(replace(CALL, generated=False), ANSWER)[1] == (3, 7, "inherited")


def test_a_message_that_a_budget_cut_off_is_no_answer():
    assert reasons(CALL, ANSWER, stop="length")[-1] == (10, 12, "forced_stop")


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (episode(CALL, ANSWER, passed=False), "run/t: not successful"),
        (episode(CALL, ANSWER, end=None), "run/t: not successful"),
        (episode(CALL, ANSWER, end=Verdict(checks=())), "run/t: not successful"),
        (episode(CALL, stop="infrastructure", error_kind="GymTimeout"), "run/t: the gym or engine failed: GymTimeout"),
        (episode(replace(CALL, sampled_ids=()), ANSWER), "run/t: a turn without token ids"),
        (episode(replace(CALL, generated=False), replace(ANSWER, generated=False)), "run/t: no valid decision"),
        (episode(turn(OPEN, 7, malformed="unclosed")), "run/t: no valid decision"),
    ],
)
def test_what_cannot_be_imitated_is_rejected_by_name(made, reason):
    (found,) = rejections(made)
    assert found.startswith(reason)


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12))
def test_the_weights_of_a_trajectory_add_up_to_one(parts):
    spans, place = [], 0
    for length, is_call in [*parts, (2, True)]:
        spans.append(MaskSpan(start=place, end=place + length, reason="call" if is_call else "context"))
        place += length
    sample = SftSample(source="s", token_ids=(1,) * place, spans=tuple(spans))
    assert math.isclose(sum(sample.weights), 1)
    assert all((weight > 0) == span.is_supervised for span in spans for weight in sample.weights[span.start : span.end])


def test_samples_survive_their_file(tmp_path):
    samples = export([Demonstration(source="run/t", episode=episode(CALL, ANSWER))], call_open_id=OPEN).samples
    header = save_samples(tmp_path / "sft.jsonl", samples, split="train", source="expert, tokenizer abc")
    assert load_samples(tmp_path / "sft.jsonl") == (header, samples)
    assert (header.kind, header.split) == ("sft", "train")


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([[0, 2, "call"]], "spans end at token 2 of 3"),
        ([[0, 1, "context"], [2, 3, "call"]], "span 2..3 does not follow token 1"),
        ([[0, 3, "mystery"]], "unknown mask reason 'mystery'"),
        ([[0, 3, "context"]], "no valid decision"),
    ],
)
def test_a_broken_row_is_named(tmp_path, spans, message):
    path = tmp_path / "sft.jsonl"
    row = {"source": "run/t", "token_ids": [1, 2, 3], "spans": spans}
    write_listing(path, [row], kind="sft", split="train", source="x")
    with pytest.raises(TableError, match=r"sft\.jsonl:2: not an SFT sample") as caught:
        load_samples(path)
    assert message in str(caught.value)
