"""For any history of teams or drive calls: restores are exact, the digest follows the rows; no text breaks a parser."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_cases import domain_cases

from robustops.gym.database import Database
from robustops.gym.domains import load_toolbox
from robustops.gym.domains.drive.query import read_query
from robustops.gym.domains.teams.odata import read_filter
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.operations.kind import ToolFailure

DOMAINS = ("teams", "drive")
CASES = {name: domain_cases(name) for name in DOMAINS}
QUICK = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def calls_of(name):
    cases = CASES[name]
    found = [(tool, case.arguments) for part in (cases.successes, cases.refusals) for tool, case in part.items()]
    return st.tuples(st.just(name), *(st.lists(st.sampled_from(found), max_size=8) for _ in range(2)))


@pytest.fixture(scope="module")
def open_session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    gym = EmbeddedGym(toolboxes=tuple(map(load_toolbox, DOMAINS)))
    tasks = {name: cases.task(folder) for name, cases in CASES.items()}
    return lambda name: gym.open(tasks[name])


async def texts(session, calls):
    return [
        (result.text, result.is_error) for name, arguments in calls for result in [await session.call(name, arguments)]
    ]


@given(histories=st.one_of(*map(calls_of, DOMAINS)))
@QUICK
def test_after_a_restore_the_same_calls_give_the_same_replies_and_rows(open_session, histories):
    name, before, after = histories

    async def scenario():
        async with open_session(name) as session:
            await texts(session, before)
            snapshot, digest = await session.snapshot(), await session.state_hash()
            first, end = await texts(session, after), await session.state_hash()
            await session.restore(snapshot)
            assert await session.state_hash() == digest
            assert await texts(session, after) == first
            assert await session.state_hash() == end
            header, _, content = (await session.snapshot()).partition(b"\n")
            fresh = Database()
            fresh.load(content, {})
            assert fresh.digests == json.loads(header)["servers"][0]["digests"]
            fresh.close()

    asyncio.run(scenario())


WORDS = st.sampled_from(
    [
        *("name", "displayName", "size", "contains", "startswith", "eq", "=", "!=", "<", "gt", "has", "in", "parents"),
        *("and", "or", "not", "(", ")", "{", "}", ",", "'x'", "'it''s'", r"'it\'s'", "true", "null", "5", "2026-05-01"),
        *("'", "any", "members/any", ":", "p:p/id", "\u2028", "ä"),
    ]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=10).map(" ".join))
ITEM = {"name": "x", "displayName": "x", "size": 5, "parents": ["x"], "members": [{"id": "x"}]}


@given(text=TEXTS, style=st.sampled_from(["whole", "flat", "first_function", "split"]))
@settings(max_examples=300)
def test_any_text_is_a_filter_or_ignored(text, style):
    condition = read_filter(text, style)
    assert condition is None or condition(ITEM.get) in (True, False)


@given(text=TEXTS)
@settings(max_examples=300)
def test_any_text_is_a_query_or_refused(text):
    with contextlib.suppress(ToolFailure):
        assert read_query(text, frozenset(ITEM))(ITEM.get) in (True, False)
