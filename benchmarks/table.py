"""One row per benchmark run: what was measured in, a line with machine, versions and commit in results.jsonl out."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from time import perf_counter

RESULTS = Path(__file__).resolve().parent / "results.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """Medians of two interleaved measurements and the ratio b / a, pair by pair, with its quartiles.

    The fastest ones tell what the work takes where nothing else runs: the longer work is interrupted more often.
    """

    a_ms: float
    b_ms: float
    a_fastest_ms: float
    b_fastest_ms: float
    ratio: float
    ratio_quartiles: tuple[float, float]
    num_pairs: int


def interleave(
    a: Callable[[], object],
    b: Callable[[], object],
    *,
    num_pairs: int,
    before: Callable[[], object] = lambda: None,
    calls: int = 1,
) -> Paired:
    """Time a and b in turn, so that both meet the same load of a shared machine. One pair is run before, untimed.

    `before` runs untimed ahead of each single measurement. `calls`: a measurement is the mean of so many calls.
    """

    def timed(work: Callable[[], object]) -> float:
        before()
        return _timed_ms(work, calls)

    timed(a), timed(b)
    times = [(timed(a), timed(b)) for _ in range(num_pairs)]
    ratios = [b_ms / a_ms for a_ms, b_ms in times]
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Paired(
        a_ms=statistics.median(a_ms for a_ms, _ in times),
        b_ms=statistics.median(b_ms for _, b_ms in times),
        a_fastest_ms=min(a_ms for a_ms, _ in times),
        b_fastest_ms=min(b_ms for _, b_ms in times),
        ratio=middle,
        ratio_quartiles=(low, high),
        num_pairs=num_pairs,
    )


def _timed_ms(work: Callable[[], object], calls: int) -> float:
    start = perf_counter()
    for _ in range(calls):
        work()
    return (perf_counter() - start) * 1000 / calls


def append_row(benchmark: str, values: Mapping[str, object], *, packages: Sequence[str]) -> dict[str, object]:
    """Append to results.jsonl and return the row."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent)
    row: dict[str, object] = {
        "benchmark": benchmark,
        **values,
        "commit": git.stdout.strip() or "unknown",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in packages},
    }
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    return row
