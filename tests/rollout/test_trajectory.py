"""Episode lines: a round trip over everything a line may hold, and lines that are none."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustops.core.episode import (
    CheckResult,
    Episode,
    FaultEvent,
    FaultPlan,
    ToolCall,
    ToolResult,
    Turn,
    Verdict,
)
from robustops.core.errors import TableError
from robustops.core.task import Case
from robustops.rollout.trajectory import dump_episode, load_episode

TEXT = st.text(max_size=12)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | TEXT, lambda inner: st.lists(inner, max_size=2), max_leaves=4
)
RESULTS = st.builds(ToolResult, text=TEXT, observation=TEXT, is_error=st.booleans(), executed=st.booleans())
CALLS = st.builds(ToolCall, name=TEXT, arguments=st.dictionaries(TEXT, JSON_VALUE, max_size=2))
EVENTS = st.builds(
    FaultEvent,
    subtype=TEXT,
    call_index=st.integers(0, 9),
    native=TEXT,
    shown=TEXT,
    hash_before=TEXT,
    hash_after=TEXT,
    remaining_cap=st.integers(0, 3),
)
IDS = st.lists(st.integers(0, 999), max_size=4).map(tuple)
TURNS = st.builds(
    Turn,
    context_ids=IDS,
    sampled_ids=IDS,
    logprobs=st.lists(st.floats(-9, 0), max_size=3).map(tuple),
    weight_version=st.integers(0, 9),
    text=TEXT,
    call=st.none() | CALLS,
    malformed=st.none() | TEXT,
    shown=st.none() | RESULTS,
    native=st.none() | RESULTS,
    fault=st.none() | EVENTS,
    generated=st.booleans(),
    cached_tokens=st.integers(0, 9),
)
VERDICTS = st.builds(
    Verdict,
    checks=st.lists(
        st.builds(CheckResult, index=st.integers(0, 5), name=TEXT, passed=st.none() | st.booleans(), value=JSON_VALUE),
        max_size=2,
    ).map(tuple),
    gated=st.integers(0, 2),
)
PLANS = st.builds(FaultPlan, subtype=TEXT, tool=TEXT, signature=TEXT, cap=st.integers(1, 3), seed=st.integers(0, 9))
EPISODES = st.builds(
    Episode,
    case=st.builds(Case, task_id=TEXT, attempt=st.integers(0, 3)),
    turns=st.lists(TURNS, max_size=3).map(tuple),
    boundary=st.none() | VERDICTS,
    end=st.none() | VERDICTS,
    stop_reason=st.sampled_from(["stop", "infrastructure"]),
    answer=TEXT,
    faults=st.lists(EVENTS, max_size=2).map(tuple),
    plan=st.none() | PLANS,
    wall_s=st.floats(0, 9),
)


@given(episode=EPISODES)
@settings(max_examples=100)
def test_a_line_holds_the_whole_episode(episode: Episode) -> None:
    line = json.loads(json.dumps(dump_episode(episode, source={"run": "r"})))
    assert load_episode(line) == episode
    assert next(iter(line)) == "schema_version"


def a_line() -> dict[str, Any]:
    return dump_episode(Episode(case=Case(task_id="t"), turns=(), boundary=None, end=None, stop_reason="stop"))


def test_a_line_of_another_version_is_refused() -> None:
    with pytest.raises(TableError, match=r"t\|oracle\|clean\|0: schema version 99, expected 1"):
        load_episode({**a_line(), "schema_version": 99})


@pytest.mark.parametrize("damage", [{"case": {"task": 1}}, {"turns": [{}]}, {"end": {"gated": 1}}])
def test_a_damaged_line_names_its_case(damage: dict[str, Any]) -> None:
    with pytest.raises(TableError, match=r"t\|oracle\|clean\|0: not an episode"):
        load_episode({**a_line(), **damage})
