"""The same engine in process and over HTTP: the same replies, the same state, the same verdicts."""

import asyncio
import gc
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer
from reliability_suite import Script, scripts, suite_root

from robustops.core.errors import SnapshotUnsupported
from robustops.core.task import GymServer, Task
from robustops.gym.client import HttpGym
from robustops.gym.domains import FOLDERS
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.seeds import SeedStore
from robustops.gym.server import DATABASES, make_app
from robustops.gym.verify import verify

SERVER = BY_DOMAIN["csm"].name
SCRIPTS = [*scripts("csm"), *scripts("itsm")]
SEEDS = SeedStore()  # the real seed is loaded once for the whole file
EMBEDDED = EmbeddedGym(seeds=SEEDS)
SEED = (
    "INSERT INTO user (user_id, first_name, last_name, email, role, active) "
    "VALUES (1, 'Ann', 'Lee', 'ann@example.com', 'admin', 1);\n"
    "INSERT INTO product (product_id, name, category, lifecycle_state) "
    "VALUES (7, 'Disk; \"Ä\"', 'hardware', 'active');\n"
)
CALLS = (
    ("find_product", {"name": 'Disk; "Ä"'}),
    ("add_new_user_group", {"name": "New", "type": "support", "active": True}),
    ("add_new_group_member", {"group_id": 1, "user_id": 1}),
    ("add_new_user_group", {"name": 5, "type": "nothing"}),  # the report of an argument error
    ("find_account", {"name": "nobody"}),
    ("list_user_groups", {}),
    ("no_such_tool", {}),
)

needs_suite = pytest.mark.skipif(suite_root() is None, reason="the package agentrelbench is not installed")


@asynccontextmanager
async def served(domain="csm", *, extended=True):
    """A gym over HTTP, and the databases of the server behind it."""
    async with TestServer(make_app(domain, seeds=SEEDS, extended=extended), host="127.0.0.1") as server:
        gym = HttpGym({BY_DOMAIN[domain].name: str(server.make_url(""))})
        try:
            yield gym, server.app[DATABASES]
        finally:
            await gym.close()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "seed.sql").write_text(SEED)
    context = {" x-user-email ": "ann@example.com"}
    return Task(
        task_id="t",
        domain="csm",
        policy="p",
        request="r",
        tools=("find_product", "add_new_user_group"),
        servers=(GymServer(name=SERVER, seed_file="seed.sql", context=context),),
        checks=(),
        seed_root=str(tmp_path),
    )


def without_time(result):
    return replace(result, latency_s=0.0)


async def played(session):
    steps = []
    for name, arguments in CALLS:
        result = await session.call(name, arguments)
        steps.append((without_time(result), await session.state_hash()))
    return session.tools, steps, await session.query("SELECT * FROM user_group_member")


async def test_the_same_calls_give_the_same_replies_and_hashes_both_ways(task):
    async with EMBEDDED.open(task) as session:
        in_process = await played(session)
    async with served() as (gym, _), gym.open(task) as session:
        over_http = await played(session)
    assert over_http == in_process


@pytest.mark.parametrize("domain", FOLDERS)
async def test_the_catalogue_is_the_same_both_ways(domain):
    async with served(domain) as (gym, _):
        assert await gym.catalogue(domain) == tuple(await EMBEDDED.catalogue(domain))


@pytest.mark.parametrize("extended", [True, False])
async def test_a_snapshot_taken_over_http_restores_rows_counters_and_hash(task, extended):
    group = {"name": "New", "type": "support", "active": True}
    async with served(extended=extended) as (gym, databases), gym.open(task) as session:
        await session.call("add_new_user_group", group)
        snapshot, before = await session.snapshot(), await session.state_hash()
        await session.call("add_new_user_group", {**group, "name": "Newer"})
        await session.restore(snapshot)
        assert await session.state_hash() == before
        await session.call("add_new_user_group", {**group, "name": "Newest"})
        rows = await session.query("SELECT group_id, name FROM user_group")
        assert rows["data"] == [{"group_id": 1, "name": "New"}, {"group_id": 2, "name": "Newest"}]
        assert len(databases) == 1


async def test_a_hundred_sessions_leave_no_database_and_no_open_file(task):
    async with served() as (gym, databases):

        async def run():
            async with gym.open(task) as session:
                await session.call("find_product", {"name": "x"})

        await asyncio.gather(*(run() for _ in range(20)))  # connections of the pool stay open between sessions
        gc.collect()
        before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
        for _ in range(5):
            await asyncio.gather(*(run() for _ in range(20)))
        gc.collect()
        after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
        assert len(databases) == 0
        assert after <= before


async def test_cancelled_sessions_leave_no_database(task):
    async with served() as (gym, databases):
        inside = asyncio.Semaphore(0)

        async def run():
            async with gym.open(task):
                inside.release()
                await asyncio.Event().wait()

        running = [asyncio.create_task(run()) for _ in range(10)]
        for _ in running:
            await inside.acquire()
        assert len(databases) == 10
        for one in running:
            one.cancel()
        outcomes = await asyncio.gather(*running, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
        assert len(databases) == 0


async def test_sessions_cancelled_while_they_open_leave_no_database(task):
    async with served() as (gym, databases):
        await gym.catalogue("csm")
        for num_steps in range(1, 40):
            opening = asyncio.create_task(gym.open(task).__aenter__())
            for _ in range(num_steps):
                await asyncio.sleep(0)
            opening.cancel()
            outcome = (await asyncio.gather(opening, return_exceptions=True))[0]
            if not isinstance(outcome, asyncio.CancelledError):
                await outcome.close()
        assert len(databases) == 0


@needs_suite
@pytest.mark.parametrize("extended", [True, False])
@pytest.mark.parametrize("domain", ["csm", "itsm"])
async def test_the_real_seed_survives_a_snapshot(domain, extended):
    its_task = next(script.task for script in SCRIPTS if script.task.domain == domain)
    async with (
        served(domain, extended=extended) as (gym, _),
        gym.open(its_task) as session,
        EMBEDDED.open(its_task) as embedded,
    ):
        before = await session.state_hash()
        assert before == await embedded.state_hash()
        try:
            await session.restore(await session.snapshot())
        except SnapshotUnsupported as error:
            pytest.fail(str(error))
        assert await session.state_hash() == before


@needs_suite
def test_there_are_scripts_to_run():
    assert sum(script.task.domain == "csm" for script in SCRIPTS) >= 57
    assert sum(script.task.domain == "itsm" for script in SCRIPTS) >= 34


@needs_suite
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: f"{script.task.domain}/{script.name}")
async def test_a_scripted_run_over_http_ends_as_stated_and_as_in_process(script: Script):
    async with served(script.task.domain) as (gym, databases):
        async with gym.open(script.task) as session, EMBEDDED.open(script.task) as embedded:
            for call in script.calls:
                result = await session.call(call.name, call.arguments)
                assert result.executed
                assert without_time(result) == without_time(await embedded.call(call.name, call.arguments))
            assert await session.state_hash() == await embedded.state_hash()
            verdict = await verify(
                session, script.task, graph=None, calls=script.calls, answer=script.answer, judge=None
            )
        assert len(databases) == 0
    assert verdict.scored == len(script.task.checks) > 0
    assert verdict.parity is script.succeeds


@needs_suite
async def test_a_refusal_by_4xx_reads_the_same_both_ways():
    its_task = next(script.task for script in SCRIPTS if script.task.domain == "itsm")
    async with served("itsm") as (gym, _), gym.open(its_task) as session, EMBEDDED.open(its_task) as embedded:
        calls = [("get_user", {"user_id": "USER_999"}), ("create_incident", {"priority": "nonsense"})]
        for name, arguments in calls:
            result = await session.call(name, arguments)
            assert (result.text, result.observation, result.is_error) == ("{}", "{}", True)
            assert without_time(result) == without_time(await embedded.call(name, arguments))
