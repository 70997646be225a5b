"""For any history of calls: reads are pure, a snapshot brings everything back, and the digest follows the contents."""

import asyncio
import json

import pytest
from csm_case_writes import CASE_WRITES
from csm_errors import ERRORS
from csm_reads import READS
from csm_writes import WRITES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_csm import csm_task, write_seed

from robustops.gym.database import Database
from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym

CSM = load_domain("csm")
GYM = EmbeddedGym()
WRITE_CALLS = [(name, case[0]) for name, case in {**WRITES, **CASE_WRITES}.items()]
READ_CALLS = [(name, case[0]) for name, case in READS.items()]
ERROR_CALLS = [(name, case[0]) for name, case in ERRORS.items()]
ANY_CALL = st.sampled_from(WRITE_CALLS + READ_CALLS + ERROR_CALLS)
READ_CALL = st.sampled_from(READ_CALLS + ERROR_CALLS)
HISTORY = st.lists(ANY_CALL, max_size=8)
QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return csm_task(write_seed(tmp_path_factory.mktemp("small")))


async def replies(session, calls):
    return [await session.call(name, arguments) for name, arguments in calls]


def texts(results):
    return [(result.text, result.observation, result.is_error) for result in results]


@given(before=HISTORY, after=HISTORY)
@QUICK
def test_after_a_restore_the_same_calls_give_the_same_replies_and_states(task, before, after):
    async def scenario():
        async with GYM.open(task) as session:
            await replies(session, before)
            snapshot, digest = await session.snapshot(), await session.state_hash()
            first, end = texts(await replies(session, after)), await session.state_hash()
            await session.restore(snapshot)
            assert await session.state_hash() == digest
            assert texts(await replies(session, after)) == first
            assert await session.state_hash() == end
            await session.restore(snapshot)
            assert await session.snapshot() == snapshot

    asyncio.run(scenario())


@given(history=HISTORY, reads=st.lists(READ_CALL, min_size=1, max_size=5))
@QUICK
def test_reads_and_refused_calls_leave_no_trace(task, history, reads):
    async def scenario():
        async with GYM.open(task) as session:
            await replies(session, history)
            snapshot, digest = await session.snapshot(), await session.state_hash()
            # After the history a case made to fail may succeed: only replies that are errors must leave no trace.
            for name, arguments in reads:
                result = await session.call(name, arguments)
                if CSM.tools[name].does in ("create", "update", "assign", "delete") and not result.is_error:
                    await session.restore(snapshot)
            assert await session.state_hash() == digest
            assert await session.snapshot() == snapshot

    asyncio.run(scenario())


@given(history=HISTORY)
@QUICK
def test_the_digest_kept_by_the_writes_is_that_of_the_contents(task, history):
    async def scenario():
        async with GYM.open(task) as session:
            await replies(session, history)
            kept = await session.state_hash()
            header, _, content = (await session.snapshot()).partition(b"\n")
            fresh = Database()
            fresh.load(content, {})
            assert fresh.digests == json.loads(header)["servers"][0]["digests"]
            fresh.close()
            assert await session.state_hash() == kept

    asyncio.run(scenario())
