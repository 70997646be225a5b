"""The scripted expert recovers from what it can see; the naive and the hasty script do not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_desk import PLAN, THROTTLED, TIMEOUT, call, play, run

from robustops.agent.plan import Plan, ReadBack, Ref, Step, Value
from robustops.agent.policy import Prompt, Sampling
from robustops.agent.scripted import ScriptedExpert, ScriptedHasty, ScriptedNaive
from robustops.agent.scripts import FAILED, MAX_ATTEMPTS
from robustops.core.errors import PolicyError
from robustops.core.task import ToolSchema


def account(number: int = 41, name: str = "Amber Bank") -> str:
    return json.dumps({"account_id": number, "name": name})


def contract(number: int, end: str, status: str = "active", owner: int = 41) -> dict[str, object]:
    return {"contract_id": number, "account_id": owner, "status": status, "end_date": end}


CONTRACTS = [contract(7, "2026-01-05"), contract(9, "2031-02-01"), contract(12, "2028-08-08")]
UPDATED = json.dumps(contract(9, "2031-02-01", "suspended"))
FIND = call("find_account", name="Amber Bank")
LIST = call("find_contracts", account_id=41)
UPDATE = call("update_contract", contract_id=9, status="suspended")
BACK = call("find_contracts", contract_id=9)
ROWS = json.dumps(CONTRACTS)


def test_without_faults_the_plan_is_followed_step_by_step():
    assert play([account(), ROWS, UPDATED]) == [FIND, LIST, UPDATE, "Done."]


def test_the_whole_result_object_reads_like_its_text_block():
    def envelope(text: str) -> str:
        return json.dumps({"meta": None, "content": [{"type": "text", "text": text}], "isError": False})

    assert play([envelope(account()), envelope(ROWS), envelope(UPDATED)]) == [FIND, LIST, UPDATE, "Done."]


def test_a_call_that_was_not_executed_is_made_again():
    said = play([THROTTLED, account(), ROWS, THROTTLED, THROTTLED, UPDATED])
    assert said == [FIND, FIND, LIST, UPDATE, UPDATE, UPDATE, "Done."]


def test_retries_are_bounded_and_failure_is_admitted():
    assert play([THROTTLED] * 20) == [FIND] * MAX_ATTEMPTS + [FAILED]


def test_a_flagged_incomplete_list_is_read_again_before_a_row_is_chosen():
    partial = json.dumps({"incomplete": True, "returned": 2, "items": [CONTRACTS[0], CONTRACTS[2]]})
    assert play([account(), partial, ROWS, UPDATED]) == [FIND, LIST, LIST, UPDATE, "Done."]


def test_the_naive_script_chooses_from_an_incomplete_list():
    partial = json.dumps({"incomplete": True, "returned": 2, "items": [CONTRACTS[0], CONTRACTS[2]]})
    said = play([account(), partial, UPDATED], ScriptedNaive)
    assert said[2] == call("update_contract", contract_id=12, status="suspended")


def test_a_reply_that_breaks_off_is_read_again():
    assert play([account()[:20], account(), ROWS[:-9], ROWS, UPDATED]) == [FIND, FIND, LIST, LIST, UPDATE, "Done."]


def test_a_reply_about_another_account_is_read_again():
    assert play([account(50, "Cedar Dairy"), account(), ROWS, UPDATED]) == [FIND, FIND, LIST, UPDATE, "Done."]


def test_rows_that_were_not_asked_for_are_left_out():
    """The longest-running contract of all belongs to somebody else: the filter was ignored."""
    broader = json.dumps([*CONTRACTS, contract(3, "2039-01-01", owner=50)])
    assert play([account(), broader, UPDATED]) == [FIND, LIST, UPDATE, "Done."]


def test_a_write_of_unknown_outcome_that_took_place_is_not_repeated():
    found = json.dumps([contract(9, "2031-02-01", "suspended")])
    assert play([account(), ROWS, TIMEOUT, found]) == [FIND, LIST, UPDATE, BACK, "Done."]


def test_a_write_of_unknown_outcome_that_did_not_take_place_is_repeated():
    found = json.dumps([contract(9, "2031-02-01", "active")])
    assert play([account(), ROWS, TIMEOUT, found, UPDATED]) == [FIND, LIST, UPDATE, BACK, UPDATE, "Done."]


def test_a_read_back_recovers_from_faults_of_its_own():
    found = json.dumps([contract(9, "2031-02-01", "suspended")])
    said = play([account(), ROWS, TIMEOUT, THROTTLED, found[:30], found])
    assert said == [FIND, LIST, UPDATE, BACK, BACK, BACK, "Done."]


def test_the_naive_script_takes_a_timeout_for_done_and_stops_where_a_value_is_missing():
    assert play([account(), ROWS, TIMEOUT], ScriptedNaive) == [FIND, LIST, UPDATE, "Done."]
    assert play([THROTTLED], ScriptedNaive) == [FIND, "Done."]


def test_the_hasty_script_repeats_a_write_of_unknown_outcome_without_looking():
    assert play([account(), ROWS, TIMEOUT, UPDATED], ScriptedHasty) == [FIND, LIST, UPDATE, UPDATE, "Done."]
    assert play([THROTTLED, account(), ROWS, UPDATED], ScriptedHasty) == [FIND, FIND, LIST, UPDATE, "Done."]


def test_a_parameter_that_has_another_name_now_is_sent_under_it():
    drifted = {"error": "unknown parameter name", "executed": False, "renamed": {"name": "accountName"}}
    said = play([json.dumps(drifted), account(), ROWS, UPDATED])
    assert said == [FIND, call("find_account", accountName="Amber Bank"), LIST, UPDATE, "Done."]


def test_a_row_that_a_hidden_write_made_is_bound_from_its_read_back():
    made = Step(
        bind="made",
        tool="create",
        arguments={"title": Value(value="x")},
        read_back=ReadBack(tool="list", arguments={}, where={"title": Value(value="x")}),
    )
    use = Step(bind="used", tool="send", arguments={"id": Ref(step="made", field="id")}, read_back=made.read_back)
    plan = Plan(task_id="t", steps=(made, use))
    said = play([TIMEOUT, '[{"id": 3, "title": "y"}, {"id": 8, "title": "x"}]', "{}"], plan=plan)
    assert said == [call("create", title="x"), call("list"), call("send", id=8), "Done."]


def test_an_explicit_refusal_and_an_empty_result_end_the_attempt():
    assert play(["API Error [find_account]: no such tool"]) == [FIND, FAILED]
    assert play(["{}"]) == [FIND, FAILED]
    assert play([account(), "[]"]) == [FIND, LIST, FAILED]


def test_a_person_is_told_by_first_and_last_name():
    step = Step(bind="user", tool="find_user", arguments={"name": Value(value="Ada Berg")})
    plan = Plan(task_id="t", steps=(step,))
    other = '{"user_id": 1, "first_name": "Ben", "last_name": "Berg"}'
    right = '{"user_id": 2, "first_name": "Ada", "last_name": "BERG"}'
    assert play([other, right], plan=plan) == [call("find_user", name="Ada Berg")] * 2 + ["Done."]


@given(st.lists(st.integers(1, 9999), min_size=5, max_size=5, unique=True))
def test_other_ids_in_the_database_change_nothing_but_ids_in_the_calls(ids):
    """account, then contracts with the second ending last; the third id belongs to nobody who was asked for."""
    owner, first, last, third, stranger = ids
    rows = [contract(first, "2026-01-05", owner=owner), contract(last, "2031-02-01", owner=owner)]
    rows += [contract(third, "2028-08-08", owner=owner), contract(stranger, "2039-01-01", owner=stranger)]
    said = play([account(owner), json.dumps(rows), TIMEOUT, json.dumps([rows[1] | {"status": "suspended"}])])
    assert said == [
        FIND,
        call("find_contracts", account_id=owner),
        call("update_contract", contract_id=last, status="suspended"),
        call("find_contracts", contract_id=last),
        "Done.",
    ]


def test_an_episode_can_be_continued_from_any_of_its_prefixes():
    """Stateless: a fresh policy given the messages of another goes on where that one stopped."""
    replies = [account(), ROWS, TIMEOUT, json.dumps([contract(9, "2031-02-01", "suspended")])]
    assert play(replies, fresh_each_turn=True) == [FIND, LIST, UPDATE, BACK, "Done."]


def test_a_task_without_a_plan_is_an_error_of_the_policy():
    prompt = Prompt(case_id="c", task_id="other", turn=0, token_ids=(), messages=(), tools=())
    with pytest.raises(PolicyError, match="no plan for task 'other'"):
        run(ScriptedExpert({"t": PLAN}).act(prompt, Sampling()))


def test_an_encoder_supplies_the_token_ids():
    class Encoder:
        def encode_decision(self, *, call, content):
            return (1, 2) if call is not None and call.name == "find_account" and not content else (9,)

    prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=(), messages=(), tools=())
    assert run(ScriptedExpert({"t": PLAN}, Encoder()).act(prompt, Sampling())).token_ids == (1, 2)


def test_arguments_come_in_the_order_of_the_tool_signature():
    schema = {"type": "object", "properties": {"status": {}, "name": {}, "serial": {}}}
    tool = ToolSchema(name="find", description="", input_schema=schema, gym="g")
    step = Step(
        bind="a", tool="find", arguments={"extra": Value(value=1), "name": Value(value=2), "status": Value(value=3)}
    )
    prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=(), messages=(), tools=(tool,))
    policy = ScriptedExpert({"t": Plan(task_id="t", steps=(step,))})
    assert run(policy.act(prompt, Sampling())).text == call("find", status=3, name=2, extra=1)


def test_a_number_is_sent_as_text_where_the_schema_asks_for_text():
    """And the reply to that call is still recognised as the reply to it."""
    schema = {"type": "object", "properties": {"case_id": {"type": "string"}, "active": {"type": "boolean"}}}
    tool = ToolSchema(name="update", description="", input_schema=schema, gym="g")
    arguments = {"case_id": Value(value=7), "active": Value(value=True)}
    policy = ScriptedExpert({"t": Plan(task_id="t", steps=(Step(bind="a", tool="update", arguments=arguments),))})
    function = {"name": "update", "arguments": {"case_id": "7", "active": True}}
    messages = (
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]},
        {"role": "tool", "content": '{"case_id": 7, "active": 1}'},
    )
    for seen, said in (((), call("update", case_id="7", active=True)), (messages, "Done.")):
        prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=(), messages=seen, tools=(tool,))
        assert run(policy.act(prompt, Sampling())).text == said
