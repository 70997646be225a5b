"""Plans: their JSON form, and what a plan must not be."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.agent.plan import Fields, Items, Pick, Plan, ReadBack, Ref, Step, Text, Value, dump_plan, load_plan
from robustops.core.errors import TaskError

ACCOUNT = Step(bind="account", tool="find_account", arguments={"name": Value(value="Amber Bank")})
words = st.text("abcdefgh_", min_size=1, max_size=8)
scalars = st.one_of(st.text(max_size=8), st.integers(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
constant = st.builds(Value, value=scalars)
values = st.recursive(
    constant | st.builds(Text, parts=st.lists(constant, max_size=3).map(tuple)),
    lambda inner: (
        st.builds(Fields, items=st.dictionaries(words, inner, max_size=2))
        | st.builds(Items, items=st.lists(inner, max_size=2).map(tuple))
    ),
    max_leaves=4,
)
constants = st.dictionaries(words, values, max_size=3)
picks = st.none() | st.builds(Pick, where=constants, order_by=st.none() | words, largest=st.booleans())
backs = st.none() | st.builds(ReadBack, tool=words, arguments=constants, where=constants, is_absent=st.booleans())


@st.composite
def plans(draw):
    names = draw(st.lists(words, unique=True, min_size=1, max_size=4))
    steps = []
    for place, name in enumerate(names):
        arguments = dict(draw(constants))
        if place:
            arguments["ref"] = Ref(step=draw(st.sampled_from(names[:place])), field=draw(words))
        steps.append(Step(bind=name, tool=draw(words), arguments=arguments, pick=draw(picks), read_back=draw(backs)))
    return Plan(task_id=draw(words), steps=tuple(steps), answer=draw(st.text(max_size=8)))


@given(plans())
def test_a_plan_survives_its_json_form(plan):
    assert load_plan(json.loads(json.dumps(dump_plan(plan)))) == plan


def test_a_step_may_only_refer_to_what_was_bound_before():
    step = Step(
        bind="done", tool="update_contract", arguments={"contract_id": Ref(step="contract", field="contract_id")}
    )
    with pytest.raises(ValueError, match="uses 'contract' before it is bound"):
        Plan(task_id="t", steps=(ACCOUNT, step))


def test_a_name_is_bound_once():
    with pytest.raises(ValueError, match="'account' is bound twice"):
        Plan(task_id="t", steps=(ACCOUNT, ACCOUNT))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"task_id": "t7", "answer": "Done."}, "steps"),
        ({"task_id": "t7", "answer": "", "steps": [{"bind": "a", "tool": "x"}]}, "arguments"),
        ({"task_id": "t7", "answer": "", "steps": [{"bind": "a", "tool": "x", "arguments": {"n": 5}}]}, "TypeError"),
        (
            {"task_id": "t7", "answer": "", "steps": [{"bind": "a", "tool": "x", "arguments": {"n": {"ref": "a"}}}]},
            "expected 'step.field', got 'a'",
        ),
        (
            {"task_id": "t7", "answer": "", "steps": [{"bind": "a", "tool": "x", "arguments": {"n": {"text": [5]}}}]},
            "TypeError",
        ),
        (
            {"task_id": "t7", "answer": "", "steps": [{"bind": "a", "tool": "x", "arguments": {"n": {"id": 5}}}]},
            "expected an object with 'value', 'ref', 'object', 'list' or 'text'",
        ),
    ],
)
def test_a_broken_plan_names_its_task_and_the_fault(row, message):
    with pytest.raises(TaskError, match="plan of task 't7'") as caught:
        load_plan(row)
    assert message in str(caught.value)


def stated(plan: Plan) -> tuple[object, ...]:
    return tuple(leaf.value for step in plan.steps for leaf in step.leaves() if isinstance(leaf, Value))


def test_a_plan_lists_read_back_tools_among_its_own_and_every_constant():
    back = ReadBack(tool="get_accounts", arguments={}, where={"active": Value(value=True)})
    write = Step(bind="done", tool="update_account_details", arguments={"active": Value(value=True)}, read_back=back)
    plan = Plan(task_id="t", steps=(ACCOUNT, write))
    assert plan.tools == ("find_account", "update_account_details", "get_accounts")
    assert stated(plan) == ("Amber Bank", True, True)
    assert not ACCOUNT.is_write
    assert write.is_write


def test_references_and_constants_are_found_inside_objects_and_lists():
    guests = Items(items=(Fields(items={"email": Ref(step="user", field="email")}), Value(value="desk")))
    step = Step(bind="done", tool="invite", arguments={"attendees": guests})
    with pytest.raises(ValueError, match="uses 'user' before it is bound"):
        Plan(task_id="t", steps=(step,))
    user = Step(bind="user", tool="find_user", arguments={})
    assert stated(Plan(task_id="t", steps=(user, step))) == ("desk",)


def test_pieces_of_a_text_are_references_and_constants_of_their_step():
    query = Text(parts=(Value(value="id eq '"), Ref(step="user", field="id"), Value(value="'")))
    step = Step(bind="done", tool="list_users", arguments={"_filter": query})
    with pytest.raises(ValueError, match="uses 'user' before it is bound"):
        Plan(task_id="t", steps=(step,))
    user = Step(bind="user", tool="find_user", arguments={})
    assert stated(Plan(task_id="t", steps=(user, step))) == ("id eq '", "'")
