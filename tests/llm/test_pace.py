"""The rate limit: when each request may start, on a clock that only sleeping moves."""

import asyncio

import pytest

from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.pace import Pace
from tests.llm.fake_endpoint import chat_reply, served


class Clock:
    def __init__(self):
        self.now = 100.0
        self.slept = []

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.slept.append(seconds)


async def test_starts_are_evenly_spaced():
    """30 a minute is one every two seconds: three at once wait 0, 2 and 4 seconds."""
    clock = Clock()
    pace = Pace(30, sleep=clock.sleep, clock=clock)
    await asyncio.gather(*(pace.wait() for _ in range(3)))
    assert clock.slept == pytest.approx([2.0, 4.0])


async def test_a_late_start_moves_the_next_one_so_that_no_two_come_closer():
    """A busy machine wakes the second 1.5 s late, at 103.5: the third may start at 105.5, not at 104."""
    clock = Clock()

    async def sleep_too_long(seconds):
        clock.now += seconds + (1.5 if not clock.slept else 0)
        clock.slept.append(seconds)

    pace, starts = Pace(30, sleep=sleep_too_long, clock=clock), []
    for _ in range(3):
        await pace.wait()
        starts.append(clock.now)
    assert starts == pytest.approx([100, 103.5, 105.5])


async def test_time_that_passed_by_itself_is_not_waited_for_again():
    clock = Clock()
    pace = Pace(60, sleep=clock.sleep, clock=clock)
    await pace.wait()
    clock.now += 0.75
    await pace.wait()
    clock.now += 10
    await pace.wait()
    assert clock.slept == pytest.approx([0.25])


async def test_without_a_limit_nothing_waits():
    clock = Clock()
    pace = Pace(None, sleep=clock.sleep, clock=clock)
    for _ in range(100):
        await pace.wait()
    assert clock.slept == []


def test_a_limit_below_one_is_refused():
    with pytest.raises(ValueError, match="expected at least 1"):
        Pace(0)


async def test_a_client_with_a_limit_waits_between_its_requests():
    clock = Clock()
    async with served(chat_reply("ok")) as endpoint:
        client = HttpCompletion(Endpoint(url=endpoint.url, model="m", requests_per_minute=1), sleep=clock.sleep)
        for _ in range(3):
            await client.complete([{"role": "user", "content": "hi"}])
        await client.close()
    assert len(clock.slept) == 2, "the first goes out at once"
    assert clock.slept == pytest.approx([60, 120], abs=20), "sleeping here takes no time, so the places add up"
