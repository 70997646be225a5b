"""Bounded concurrency: items in, results out in the order of the items, one exception out when one fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@asynccontextmanager
async def first_failure() -> AsyncIterator[asyncio.TaskGroup]:
    """Leaves when all its tasks are done. The first exception cancels the others, then rises by itself."""
    try:
        async with asyncio.TaskGroup() as tasks:
            yield tasks
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0]  # noqa: B904  # its own cause stays


async def run_bounded(
    items: Sequence[Item], work: Callable[[Item], Awaitable[Result]], *, concurrency: int
) -> list[Result]:
    """At most `concurrency` at a time, begun in order. The first exception cancels the others, then rises."""
    if concurrency < 1:
        raise ValueError(f"concurrency: expected at least 1, got {concurrency}")
    results: dict[int, Result] = {}
    queue = iter(enumerate(items))

    async def worker() -> None:
        for index, item in queue:
            results[index] = await work(item)

    async with first_failure() as tasks:
        for _ in range(min(concurrency, len(items))):
            tasks.create_task(worker())
    return [results[index] for index in range(len(items))]


class Tickets:
    """Lets concurrent work pass one point in order: number 0 first, then 1. Each number must leave, failed or not."""

    def __init__(self) -> None:
        self._next = 0
        self._gone: set[int] = set()
        self._changed = asyncio.Condition()

    async def wait(self, number: int) -> None:
        """Return once all lower numbers have left."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._next >= number)

    async def leave(self, number: int) -> None:
        """Give the number up; a second time does nothing."""
        async with self._changed:
            self._gone.add(number)
            while self._next in self._gone:
                self._gone.remove(self._next)
                self._next += 1
            self._changed.notify_all()
