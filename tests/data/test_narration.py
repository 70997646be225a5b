"""Which words of a policy rest on what it was shown: each rule with what it accepts, refuses and leaves open."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from robustops.core.episode import ToolCall, ToolResult, Turn
from robustops.data.narration import History, history_of, judge
from robustops.data.review import load_reviews, read_verdict, review, with_reviews
from robustops.data.sft import SftSample
from robustops.data.supervision import Demonstration, export, mask_spans
from robustops.llm.completion import Reply
from tests.data.test_sft import CLOSE, OPEN, STOP, episode

SEEN = History(
    given="Set the case of Ada Moss to high.", replies='{"case_id": 4711, "state": "new"}', receipts=frozenset()
)
WROTE = replace(SEEN, receipts=frozenset({"read", "update"}))


@pytest.mark.parametrize(
    ("words", "history", "expected"),
    [
        ("Case 4711 is new.", SEEN, "supported"),  # the value stands in a reply
        ("Case 4712 is new.", SEEN, "unsupported"),  # it stands nowhere
        ("Case 471 is new.", SEEN, "unsupported"),  # part of a number is another number
        ('The case is "open".', SEEN, "unsupported"),
        ('The case is "new".', SEEN, "supported"),
        ("I have updated the case.", SEEN, "unsupported"),  # nothing was written yet
        ("I have updated the case.", WROTE, "supported"),
        ("I updated case 4711.", WROTE, "supported"),
        ("The case was deleted.", WROTE, "unsupported"),  # another kind of action than the receipt's
        ("I notified the customer.", WROTE, "unsupported"),
        ("I found the case.", SEEN, "unsupported"),
        ("I found the case.", WROTE, "supported"),
        ("Done.", SEEN, "unsupported"),
        ("Done.", WROTE, "supported"),
        ("Next I will look up the case.", SEEN, "planning"),
        ("Let me read it first.", WROTE, "planning"),
        ("Next I will update case 4711.", SEEN, "supported"),  # an intention that rests on a reply
        ("I will update case 9999.", SEEN, "unsupported"),
        ("This looks like a common request.", SEEN, "unproven"),
        ("", SEEN, "supported"),
        ("Case 4711 is new. This looks common.", SEEN, "unproven"),  # the worst sentence decides
        ("Case 4711 is new. I have deleted it.", SEEN, "unsupported"),
        ("When all is done I will answer.", SEEN, "planning"),
    ],
)
def test_words_are_judged_by_what_was_shown(words, history, expected):
    assert judge(words, history) == expected


def turn(tool: str, text: str = "{}", *, is_error: bool = False) -> Turn:
    shown = ToolResult(text=text, observation=text, is_error=is_error)
    call = ToolCall(name=tool, arguments={})
    return Turn(context_ids=(1,), sampled_ids=(2,), logprobs=(), weight_version=0, text="", call=call, shown=shown)


def test_a_reply_that_is_an_error_is_no_receipt():
    assert "update" not in history_of([turn("update_case", is_error=True)]).receipts
    assert "update" in history_of([turn("update_case")]).receipts


def test_a_write_whose_outcome_was_open_has_its_receipt_in_the_read_that_follows():
    open_write = turn("create_new_case", is_error=True)
    assert history_of([open_write]).receipts == frozenset()
    assert {"create", "read"} <= history_of([open_write, turn("find_cases")]).receipts


OK = ToolResult(text='{"case_id": 4711}', observation="{}")
CALL = '<tool_call>\n{"name": "find_case", "arguments": {}}\n</tool_call>'


def narrated(words: str, *sampled: int) -> Turn:
    """Words of five tokens before a call of three."""
    return Turn(
        context_ids=(1, 2, 3),
        sampled_ids=sampled or (5, 5, 5, 5, 5, OPEN, 7, CLOSE),
        logprobs=(),
        weight_version=0,
        text=f"{words}\n{CALL}",
        call=ToolCall(name="find_case", arguments={}),
        shown=OK,
        native=OK,
    )


def answer(words: str) -> Turn:
    ids = (9, STOP)
    return Turn(context_ids=(1, 2, 3), sampled_ids=ids, logprobs=(), weight_version=0, text=f"{words}<|im_end|>")


def spans(*turns: Turn, **fields) -> list[tuple[int, int, str]]:
    made = Demonstration(source="run/t", episode=episode(*turns), **fields)
    return [(s.start, s.end, s.reason) for s in mask_spans(made, call_open_id=OPEN)]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("Case 4711 is there.", "grounded_narration"),
        ("Case 4712 is there.", "unsupported"),
        ("Let me look again.", "planning"),
        ("A common request.", "narration"),
    ],
)
def test_each_answer_of_the_rules_has_its_reason_in_the_mask(words, reason):
    found = spans(narrated(""), narrated(words), answer("I found it."))
    assert found[4:6] == [(14, 19, reason), (19, 22, "call")]


def test_grounded_words_share_the_weight_of_the_decision_they_lead_to():
    """Three decisions: 1/(3*3) for a bare call of 3, 1/(3*8) for 5 words and 3 call tokens, 1/(3*2) for the answer."""
    made = episode(narrated("A common request."), narrated("Case 4711 is there."), answer("I found it."))
    (sample,) = export([Demonstration(source="s", episode=made)], call_open_id=OPEN).samples
    assert isinstance(sample, SftSample)
    assert sample.num_decisions == 3
    assert sample.weights[8:11] == pytest.approx((1 / 9,) * 3)
    assert sample.weights[3:8] == (0,) * 5
    assert sample.weights[14:22] == pytest.approx((1 / 24,) * 8)
    assert sample.weights[25:27] == pytest.approx((1 / 6,) * 2)
    assert sum(sample.weights) == pytest.approx(1)


def test_an_answer_that_claims_what_never_happened_is_not_taught():
    assert spans(narrated(""), answer("I have deleted the case."))[-1] == (14, 16, "unsupported")
    assert spans(narrated(""), answer("I found the case."))[-1] == (14, 16, "final_answer")


def test_a_trajectory_longer_than_the_context_is_rejected_by_name():
    made = Demonstration(source="run/t", episode=episode(narrated(""), answer("I found it.")))
    assert export([made], call_open_id=OPEN, max_tokens=16).samples
    (rejection,) = export([made], call_open_id=OPEN, max_tokens=15).rejected
    assert (rejection.source, rejection.reason) == ("run/t", "16 tokens, more than the context of 15")


class Reviewer:
    """Says what it is told to, and keeps what it was asked."""

    def __init__(self, verdict: str) -> None:
        self.verdict, self.asked = verdict, []

    async def complete(self, messages, **options):
        self.asked.append(messages)
        return Reply(text=self.verdict)

    async def close(self) -> None:
        return None


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        ('{"verdict": "supported", "reason": "shown"}', "grounded_narration"),
        ('I think {"verdict": "unsupported", "reason": "not shown"}.', "unsupported"),
        ('{"verdict": "planning", "reason": "next"}', "planning"),
        ("I cannot tell.", "narration"),
    ],
)
async def test_a_reviewer_decides_only_what_the_rules_leave_open_and_is_asked_once(tmp_path, verdict, reason):
    turns = (narrated("Case 4712 is there."), narrated("A common request."), answer("I found it."))
    made = [Demonstration(source="run/t", episode=episode(*turns), given="the task")]
    path, reviewer = tmp_path / "reviews.jsonl", Reviewer(verdict)
    assert await review(made, reviewer, path, model="judge", concurrency=2) == 1
    assert await review(made, reviewer, path, model="judge", concurrency=2) == 0
    (row,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert (row["source"], row["turn"], row["words"], row["reviewer"]) == ("run/t", 1, "A common request.", "judge")
    assert row["verdict"] == read_verdict(verdict)[0]
    (reviewed,) = with_reviews(made, path)
    found = [s.reason for s in mask_spans(reviewed, call_open_id=OPEN)]
    assert found[1] == "unsupported", "what a rule has refuted stays refuted"
    assert found[4] == reason
    assert "A common request." in reviewer.asked[0][1]["content"]
    assert load_reviews(tmp_path / "none.jsonl") == {}
