"""Several servers of one kind behind the HTTP gym, and how many requests they have in flight."""

import asyncio
import json
from dataclasses import replace

import pytest
from fake_container import container, task
from gym_client import http_gym

from robustops.core.errors import ConfigError, GymUnavailable, SnapshotUnsupported
from robustops.core.task import Check
from robustops.gym.client import HttpGym
from robustops.gym.latency import Latencies
from robustops.gym.remote import RemoteServer
from robustops.gym.replicas import COOL_OFF_S, Replicas
from robustops.gym.transport import Pool, Timeouts
from robustops.gym.verify import verify

DEAD = "http://127.0.0.1:9"  # the discard port: nothing listens


def servers(number):
    pool = Pool(limit=1, connect_s=1.0)
    return [RemoteServer(name="s", url=f"http://host-{n}", pool=pool, timeouts=Timeouts()) for n in range(number)]


def test_the_replica_with_the_fewest_sessions_is_next():
    one, two = servers(2)
    replicas = Replicas([one, two])
    assert [replicas.take() for _ in range(3)] == [one, two, one]
    replicas.give_back(two)
    assert replicas.take() is two


def test_a_failed_replica_is_passed_over_until_it_has_cooled_off():
    now = 0.0
    one, two = servers(2)
    replicas = Replicas([one, two], now=lambda: now)
    replicas.failed(one)
    assert [replicas.take() for _ in range(3)] == [two, two, two]
    now = COOL_OFF_S
    assert replicas.take() is one


def test_with_no_usable_replica_the_one_that_failed_first_is_tried():
    now = 0.0
    one, two = servers(2)
    replicas = Replicas([one, two], now=lambda: now)
    replicas.failed(two)
    now = 1.0
    replicas.failed(one)
    assert replicas.take() is two


@pytest.mark.parametrize("urls", [lambda one, two: [one, two], lambda one, two: f"{one},{two}"])
async def test_a_session_stays_on_its_replica(tmp_path, urls):
    async with container() as one, container() as two, http_gym({"server-0": urls(one.url, two.url)}) as gym:
        its_task = task(tmp_path, "")
        async with gym.open(its_task) as first, gym.open(its_task) as second:
            for _ in range(3):
                await first.call("names", {})
            await second.call("names", {})
            await first.query("SELECT 1")
        calls = [fake.routes().count("tools/call") for fake in (one, two)]
        queries = [fake.routes().count("/api/sql-runner") for fake in (one, two)]
    assert (calls, queries) == ([3, 1], [1, 0])


async def test_a_dead_replica_costs_a_retry_and_no_episode(tmp_path):
    async with container() as alive, http_gym({"server-0": [DEAD, alive.url]}) as gym:
        for _ in range(4):
            async with gym.open(task(tmp_path, "")) as session:
                assert len(json.loads((await session.call("names", {})).text)) == 2
        assert gym.traffic.num_retries == 2  # three attempts at the first opening, none after it
        assert len(alive.deleted) == 4


async def test_with_every_replica_dead_the_gym_is_unavailable(tmp_path):
    async with http_gym({"server-0": [DEAD, "http://127.0.0.1:1"]}) as gym:
        with pytest.raises(GymUnavailable, match="is the server running"):
            async with gym.open(task(tmp_path, "")):
                pytest.fail("opened")


async def test_a_domain_names_its_server_and_an_unnamed_server_has_its_public_port():
    async with container() as fake, http_gym({"csm": fake.url}) as gym:
        assert [tool.gym for tool in await gym.catalogue("csm")] == ["sn-csm-server"] * 3
        with pytest.raises(GymUnavailable, match="localhost:8008"):
            await gym.catalogue("hr")


def test_a_list_with_a_url_without_a_scheme_is_refused():
    with pytest.raises(ConfigError, match=r"gym\.urls\.csm: got 'localhost:8001'"):
        HttpGym({"csm": ["http://localhost:8011", "localhost:8001"]})


async def test_a_full_server_is_asked_again_and_a_call_never_is(tmp_path):
    async with container() as fake, http_gym() as gym:
        fake.failures = {"/api/seed-database": [503, 503], "/api/sql-runner": [502], "tools/call": [503]}
        async with gym.open(task(tmp_path, fake.url)) as session:
            assert (await session.query("SELECT COUNT(*) AS n FROM item"))["data"] == [{"n": 2}]
            with pytest.raises(GymUnavailable, match="503"):
                await session.call("add", {"name": "x"})
            assert (await session.query("SELECT COUNT(*) AS n FROM item"))["data"] == [{"n": 2}]
        assert gym.traffic.num_retries == 3
        assert fake.routes().count("tools/call") == 1


async def test_a_container_that_has_no_descriptors_left_ends_the_opening_in_a_typed_error(tmp_path):
    """What a real container answers after some two hundred seeds."""
    async with container() as fake, http_gym() as gym:
        fake.max_databases = 2
        its_task = task(tmp_path, fake.url)
        async with gym.open(its_task), gym.open(its_task):
            with pytest.raises(GymUnavailable, match=r"unable to open database file; .*restart it"):
                async with gym.open(its_task):
                    pytest.fail("opened")


async def test_a_container_that_dies_and_comes_back_is_greeted_again(tmp_path):
    async with container() as fake, http_gym() as gym:
        its_task = task(tmp_path, fake.url)
        async with gym.open(its_task):
            pass
        fake.dies = {"/api/seed-database"}
        with pytest.raises(GymUnavailable):
            async with gym.open(its_task):
                pytest.fail("opened")
        fake.dies = set()
        async with gym.open(its_task) as session:
            assert len(session.tools) == 3
        assert fake.routes().count("initialize") == 2


async def test_a_connection_lost_during_a_call_is_infrastructure_and_not_repeated(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        fake.dies = {"tools/call"}
        with pytest.raises(GymUnavailable):
            await session.call("add", {"name": "x"})
        assert fake.routes().count("tools/call") == 1


async def test_a_container_that_refuses_queries_is_named_as_one_without_snapshots(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        fake.statuses["/api/sql-runner"] = 400
        for asked in (session.snapshot, session.state_hash):
            with pytest.raises(SnapshotUnsupported, match=r"server-0: .*refuses a dump"):
                await asked()


async def test_every_call_is_counted_with_its_time(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        result = await session.call("names", {})
        await session.call("names", {})
        await session.call("refuse", {})
    rows = {row.tool: row for row in gym.latencies.rows()}
    assert {name: row.num_calls for name, row in rows.items()} == {"names": 2, "refuse": 1}
    assert rows["names"].gym == "server-0"
    assert rows["names"].max_s >= result.latency_s > 0
    assert 2 * rows["names"].mean_s >= rows["names"].max_s


def test_latencies_are_summed_per_server_and_tool():
    latencies = Latencies()
    for gym, tool, seconds in (("a", "x", 1.0), ("a", "x", 3.0), ("b", "x", 5.0)):
        latencies.note(gym, tool, seconds)
    assert [(row.gym, row.num_calls, row.mean_s, row.max_s) for row in latencies.rows()] == [
        ("b", 1, 5.0, 5.0),
        ("a", 2, 2.0, 3.0),
    ]


async def test_the_checks_of_a_task_are_in_flight_together(tmp_path):
    checks = tuple(
        Check(
            index=number,
            kind="database_state",
            name=str(number),
            gym="server-0",
            query="SELECT COUNT(*) AS n FROM item",
            expected=2,
        )
        for number in range(5)
    )
    async with container() as fake, http_gym() as gym:
        its_task = replace(task(tmp_path, fake.url), checks=checks)
        async with gym.open(its_task) as session, asyncio.timeout(10):
            fake.hang.add("/api/sql-runner")
            verifying = asyncio.create_task(verify(session, its_task, graph=None, calls=(), answer="", judge=None))
            while fake.routes().count("/api/sql-runner") < len(checks):
                await asyncio.sleep(0)
            fake.release.set()
            assert (await verifying).strict is True


async def test_at_most_four_seeds_are_in_flight_on_one_server(tmp_path):
    async with container() as fake, http_gym() as gym:
        its_task = task(tmp_path, fake.url)
        fake.hang.add("/api/seed-database")

        async def run():
            async with gym.open(its_task):
                pass

        running = [asyncio.create_task(run()) for _ in range(9)]
        async with asyncio.timeout(10):
            while fake.routes().count("/api/seed-database") < 4:
                await asyncio.sleep(0)
            for _ in range(500):  # passes of the loop in which a fifth would have arrived
                await asyncio.sleep(0)
            assert fake.routes().count("/api/seed-database") == 4
            fake.release.set()
            await asyncio.gather(*running)
        assert fake.routes().count("/api/seed-database") == 9
