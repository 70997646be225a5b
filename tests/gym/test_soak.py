"""Lifecycles by the thousand: nothing is left of any of them, neither descriptors nor memory nor objects."""

import asyncio
import gc
import logging
import os
import weakref
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer
from reliability_suite import scripts
from small_csm import SERVER, csm_task, write_seed

from robustops.gym.client import HttpGym
from robustops.gym.domains import load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.server import DATABASES, make_app

PROC = Path("/proc/self")
NUM_AT_ONCE = 8
ALLOWED_BYTES = 8 * 2**20  # allocators keep some; a leaked csm database a lifecycle would be a gigabyte

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (PROC / "statm").exists(), reason="/proc is needed to count descriptors and memory"),
]


@pytest.fixture(autouse=True)
def no_log_records():
    """pytest keeps every record of a test; those of a served lifecycle would count as left behind."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@dataclass(frozen=True, slots=True)
class Held:
    """What this process holds right now; `objects` without weak references: sqlite3 drops its dead ones late."""

    descriptors: int
    resident_bytes: int
    objects: int


def held() -> Held:
    gc.collect()
    pages = int((PROC / "statm").read_text().split()[1])
    num_objects = sum(type(item) is not weakref.ref for item in gc.get_objects())
    return Held(len(os.listdir(PROC / "fd")), pages * os.sysconf("SC_PAGE_SIZE"), num_objects)


async def lifecycles(gym, task, number, call, query):
    """Open, write, check, close; some at a time."""
    waiting = iter(range(number))

    async def work():
        for _ in waiting:
            async with gym.open(task) as session:
                assert not (await session.call(*call)).is_error
                assert len((await session.query(query))["data"]) == 1

    await asyncio.gather(*(work() for _ in range(NUM_AT_ONCE)))


async def assert_nothing_grows(gym, task, number, call, query):
    """The first tenth warms caches, pools and allocators; what is held after it must be enough for all the rest."""
    await lifecycles(gym, task, number // 10, call, query)
    before = held()
    await lifecycles(gym, task, number - number // 10, call, query)
    after = held()
    assert after.descriptors <= before.descriptors
    assert after.objects <= before.objects + number // 20
    assert after.resident_bytes <= before.resident_bytes + ALLOWED_BYTES


async def test_lifecycles_over_http_leave_nothing(tmp_path, sized):
    """Client and server live in this process, so that what either leaves behind is counted."""
    group = ("add_new_user_group", {"name": "Night", "type": "support", "active": True})
    async with TestServer(make_app("csm"), host="127.0.0.1") as server:
        gym = HttpGym({SERVER: str(server.make_url(""))})
        query = "SELECT COUNT(*) FROM user_group WHERE name = 'Night'"
        await assert_nothing_grows(gym, csm_task(write_seed(tmp_path)), sized(10_000), group, query)
        assert len(server.app[DATABASES]) == 0
        await gym.close()


@pytest.mark.skipif(find_spec("agentrelbench") is None, reason="the package agentrelbench is not installed")
async def test_lifecycles_of_the_real_csm_seed_in_process_leave_nothing(sized):
    task = next(script.task for script in scripts("csm"))
    gym = EmbeddedGym(toolboxes=(load_toolbox("csm"),))
    write = ("update_case", {"case_id": 3, "priority": "low"})
    await assert_nothing_grows(
        gym, task, sized(10_000), write, "SELECT priority FROM customer_case WHERE case_id = 3 AND priority = 'low'"
    )
