"""Groups, rejections and boundaries through JSON: nothing is lost, and what is none of them is refused."""

import json

import pytest
from desk_agent import DeskPolicy, careful
from desk_groups import one_group
from hypothesis import given, settings
from hypothesis import strategies as st
from test_trajectory import CALLS, EPISODES, EVENTS, PLANS, TEXT, TURNS

from robustops.core.episode import Checkpoint, EpisodeGroup
from robustops.core.errors import TableError
from robustops.rollout.group_wire import dump_checkpoint, dump_outcome, load_checkpoint, load_outcome
from robustops.rollout.groups import Rejection

CHECKPOINTS = st.builds(
    Checkpoint,
    turns=st.lists(TURNS, max_size=2).map(tuple),
    database=st.binary(max_size=40),
    pending=st.none() | CALLS,
    read_history=st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=2).map(tuple),
    state_hash=TEXT,
    plan=st.none() | PLANS,
    remaining_cap=st.integers(0, 3),
    faults=st.lists(EVENTS, max_size=2).map(tuple),
)
OUTCOMES = st.builds(
    EpisodeGroup,
    group_id=TEXT,
    condition=st.sampled_from(["clean", "fault"]),
    episodes=st.lists(EPISODES, max_size=2).map(tuple),
    boundary=st.none() | CHECKPOINTS,
    is_resumed=st.booleans(),
) | st.builds(
    Rejection,
    task_id=TEXT,
    flow=st.sampled_from(["clean", "fault"]),
    reason=st.sampled_from(["no_opportunity", "infrastructure"]),
    detail=TEXT,
    struck=TEXT,
)


@given(outcome=OUTCOMES)
@settings(max_examples=100)
def test_an_outcome_comes_back_from_json_as_it_was(outcome: EpisodeGroup | Rejection) -> None:
    assert load_outcome(json.loads(json.dumps(dump_outcome(outcome)))) == outcome


@given(checkpoint=CHECKPOINTS)
@settings(max_examples=50)
def test_a_boundary_comes_back_from_json_as_it_was(checkpoint: Checkpoint) -> None:
    back = load_checkpoint(json.loads(json.dumps(dump_checkpoint(checkpoint))))
    assert back == checkpoint
    assert type(back.database) is bytes
    assert all(type(entry) is tuple for entry in back.read_history)


async def test_a_played_fault_group_comes_back_with_its_database_and_every_turn() -> None:
    group = await one_group(DeskPolicy(careful), "fault", "lost_ack")
    assert group.boundary is not None
    assert group.boundary.database
    assert load_outcome(json.loads(json.dumps(dump_outcome(group)))) == group


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({}, "got kind None, expected a group or a rejection"),
        ({"kind": "group", "group_id": "a"}, "not a group ('condition')"),
        ({"kind": "rejection", "task": "a"}, "not a rejection"),
    ],
)
def test_what_is_no_outcome_is_refused_in_one_line(line: dict, message: str) -> None:
    with pytest.raises(TableError) as caught:
        load_outcome(line)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
