"""Recorded runs of real servers, replayed: our replies are theirs, times apart."""

import json
from collections import Counter
from pathlib import Path

import pytest
from recorded_csm import Overlay, masked, recorded_checks, recorded_runs
from reliability_suite import suite_root

from robustops.gym.clock import VirtualClock
from robustops.gym.comparison import extract_value
from robustops.gym.domains import load_toolbox
from robustops.gym.engine import Engine
from robustops.gym.seeds import SeedStore

RECORDED = Path(__file__).resolve().parents[2] / ".." / "shared" / "eog" / "recorded" / "csm"
SEED = "data/seed-dbs/csm/db_1762232091750_3ev7dns6b.sql"
MAX_SCORE_GAP = 9  # the search score is a reconstruction; its note states this bound

pytestmark = [
    pytest.mark.skipif(not RECORDED.is_dir(), reason="the recorded runs are not beside this checkout"),
    pytest.mark.skipif(suite_root() is None, reason="the package agentrelbench, which holds the seed, is missing"),
]


@pytest.fixture(scope="module")
def replayed():
    """Every recorded call as (tool, recorded call, our result), and every recorded check as (run and name, their value,
    our value); each run on its own seed overlay."""
    toolbox = load_toolbox("csm")
    seed = SeedStore().from_file(toolbox.domain, suite_root(), SEED)
    answers, values = [], []
    for name, calls in recorded_runs(RECORDED).items():
        engine = Engine(toolbox, seed, VirtualClock(), {"x-user-email": "thomas.green@servicenow.com"})
        Overlay(toolbox.domain, engine.database).reveal(calls)
        answers += [(toolbox.domain.tools[call.tool], call, engine.call(call.tool, call.arguments)) for call in calls]
        for check, query, theirs in recorded_checks(RECORDED / f"{name}.json"):
            values.append((f"{name}: {check}", theirs, extract_value(engine.sql_runner.run(query))))
        engine.close()
    return answers, values


@pytest.fixture(scope="module")
def outcomes(replayed):
    return replayed[0]


def agrees(tool, call, result):
    if call.is_error or result.is_error:
        return (call.is_error, call.text) == (result.is_error, result.text)
    ours, theirs = json.loads(result.text), call.reply
    has_same_order = not isinstance(theirs, dict) or list(ours) == list(theirs)
    domain = load_toolbox("csm").domain
    return has_same_order and masked(domain, tool, ours) == masked(domain, tool, theirs)


def test_checks_find_the_recorded_values(replayed, record_property):
    values = replayed[1]
    wrong = [f"{check}: theirs {theirs}, ours {ours}" for check, theirs, ours in values if theirs != ours]
    record_property("agreement", f"csm, check values: {len(values) - len(wrong)} of {len(values)}")
    assert len(values) >= 160
    assert {0, 1} < {theirs for _, theirs, _ in values if isinstance(theirs, int)}
    assert wrong == []


def test_the_recordings_hold_every_kind_of_call(outcomes, record_property):
    kinds = Counter(tool.does for tool, _, _ in outcomes)
    held = Counter(tool.does for tool, call, result in outcomes if agrees(tool, call, result))
    shown = ", ".join(f"{kind} {held[kind]} of {count}" for kind, count in sorted(kinds.items()))
    record_property("agreement", f"csm, replies: {shown}")
    does = Counter(tool.does for tool, _, _ in outcomes)
    assert does["create"] >= 80
    assert does["update"] >= 70
    assert does["list"] >= 130
    assert {"get", "exists", "delete", "assign", "group", "search_knowledge"} <= does.keys()
    assert sum(call.is_error for _, call, _ in outcomes) >= 3


@pytest.mark.parametrize("does", ["get", "exists", "create", "update", "assign", "delete", "group"])
def test_every_recorded_reply_is_given_again(outcomes, does):
    wrong = [
        (call, result.text) for tool, call, result in outcomes if tool.does == does and not agrees(tool, call, result)
    ]
    assert wrong == []


def test_lists_agree_but_where_the_recorded_seed_lacks_a_row_of_ours(outcomes):
    wrong = [
        (call, result) for tool, call, result in outcomes if tool.does == "list" and not agrees(tool, call, result)
    ]
    assert len(wrong) <= 1
    for call, result in wrong:
        assert all(row in json.loads(result.text) for row in call.reply)


def test_article_searches_give_the_recorded_articles_in_the_recorded_order(outcomes):
    searches = [
        (call.reply, json.loads(result.text)) for tool, call, result in outcomes if tool.does == "search_knowledge"
    ]
    gaps = []
    for theirs, ours in searches:
        assert [row["knowledge_id"] for row in ours] == [row["knowledge_id"] for row in theirs]
        assert [list(row) for row in ours] == [list(row) for row in theirs]
        gaps += [
            abs(mine["score"] - their["score"]) for mine, their in zip(ours, theirs, strict=True) if "score" in their
        ]
    assert len(gaps) >= 15
    assert max(gaps) <= MAX_SCORE_GAP
    assert sum(gap == 0 for gap in gaps) / len(gaps) >= 0.85


def test_the_observation_is_the_recorded_envelope(outcomes):
    """Key order included: the model sees this text."""
    call, result = next(
        (call, result) for _, call, result in outcomes if not call.is_error and call.text == result.text
    )
    recorded = {
        "meta": None,
        "content": [{"type": "text", "text": call.text, "annotations": None, "meta": None}],
        "structuredContent": None,
        "isError": False,
    }
    assert result.observation == json.dumps(recorded)
