"""The gateway before the benchmark's containers: which of them has a database, and when one is replaced."""

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer
from runtime_stage import FakeRuntime, container, until

from robustops.gym.runtime.gateway import Gateway, make_gateway_app


@pytest.fixture
def fake(tmp_path, monkeypatch):
    return FakeRuntime(tmp_path, monkeypatch)


@asynccontextmanager
async def gateway(fake, **options):
    """A gateway before well-behaved containers, its URL, and a way to speak to it."""
    settings = {"restart_after": 10**6, "max_idle_s": 10**6, **options}
    behind = Gateway(lambda: container(fake)[0], **settings)
    await behind.start()
    app = make_gateway_app(behind, max_body_bytes=10**6, token=None)
    try:
        async with TestServer(app, host="127.0.0.1") as server, aiohttp.ClientSession(server.make_url("/")) as http:
            yield behind, Speaker(http)
    finally:
        await behind.close()


class Speaker:
    def __init__(self, http):
        self.http = http

    async def seed(self, database_id):
        body = {"database_id": database_id, "sql_content": "x"}
        async with self.http.post("/api/seed-database", json=body) as response:
            return response.status

    async def pid(self, database_id):
        """The process that holds the database, or the status of a refusal."""
        async with self.http.post("/mcp", json={}, headers={"x-database-id": database_id}) as response:
            return (await response.json())["data"][0]["pid"] if response.status == 200 else response.status

    async def delete(self, database_id):
        async with self.http.delete("/api/delete-database", json={"database_id": database_id}) as response:
            return response.status

    async def kill(self, database_id):
        async with self.http.post("/api/die", json={}, headers={"x-database-id": database_id}) as response:
            return response.status


async def test_the_gateway_passes_requests_and_headers_through(fake):
    async with gateway(fake) as (_, speak):
        assert await speak.seed("db_1") == 200
        headers = {"x-database-id": "db_1", "x-user-email": "a@b.c", "mcp-session-id": "s"}
        async with speak.http.post("/api/sql-runner?limit=3", json={}, headers=headers) as response:
            seen = {name.lower(): value for name, value in (await response.json())["headers"].items()}
        assert headers.items() <= seen.items()
        assert await speak.delete("db_1") == 200
        assert await speak.pid("db_1") == 404
    assert fake.living() == []


async def test_a_container_is_replaced_before_it_runs_out_and_no_session_notices(fake):
    """Each container can take four seeds; after three a fresh one is started beside it."""
    fake.set(seeds=4)
    async with gateway(fake, restart_after=3) as (behind, speak):
        for number in range(9):
            assert await speak.seed(f"db_{number}") == 200
            if number % 3 == 2:
                await until(lambda number=number: len(fake.notes("up")) == number // 3 + 2)
                await until(lambda number=number: len(behind.containers) == number // 3 + 2)
        pids = [await speak.pid(f"db_{number}") for number in range(9)]
        assert [len(set(pids[start : start + 3])) for start in range(0, 9, 3)] == [1, 1, 1]
        assert len(set(pids)) == 3  # every database is still where it was made
        for number in range(9):
            assert await speak.delete(f"db_{number}") == 200
        await until(lambda: len(fake.living()) == 1)
        assert len(behind.containers) == 1
    assert fake.living() == []


async def test_a_database_that_is_seeded_again_stays_where_it_is(fake):
    async with gateway(fake, restart_after=1) as (behind, speak):
        await speak.seed("db_1")
        await until(lambda: len(behind.containers) == 2)
        before = await speak.pid("db_1")
        await speak.seed("db_1")
        assert await speak.pid("db_1") == before


async def test_a_container_that_ends_by_itself_is_replaced_and_its_databases_are_lost(fake):
    async with gateway(fake) as (_, speak):
        await speak.seed("db_1")
        first = await speak.pid("db_1")
        await speak.kill("db_1")
        await until(lambda: len(fake.notes("up")) == 2)
        async with asyncio.timeout(20):
            while await speak.seed("db_2") != 200:
                await asyncio.sleep(0.01)
        assert await speak.pid("db_2") not in (first, 404)
        assert await speak.pid("db_1") == 404


async def test_while_no_container_is_there_the_gateway_says_so(fake):
    async with gateway(fake) as (behind, speak):
        fake.set(mode="dies")
        await speak.seed("db_1")
        await speak.kill("db_1")
        await until(lambda: behind.containers == ())
        assert await speak.seed("db_2") == 503


async def test_databases_that_nobody_uses_are_deleted_so_that_an_old_container_can_go(fake):
    now = 0.0
    async with gateway(fake, restart_after=1, max_idle_s=100.0, now=lambda: now) as (behind, speak):
        await speak.seed("db_left")
        await until(lambda: len(behind.containers) == 2)
        await speak.seed("db_used")
        now = 90.0
        await speak.pid("db_used")
        now = 101.0
        await behind.sweep()
        await until(lambda: len(behind.containers) >= 1 and await_free(fake, behind))
        assert await speak.pid("db_used") != 404
        assert await speak.pid("db_left") == 404


def await_free(fake, behind):
    return len(fake.living()) == len(behind.containers)


async def test_the_gateway_asks_for_its_token(fake):
    behind = Gateway(lambda: container(fake)[0], restart_after=9, max_idle_s=9.0)
    app = make_gateway_app(behind, max_body_bytes=10, token="secret")
    async with TestClient(TestServer(app, host="127.0.0.1")) as client:
        assert (await client.get("/api/schema")).status == 401
