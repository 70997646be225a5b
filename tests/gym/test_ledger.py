"""The ledger of databases: those that a killed process left on the servers are deleted by another."""

import asyncio
import os
import time
from pathlib import Path

from fake_container import container, task
from gym_client import http_gym

from robustops.gym.client import HttpGym
from robustops.gym.ledger import Ledger


def aged(folder: Path, seconds: float) -> None:
    """As if nobody had written to the ledgers for that long."""
    then = time.time() - seconds
    for path in folder.glob("*.jsonl"):
        os.utime(path, (then, then))


async def test_databases_of_a_killed_process_are_deleted_after_their_time(tmp_path):
    ledgers = tmp_path / "ledgers"
    async with container() as fake:
        urls = {"server-0": fake.url}
        killed = HttpGym(urls, ledger=Ledger(ledgers, ttl_s=100.0))
        session = await killed.open(task(tmp_path, "")).__aenter__()
        assert len(fake.databases) == 1
        async with http_gym(urls, ledger=Ledger(ledgers, ttl_s=100.0)) as gym:
            assert await gym.clean_up() == 0  # it may be alive
            assert len(fake.databases) == 1
            aged(ledgers, 101.0)
            assert await gym.clean_up() == 1
            assert fake.databases == {}
            assert list(ledgers.glob("*.jsonl")) == []
        await session.close()
        await killed.close()


async def test_the_janitor_runs_by_itself_when_a_gym_is_used(tmp_path):
    ledgers = tmp_path / "ledgers"
    async with container() as fake:
        left = Ledger(ledgers, ttl_s=100.0)
        left.made(fake.url, "db_left")
        left.close()
        aged(ledgers, 101.0)
        ledger = Ledger(ledgers, ttl_s=100.0)
        async with http_gym({"server-0": fake.url}, ledger=ledger) as gym, gym.open(task(tmp_path, "")):
            async with asyncio.timeout(10):
                while "db_left" not in fake.deleted:
                    await asyncio.sleep(0.005)


async def test_a_gym_that_closes_leaves_no_ledger_unless_a_database_stayed(tmp_path):
    ledgers = tmp_path / "ledgers"
    async with container() as fake:
        for status, num_files in ((None, 0), (500, 1)):
            if status:
                fake.statuses["/api/delete-database"] = status
            ledger = Ledger(ledgers, ttl_s=100.0)
            async with http_gym(ledger=ledger) as gym, gym.open(task(tmp_path, fake.url)):
                assert len(list(ledgers.glob("*.jsonl"))) == 1
            assert len(list(ledgers.glob("*.jsonl"))) == num_files


async def test_another_gyms_servers_are_left_to_its_janitor(tmp_path):
    ledgers = tmp_path / "ledgers"
    async with container() as fake, container() as other:
        left = Ledger(ledgers, ttl_s=100.0)
        left.made(other.url, "db_left")
        left.close()
        aged(ledgers, 101.0)
        async with http_gym({"server-0": fake.url}, ledger=Ledger(ledgers, ttl_s=100.0)) as gym:
            assert await gym.clean_up() == 0
        assert other.requests == []
        assert len(list(ledgers.glob("*.jsonl"))) == 1


def test_a_ledger_holds_what_is_open_and_survives_a_torn_line(tmp_path):
    left = Ledger(tmp_path, ttl_s=10.0)
    for name in ("a", "b", "c"):
        left.made("http://x", name)
    left.deleted("http://x", "b")
    left.close()
    (path,) = tmp_path.glob("*.jsonl")
    with path.open("a") as file:
        file.write('["made", "http')
    aged(tmp_path, 11.0)
    (found,) = Ledger(tmp_path, ttl_s=10.0).left_behind()
    assert found.databases == (("http://x", "a"), ("http://x", "c"))


def test_a_ledger_does_not_grow_with_the_number_of_sessions(tmp_path):
    ledger = Ledger(tmp_path, ttl_s=10.0)
    for number in range(1000):
        ledger.made("http://x", str(number))
        ledger.deleted("http://x", str(number))
    (path,) = tmp_path.glob("*.jsonl")
    assert path.stat().st_size == 0
    ledger.close()


async def test_a_disk_that_cannot_be_written_to_costs_the_ledger_and_no_episode(tmp_path, caplog):
    (tmp_path / "file").write_text("a file where a folder should be")
    async with container() as fake, http_gym(ledger=Ledger(tmp_path / "file" / "x", ttl_s=100.0)) as gym:
        for _ in range(3):
            async with gym.open(task(tmp_path, fake.url)) as session:
                assert not (await session.call("names", {})).is_error
    assert caplog.text.count("no ledger of databases") == 1
