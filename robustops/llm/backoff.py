"""How long to wait before trying again. Attempt number and the server's wish in, seconds out. Sleeps nowhere."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential with full jitter below, so that clients refused together do not come back together."""

    max_tries: int = 6
    base_s: float = 0.5
    cap_s: float = 30.0

    def wait_s(self, attempt: int, rng: random.Random, retry_after_s: float | None = None) -> float:
        """`attempt` counts from 0. What the server asked for is a lower bound, jitter comes on top."""
        ceiling = min(self.cap_s, self.base_s * 2.0**attempt)
        if retry_after_s is not None:
            return retry_after_s + rng.uniform(0, self.base_s)
        return rng.uniform(ceiling / 2, ceiling)


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds asked for by a Retry-After header (a number, or an HTTP date); None where there is none to read."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())
