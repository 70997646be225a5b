"""What a served domain offers beyond the benchmark's protocol: token, origin, bytes, clock, seeds by hash, sweeping."""

import asyncio
import hashlib
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer

from robustops.core.errors import ConfigError, GymError, GymUnavailable, SnapshotUnsupported
from robustops.core.task import GymServer, Task
from robustops.gym.client import HttpGym
from robustops.gym.databases import Databases, Refusal
from robustops.gym.domains import load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.seeds import SeedStore
from robustops.gym.server import DATABASES, make_app
from robustops.gym.snapshot import ServerSnapshot, Snapshot, pack
from robustops.gym.wire import DATABASE

SERVER = BY_DOMAIN["csm"].name
SEED = (
    "INSERT INTO user (user_id, first_name, last_name, email, role, active) "
    "VALUES (1, 'Ann', 'Lee', 'ann@example.com', 'admin', 1);\n"
)
GROUP = ("add_new_user_group", {"name": "New", "type": "support", "active": True})
CSM = load_toolbox("csm")


@asynccontextmanager
async def csm(**options):
    async with TestClient(TestServer(make_app("csm", **options), host="127.0.0.1")) as client:
        yield client


@asynccontextmanager
async def served(*, client_token=None, **options):
    async with TestServer(make_app("csm", **options), host="127.0.0.1") as server:
        gym = HttpGym({"csm": str(server.make_url(""))}, token=client_token)
        try:
            yield gym, server.app[DATABASES]
        finally:
            await gym.close()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "seed.sql").write_text(SEED)
    return Task(
        task_id="t",
        domain="csm",
        policy="p",
        request="r",
        tools=(),
        servers=(GymServer(name=SERVER, seed_file="seed.sql", context={"x-user-email": "ann@example.com"}),),
        checks=(),
        seed_root=str(tmp_path),
    )


@pytest.mark.parametrize("sent", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "secret"}])
@pytest.mark.parametrize("path", ["/api/schema", "/robustops/state", "/openapi.json", "/nowhere"])
async def test_without_the_token_nothing_but_health_answers(sent, path):
    async with csm(token="secret") as client:
        response = await client.get(path, headers=sent)
        assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert (await client.get("/health", headers=sent)).status == 200


async def test_with_the_token_everything_answers():
    async with csm(token="secret") as client:
        assert (await client.get("/api/schema", headers={"Authorization": "Bearer secret"})).status == 200


async def test_the_client_gets_in_with_the_token_and_not_without(task):
    async with served(token="secret", client_token="secret") as (gym, _), gym.open(task) as session:
        assert (await session.query("SELECT COUNT(*) AS n FROM user"))["data"] == [{"n": 1}]
    async with served(token="secret") as (gym, _):
        with pytest.raises(GymUnavailable, match="401: A bearer token is required"):
            async with gym.open(task):
                pytest.fail("opened")


async def test_the_token_goes_to_no_server_that_a_task_alone_names(task):
    server = replace(task.servers[0], url="http://elsewhere.example:8001")
    gym = HttpGym(token="secret")
    with pytest.raises(ConfigError, match=r"its task names http://elsewhere\.example:8001; set gym\.urls"):
        async with gym.open(replace(task, servers=(server,))):
            pytest.fail("opened")
    assert gym.traffic.num_requests == 0
    await gym.close()


@pytest.mark.parametrize(("origin", "status"), [("https://evil.example", 403), ("http://localhost:3000", 200)])
async def test_a_browser_page_of_another_origin_is_refused(origin, status):
    async with csm() as client:
        assert (await client.get("/health", headers={"Origin": origin})).status == status


async def test_a_page_whose_name_was_made_to_point_here_is_refused():
    async with csm() as client:
        named = {"Origin": "http://evil.example", "Host": "evil.example"}
        assert (await client.get("/health", headers=named)).status == 403


async def test_a_snapshot_over_http_brings_the_clock_back(task):
    async with served() as (gym, _), gym.open(task) as session:
        start = await session.snapshot()
        first = await session.call(*GROUP)
        await session.restore(start)
        assert (await session.call(*GROUP)).text == first.text  # same id, same second


async def test_a_snapshot_taken_in_process_continues_over_http_and_back(task):
    newer = ("add_new_user_group", {"name": "Newer", "type": "support", "active": True})
    async with served() as (gym, _), gym.open(task) as remote, EmbeddedGym(toolboxes=[CSM]).open(task) as embedded:
        await embedded.call(*GROUP)
        await remote.restore(await embedded.snapshot())
        assert await remote.state_hash() == await embedded.state_hash()
        assert (await remote.call(*newer)).text == (await embedded.call(*newer)).text
        await remote.call("add_new_user_group", {"name": "Third", "type": "support", "active": True})
        await embedded.restore(await remote.snapshot())
        assert await remote.state_hash() == await embedded.state_hash()


@pytest.mark.parametrize("clock", ["-1", "x", "1e3", "9" * 12])
async def test_a_clock_that_is_no_count_is_refused(clock):
    async with csm() as client:
        await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": SEED})
        headers = {"x-database-id": "db_1", "x-user-email": "ann@example.com", "robustops-clock": clock}
        body = {"id": 2, "method": "tools/call", "params": {"name": GROUP[0], "arguments": GROUP[1]}}
        assert (await client.post("/mcp", json=body, headers=headers)).status == 400


def packed(content, **changes):
    server = ServerSnapshot(name=DATABASE, form="sqlite", content=content)
    return pack(Snapshot(**{"num_writes": 0, "servers": (server,), **changes}))


async def test_bytes_that_are_no_database_of_this_schema_are_refused_and_change_nothing(task):
    other = load_toolbox("csm")
    async with csm() as client:
        await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": SEED})
        headers = {"x-database-id": "db_1"}
        before = await (await client.get("/robustops/state", headers=headers)).json()
        engine = client.app[DATABASES].engine("db_1")
        good = engine.database.dump()
        trigger = Databases(other, max_databases=1)
        await trigger.seed("db_2", SEED)
        trigger.engine("db_2").database.rows("CREATE TRIGGER t AFTER INSERT ON user BEGIN DELETE FROM user; END")
        for content in (
            b"",
            b"nonsense",
            packed(b"nonsense" * 64),
            packed(good[: len(good) // 2]),
            packed(trigger.engine("db_2").database.dump()),
            packed(good, num_writes=None),
        ):
            response = await client.put("/robustops/snapshot", data=content, headers=headers)
            assert response.status == 400, content[:20]
        assert await (await client.get("/robustops/state", headers=headers)).json() == before
        assert (await client.put("/robustops/snapshot", data=packed(good), headers=headers)).status == 200
        trigger.close()


async def test_the_extension_needs_a_database():
    async with csm() as client:
        assert (await client.get("/robustops/state")).status == 422
        assert (await client.get("/robustops/state", headers={"x-database-id": "db_9"})).status == 404


async def test_a_seed_is_sent_once_and_named_by_its_hash_afterwards(task):
    async with served() as (gym, _):
        sizes = []
        for _ in range(3):
            before = gym.traffic.num_requests
            async with gym.open(task) as session:
                await session.query("SELECT 1")
            sizes.append(gym.traffic.num_requests - before)
        assert sizes == [3 + 1 + 1 + 1, 3, 3]  # handshake, seed, query, delete; then no handshake


async def test_a_hash_that_the_server_does_not_know_is_answered_by_the_whole_seed(task):
    """The store holds one seed, and another client's pushes this one out."""
    other = SEED.replace("Ann", "Bea")
    async with TestServer(make_app("csm", seeds=SeedStore(max_bytes=1)), host="127.0.0.1") as server:
        gym = HttpGym({"csm": str(server.make_url(""))})
        async with gym.open(task):
            await server.app[DATABASES].seed("db_other", other)
        async with gym.open(task) as session:
            assert (await session.query("SELECT first_name FROM user"))["data"] == [{"first_name": "Ann"}]
        await gym.close()


async def test_seeding_by_hash_gives_the_seed_and_nothing_of_the_last_session():
    async with csm() as client:
        await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": SEED})
        client.app[DATABASES].engine("db_1").database.rows("DELETE FROM user")
        sha = hashlib.sha256(SEED.encode()).hexdigest()
        again = await client.post("/api/seed-database", json={"database_id": "db_1", "sql_sha256": sha})
        assert again.status == 200
        assert client.app[DATABASES].engine("db_1").database.rows("SELECT COUNT(*) FROM user") == [(1,)]
        unknown = await client.post("/api/seed-database", json={"database_id": "db_1", "sql_sha256": "0" * 64})
        assert unknown.status == 409


async def test_idle_databases_are_swept_and_used_ones_stay():
    now = 0.0
    databases = Databases(CSM, max_databases=9, now=lambda: now)
    for name in ("old", "used"):
        await databases.seed(name, SEED)
    now = 50.0
    databases.engine("used")
    now = 101.0
    assert await databases.sweep(100.0) == 1
    databases.engine("used")
    with pytest.raises(Refusal, match="not found"):
        databases.engine("old")
    databases.close()


async def test_a_running_server_sweeps_by_itself():
    async with csm(max_idle_s=0.02) as client:
        await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": SEED})
        async with asyncio.timeout(10):
            while len(client.app[DATABASES]):
                await asyncio.sleep(0.005)


async def test_a_clone_has_the_clock_of_its_source():
    async with csm() as client:
        await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": SEED})
        client.app[DATABASES].opened("db_1").clock.num_writes = 7
        body = {"source_database_id": "db_1", "database_id": "db_2"}
        await client.post("/api/clone-database", json=body)
        state = await client.get("/robustops/state", headers={"x-database-id": "db_2"})
        assert (await state.json())["writes"] == 7


async def test_a_server_that_was_started_again_is_infrastructure_and_not_a_models_mistake(task):
    async with served() as (gym, databases), gym.open(task) as session:
        databases.close()  # all databases are gone
        with pytest.raises(GymUnavailable, match="started again"):
            await session.call(*GROUP)


async def test_rows_of_a_server_that_gives_no_bytes_away_are_taken_by_one_that_does(task):
    async with (
        served(extended=False) as (plain_gym, _),
        served() as (gym, databases),
        plain_gym.open(task) as plain,
        gym.open(task) as session,
    ):
        await plain.call(*GROUP)
        rows = await plain.snapshot()
        await session.restore(rows)
        assert await session.state_hash() == await plain.state_hash()
        assert len(databases) == 1


async def test_bytes_for_a_server_that_takes_none_name_it(task):
    async with (
        served(extended=False) as (plain_gym, _),
        EmbeddedGym(toolboxes=[CSM]).open(task) as embedded,
        plain_gym.open(task) as plain,
    ):
        with pytest.raises(SnapshotUnsupported, match=f"{SERVER}: takes no database bytes"):
            await plain.restore(await embedded.snapshot())


async def test_without_the_extension_the_handshake_and_the_routes_are_the_benchmarks():
    body = {"id": 2, "method": "initialize", "params": {}}
    async with csm(extended=False) as plain, csm() as extended:
        assert (await plain.get("/robustops/state", headers={"x-database-id": "db_1"})).status == 404
        told = [await (await client.post("/mcp", json=body)).json() for client in (plain, extended)]
    assert told[0]["result"]["capabilities"] == {"tools": {}, "logging": {}, "prompts": {}, "resources": {}}
    assert told[1]["result"]["capabilities"]["experimental"] == {"robustops": {"version": 1}}


async def test_rows_are_refused_by_the_embedded_gym(task):
    rows = pack(Snapshot(num_writes=None, servers=(ServerSnapshot(name=SERVER, form="rows", content=b""),)))
    async with EmbeddedGym(toolboxes=[CSM]).open(task) as session:
        with pytest.raises(GymError, match="rows away alone"):
            await session.restore(rows)
