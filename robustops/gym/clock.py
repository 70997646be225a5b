"""The virtual clock: a fixed start, one second per write. Replies, hashes and resumed runs can thus be equal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

SQL_TIME = "%Y-%m-%d %H:%M:%S"
START = datetime(2026, 6, 1, 9, 0, 0)  # UTC; later than every creation date in the public seeds


@dataclass(slots=True)
class VirtualClock:
    """`num_writes` is its whole state: a snapshot stores that number."""

    num_writes: int = 0

    def tick(self) -> None:
        self.num_writes += 1

    def take_back(self) -> None:
        """A write that failed leaves no trace, the time included."""
        self.num_writes -= 1

    def now(self, time_format: str) -> str:
        return (START + timedelta(seconds=self.num_writes)).strftime(time_format)
