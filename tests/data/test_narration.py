"""Which words of a policy rest on what it was shown: each rule with what it accepts, refuses and leaves open."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from robustops.core.episode import ToolCall, ToolResult, Turn
from robustops.data.narration import History, Receipt, history_of, judge
from robustops.data.review import load_reviews, read_verdict, review, with_reviews
from robustops.data.sft import SftSample
from robustops.data.supervision import Demonstration, export, mask_spans
from robustops.llm.completion import Reply
from tests.data.test_sft import CLOSE, OPEN, STOP, episode, fault

REPLY = '{"case_id": 4711, "state": "new", "rows": [{"case_id": 4720, "state": "closed", "owner": "usr_9"}]}'
SEEN = History(given="Set the case of Ada Moss to high.", replies=(REPLY,))
READ = replace(SEEN, receipts=(Receipt(kind="read", text=f"find_case {REPLY}"),))
WROTE = replace(READ, receipts=(*READ.receipts, Receipt(kind="update", text='update_case {"case_id": 4711} high')))


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


NOT_PROVEN = {
    "negation": ("Case 4711 is not new.", "I have not updated case 4711.", "Case 4711 was never updated."),
    "what failed": ("I was unable to update case 4711.", "I could not find case 4711.", "The update of 4711 failed."),
    "number in words": ("There are twelve cases like 4711.", "Case 4711 has three comments."),
    "date": ("Case 4711 is from March.", "Case 4711 was touched yesterday."),
    "name": ("Case 4711 belongs to Bob Stone.", "Case 4711 is one of Ada Moss."),
    "what is only asked for": ("Case 4711 has a high priority.", "Case 4711 is now high."),
    "other record": ("Case 4711 is with usr_9.", "Case 4720 is new."),
    "other wording of a claim": (
        "I took care of case 4711.",
        "I went ahead and bumped 4711 to high.",
        "Case 4711 got updated.",
        "Having updated case 4711, I go on.",
        "I already have changed case 4711.",
    ),
    "other language": (
        "Ich habe den Vorgang 4711 aktualisiert.",
        "J'ai mis à jour le dossier 4711.",
        "He actualizado el caso 4711.",
        "Обновил дело 4711.",
        "已更新 4711 号工单。",
    ),
    "code": (
        "```python",
        "update(4711)",
        "`update_case(case_id=4711)`",
        '{"case_id": 4711}',
        "SELECT 1 FROM c WHERE id=4711",
    ),
    "guess or question": ("Case 4711 is probably new.", "I think case 4711 is new.", "Is case 4711 new?"),
    "plan": ("I will not update case 4711.", "I will ask Bob about case 4711.", "Going to look at 4711."),
}


@pytest.mark.parametrize("history", [READ, WROTE], ids=["read", "written"])
@pytest.mark.parametrize("words", [words for group in NOT_PROVEN.values() for words in group])
def test_what_no_rule_proves_is_never_supported_though_it_cites_a_reply(words, history):
    assert judge(words, history) != "supported"


@pytest.mark.parametrize(
    "words", ["The hidden row usr_77 is there.", "Case 4711 was opened on 4 March.", 'It is "urgent".']
)
def test_a_value_that_was_never_shown_is_refuted(words):
    assert judge(words, WROTE) == "unsupported"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I updated case 4711.", "supported"),
        ("I updated case 4720.", "unproven"),  # written was another one
        ("I closed case 4711.", "unproven"),  # an update, but nothing says that it was this one
        ("I found case 4720.", "supported"),
        ("I found and updated case 4711.", "unproven"),  # two claims in one sentence: the second is not read
        ("Case 4720 is closed.", "unproven"),
    ],
)
def test_a_claim_rests_on_the_receipt_of_the_very_thing_it_names(words, expected):
    assert judge(words, WROTE) == expected


def turn(tool: str, text: str = "{}", *, is_error: bool = False, arguments: dict | None = None, **fields) -> Turn:
    shown = ToolResult(text=text, observation=text, is_error=is_error)
    call = ToolCall(name=tool, arguments=arguments or {})
    made = Turn(context_ids=(1,), sampled_ids=(2,), logprobs=(), weight_version=0, text="", call=call, shown=shown)
    return replace(made, **fields)


def kinds(*turns: Turn) -> set[str]:
    return {receipt.kind for receipt in history_of(turns).receipts}


def test_a_reply_that_is_an_error_is_no_receipt():
    assert kinds(turn("update_case", is_error=True)) == set()
    assert kinds(turn("update_case")) == {"update"}


def test_a_write_whose_outcome_was_open_has_its_receipt_in_the_read_that_shows_it():
    open_write = turn("create_new_case", is_error=True, arguments={"title": "No ink", "account": {"id": 7}})
    assert kinds(open_write) == set()
    assert kinds(open_write, turn("find_cases", '{"title": "no ink", "account_id": 7}')) == {"create", "read"}
    assert kinds(open_write, turn("find_cases", '{"title": "no paper", "account_id": 7}')) == {"read"}
    assert kinds(open_write, turn("find_cases", "[]")) == {"read"}


def test_a_reply_that_a_fault_made_up_is_no_receipt():
    """An acknowledgement of a write that was dropped: only the later read can show whether it was done."""
    lost = turn("update_case", '{"case_id": 4711}', arguments={"state": "closed"}, fault=fault("false_ack", "h", "h"))
    assert kinds(lost) == set()
    assert kinds(lost, turn("find_cases", '{"state": "new"}')) == {"read"}
    assert kinds(lost, turn("find_cases", '{"state": "closed"}')) == {"read", "update"}
    assert judge("I updated case 4711.", history_of([lost])) == "unsupported"


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
    assert spans(narrated(""), answer("I have deleted the case."))[-2:] == [
        (14, 15, "unsupported"),
        (15, 16, "final_answer"),
    ]
    assert spans(narrated(""), answer("I found the case."))[-1] == (14, 16, "final_answer")


def test_an_answer_that_nothing_proves_teaches_to_stop_and_not_to_say_it():
    found = spans(narrated(""), answer("Ich habe alles erledigt."))
    assert found[-2:] == [(14, 15, "narration"), (15, 16, "final_answer")]


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
