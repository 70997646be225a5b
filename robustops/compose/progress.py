"""Progress with an estimate of the time left: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Report = Callable[[int, int, str], None]  # done, total, note
SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress(title: str, *, every_note: bool = False) -> Iterator[Report]:
    """Yield a function to call with (done, total, note) as often as convenient; `every_note`: each is worth a line."""
    if sys.stdout.isatty():
        with _bar(title, every_note) as report:
            yield report
    else:
        yield _lines(title, 0.0 if every_note else SECONDS_BETWEEN_LINES)


@contextmanager
def _bar(title: str, every_note: bool) -> Iterator[Report]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )

    def report(done: int, total: int, note: str) -> None:
        if every_note:
            bars.console.print(f"{done}/{total} {note}", highlight=False)
            note = ""
        bars.update(bar, completed=done, total=total, note=note)

    with Progress(*columns) as bars:
        bar = bars.add_task(title, total=None, note="")
        yield report


def _lines(title: str, least_s: float, clock: Callable[[], float] = time.monotonic) -> Report:
    started = last = clock()
    base: tuple[float, int] | None = None  # when counting began, and what a resumed run had done by then

    def report(done: int, total: int, note: str) -> None:
        nonlocal last, base
        now = clock()
        if base is None:
            base = (started, 0) if done <= 1 else (now, done)
        if now - last < least_s and done < total:
            return
        last = now
        since, had = base
        left = f"{(now - since) / (done - had) * (total - done):.0f} s left" if done > had else "..."
        print(f"{title}: {done}/{total}, {now - started:.0f} s, {left} {note}".rstrip(), flush=True)

    return report
