"""A rate limit: requests per minute in, the wait before each of them out. Holds one number: when the next may start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable


class Pace:
    """Starts are evenly spaced, so that no window of a minute holds more than the limit. None never waits."""

    def __init__(
        self,
        requests_per_minute: int | None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if requests_per_minute is not None and requests_per_minute < 1:
            raise ValueError(f"requests_per_minute: got {requests_per_minute}, expected at least 1")
        self._gap_s = 60 / requests_per_minute if requests_per_minute is not None else 0.0
        self._sleep = sleep
        self._clock = clock
        self._next_s = 0.0
        self._turn = asyncio.Lock()

    async def wait(self) -> None:
        """Return when this request may start, in the order of asking. One that wakes late moves those behind it."""
        if not self._gap_s:
            return
        async with self._turn:
            now = self._clock()
            mine = max(now, self._next_s)
            if mine > now:
                await self._sleep(mine - now)
            self._next_s = max(mine, self._clock()) + self._gap_s
