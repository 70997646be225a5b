"""Snapshots over HTTP: a dump that seeds another database, and what is refused as one."""

import json
import zlib

import pytest
from fake_container import container, task
from gym_client import http_gym

from robustops.core.errors import GymError, SnapshotUnsupported


async def test_a_snapshot_is_restored_into_a_fresh_database(tmp_path):
    async with container() as fake, http_gym() as gym:
        async with gym.open(task(tmp_path, fake.url)) as session:
            before = await session.state_hash()
            snapshot = await session.snapshot()
            await session.call("add", {"name": "x"})
            after = await session.state_hash()
            await session.restore(snapshot)
            assert await session.state_hash() == before != after
            assert json.loads((await session.call("add", {"name": "x"})).text)[-1] == "x"
            assert await session.state_hash() == after
            assert len(fake.databases) == 1
        assert fake.databases == {}


async def test_a_second_session_takes_over_a_snapshot_and_sees_no_later_writes(tmp_path):
    async with container() as fake, http_gym() as gym:
        its_task = task(tmp_path, fake.url)
        async with gym.open(its_task) as one, gym.open(its_task) as two:
            await one.call("add", {"name": "shared"})
            await two.restore(await one.snapshot())
            assert await two.state_hash() == await one.state_hash()
            await one.call("add", {"name": "later"})
            assert json.loads((await two.call("names", {})).text) == ["first", "semi; colon", "shared"]


async def test_a_server_that_changes_what_it_is_seeded_with_cannot_be_snapshotted(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        snapshot = await session.snapshot()
        fake.fixup = "INSERT INTO item (name) VALUES ('of the server');"
        with pytest.raises(SnapshotUnsupported, match=r"server-0: .* differs from it in: item"):
            await session.restore(snapshot)
        assert len(json.loads((await session.call("names", {})).text)) == 2  # still on the old database


async def test_a_server_that_refuses_its_dump_cannot_be_snapshotted(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        snapshot = await session.snapshot()
        fake.statuses["/api/seed-database"] = 400
        with pytest.raises(SnapshotUnsupported, match="server-0: refuses its own dump"):
            await session.restore(snapshot)


@pytest.mark.parametrize("content", [b"", b"nonsense", zlib.compress(b"[]"), zlib.compress(b'{"other": {}}')])
async def test_bytes_that_are_no_snapshot_leave_the_session_as_it_is(tmp_path, content):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        with pytest.raises(GymError, match="restore"):
            await session.restore(content)
        assert fake.routes().count("/api/seed-database") == 1


async def test_a_snapshot_of_other_servers_is_refused(tmp_path):
    async with container() as one, container() as two, http_gym() as gym:
        async with gym.open(task(tmp_path, one.url, two.url)) as session:
            snapshot = await session.snapshot()
        async with gym.open(task(tmp_path, one.url)) as session:
            with pytest.raises(GymError, match="a snapshot of server-0, server-1, but this session has server-0"):
                await session.restore(snapshot)
