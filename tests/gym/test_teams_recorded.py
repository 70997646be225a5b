"""Recorded runs of real teams servers, replayed: our replies and check values are theirs, drawn ids and times apart."""

import json
from collections import Counter

import pytest
from recorded_teams import Seed, recorded_runs
from replayed_teams import differences, replay

from robustops.gym.domains import load_toolbox
from robustops.gym.engine import Engine
from robustops.gym.seed import build_seed

LEAST_AGREEMENT = 0.97
LEAST_CHECK_AGREEMENT = 0.90


@pytest.fixture(scope="module")
def outcomes(shared):
    """Every recorded call and every recorded check of every run, each run on its own overlay."""
    folder = shared / "eog" / "recorded" / "teams"
    if not folder.is_dir():
        pytest.skip("the recorded runs are not beside this checkout")
    toolbox = load_toolbox("teams")
    runs = recorded_runs(folder)
    others = Seed(domain=toolbox.domain)
    for run in runs:
        others.reveal(run, only_reads=True)
    answers, values = [], []
    for run in runs:
        given, checked = replay(toolbox, run, others)
        answers += given
        values += checked
    return answers, values


def told(answers):
    return [f"{one.run} {one.call.tool}: {'; '.join(one.differences)}" for one in answers if one.differences]


def figures(answers):
    """`create 43 of 43, ...`, by what the tools do."""
    kinds = Counter(one.call.tool.split("_")[0] for one in answers)
    held = Counter(one.call.tool.split("_")[0] for one in answers if not one.differences)
    return ", ".join(f"{kind} {held[kind]} of {count}" for kind, count in sorted(kinds.items()))


def test_replies_that_the_overlay_does_not_use_are_given_again(outcomes, record_property):
    """Writes and reads after a write: none of these replies told the overlay anything."""
    answers = [one for one in outcomes[0] if not one.call.informs]
    record_property("agreement", f"teams, replies that the overlay does not use: {figures(answers)}")
    agreeing = [one for one in answers if not one.differences]
    assert len(answers) >= 100
    assert len(agreeing) / len(answers) >= LEAST_AGREEMENT, told(answers)
    assert told(answers) == []


def test_replies_that_the_overlay_was_made_from_are_given_again(outcomes, record_property):
    """Filters, orders and selected properties are ours; only the rows come from these replies."""
    answers = [one for one in outcomes[0] if one.call.informs]
    record_property("agreement", f"teams, replies that the overlay was made from: {figures(answers)}")
    assert len(answers) >= 85
    assert told(answers) == []


def test_every_recorded_refusal_is_given_again(outcomes):
    refusals = [one for one in outcomes[0] if one.call.is_error]
    assert len(refusals) >= 12
    assert told(refusals) == []


def test_checks_find_the_recorded_values(outcomes, record_property):
    values = outcomes[1]
    wrong = [f"{one.run} {one.check}: theirs {one.theirs}, ours {one.ours}" for one in values if one.theirs != one.ours]
    record_property("agreement", f"teams, check values: {len(values) - len(wrong)} of {len(values)}")
    assert len(values) >= 180
    assert {one.theirs for one in values if isinstance(one.theirs, int)} >= {0, 1, 2}
    assert len(wrong) <= (1 - LEAST_CHECK_AGREEMENT) * len(values)
    assert wrong == []


def test_a_wrong_reply_would_be_noticed():
    theirs = {"id": "a", "createdDateTime": "2026-06-15T08:22:55", "members": [{"roles": ["owner"]}]}
    ours = {"id": "b", "createdDateTime": "2026-06-01T09:00:01.000000Z", "members": [{"roles": []}], "more": 1}
    assert list(differences(theirs, ours)) == [
        "/id: theirs 'a', ours 'b'",
        "/members[0]/roles: theirs ['owner'], ours []",
        "/more: theirs '<absent>', ours 1",
    ]


def test_the_observation_is_the_recorded_envelope(outcomes):
    """Indented JSON in one text block, and nothing else around it."""
    toolbox = load_toolbox("teams")
    engine = Engine(toolbox, build_seed(toolbox.domain, ""), None, {})
    text = next(one.call.text for one in outcomes[0] if one.call.text.startswith("{"))
    assert engine.enveloped(text) == json.dumps({"content": [{"type": "text", "text": text}], "isError": False})
    assert text == json.dumps(json.loads(text), indent=2)
