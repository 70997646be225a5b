"""How long each tool took: seconds per call in, one row per server and tool out. Constant memory per tool."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLatency:
    gym: str
    tool: str
    num_calls: int
    mean_s: float
    max_s: float


class Latencies:
    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[float]] = {}  # number, sum, greatest

    def note(self, gym: str, tool: str, seconds: float) -> None:
        known = self._calls.setdefault((gym, tool), [0, 0.0, 0.0])
        known[0] += 1
        known[1] += seconds
        known[2] = max(known[2], seconds)

    def rows(self) -> tuple[ToolLatency, ...]:
        """The slowest first, by mean."""
        rows = [
            ToolLatency(gym=gym, tool=tool, num_calls=int(number), mean_s=total / number, max_s=greatest)
            for (gym, tool), (number, total, greatest) in self._calls.items()
        ]
        return tuple(sorted(rows, key=lambda row: row.mean_s, reverse=True))
