"""What the HTTP gym makes of a server that is away, hangs, breaks or refuses, and of an episode that is cancelled."""

import asyncio
import socket

import pytest
from fake_container import container, task
from gym_client import http_gym

from robustops.core.errors import GymError, GymTimeout, GymUnavailable, SeedError
from robustops.gym.transport import Timeouts

QUICK = Timeouts(call_s=0.05, query_s=0.05, handshake_s=0.05, seed_s=0.05, delete_s=0.05)


def free_url():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


async def test_a_server_that_is_not_there_is_unavailable(tmp_path):
    url = free_url()
    async with http_gym() as gym:
        with pytest.raises(GymUnavailable, match=url):
            async with gym.open(task(tmp_path, url)):
                pytest.fail("opened")


@pytest.mark.parametrize("route", ["initialize", "tools/list", "/api/seed-database", "tools/call", "/api/sql-runner"])
async def test_a_hanging_server_is_a_timeout_at_every_step(tmp_path, route):
    async def episode(gym, its_task):
        async with gym.open(its_task) as session:
            await session.call("names", {})
            await session.query("SELECT 1")

    async with container() as fake, http_gym(timeouts=QUICK) as gym:
        fake.hang.add(route)
        with pytest.raises(GymTimeout, match=r"no answer within 0\.05 s"):
            await episode(gym, task(tmp_path, fake.url))
        assert set(fake.databases) <= set(fake.deleted)


@pytest.mark.parametrize("status", [500, 502, 503, 429])
async def test_a_broken_server_is_unavailable_and_not_the_models_fault(tmp_path, status):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        fake.statuses["tools/call"] = status
        with pytest.raises(GymUnavailable, match=f"HTTP {status}: scripted tools/call"):
            await session.call("names", {})


async def test_a_failed_handshake_is_tried_again_by_the_next_session(tmp_path):
    async with container() as fake, http_gym() as gym:
        fake.statuses["tools/list"] = 404
        with pytest.raises(GymUnavailable, match="tools/list: HTTP 404"):
            async with gym.open(task(tmp_path, fake.url)):
                pytest.fail("opened")
        del fake.statuses["tools/list"]
        async with gym.open(task(tmp_path, fake.url)) as session:
            assert len(session.tools) == 3


async def test_a_server_without_tools_is_an_error_not_an_empty_tool_box(tmp_path):
    async with container() as fake, http_gym() as gym:
        fake.tools = ()
        with pytest.raises(GymError, match="tools/list: tools"):
            async with gym.open(task(tmp_path, fake.url)):
                pytest.fail("opened")


async def test_a_seed_that_does_not_run_is_a_seed_error(tmp_path):
    async with container() as fake, http_gym() as gym:
        its_task = task(tmp_path, fake.url)
        (tmp_path / "seed.sql").write_text("INSERT INTO nowhere VALUES (1);")
        with pytest.raises(SeedError, match=r"seed\.sql: Failed to seed database: no such table"):
            async with gym.open(its_task):
                pytest.fail("opened")


async def test_cancellation_during_a_call_deletes_the_database(tmp_path):
    async with container() as fake, http_gym() as gym:
        inside = asyncio.Event()

        async def episode():
            async with gym.open(task(tmp_path, fake.url)) as session:
                fake.hang.add("tools/call")
                inside.set()
                await session.call("names", {})

        running = asyncio.create_task(episode())
        await inside.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert fake.databases == {}
        assert len(fake.deleted) == 1


async def test_cancellation_during_the_seed_deletes_the_database(tmp_path):
    async with container() as fake, http_gym() as gym:
        its_task = task(tmp_path, fake.url)
        async with gym.open(its_task):
            pass
        fake.hang.add("/api/seed-database")
        fake.arrived.clear()
        running = asyncio.create_task(gym.open(its_task).__aenter__())
        await fake.arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        seeded = [body["database_id"] for route, _, body in fake.requests if route == "/api/seed-database"]
        assert fake.deleted == seeded


async def test_further_cancellations_cannot_stop_the_deletion(tmp_path):
    async with container() as fake, http_gym() as gym:
        inside = asyncio.Event()

        async def episode():
            async with gym.open(task(tmp_path, fake.url)):
                inside.set()
                await asyncio.Event().wait()

        running = asyncio.create_task(episode())
        await inside.wait()
        fake.hang.add("/api/delete-database")
        fake.arrived.clear()
        running.cancel()
        await fake.arrived.wait()  # the deletion is on its way
        for _ in range(3):
            running.cancel()
            await asyncio.sleep(0)
        fake.release.set()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert fake.databases == {}


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_that_cannot_delete_is_tolerated(tmp_path, status):
    async with container() as fake, http_gym() as gym:
        fake.statuses["/api/delete-database"] = status
        async with gym.open(task(tmp_path, fake.url)) as session:
            await session.call("names", {})


async def test_a_failed_deletion_does_not_hide_the_episodes_error(tmp_path, caplog):
    async with container() as fake, http_gym() as gym:
        fake.statuses["/api/delete-database"] = 500
        with pytest.raises(KeyError, match="episode"):
            async with gym.open(task(tmp_path, fake.url)):
                raise KeyError("episode")
    assert "may be left behind" in caplog.text
