"""What a case costs in tokens and tool calls, against the preceding stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.align import Alignment, Condition, Run
from analysis.change import relative_change, signed_percent, signed_percent_interval
from analysis.document import Section, Table
from robustops.core.tables import EpisodeRow

AMOUNTS: dict[str, Callable[[EpisodeRow], float]] = {
    "Tokens": lambda row: row.prompt_tokens + row.completion_tokens,
    "Completion tokens": lambda row: row.completion_tokens,
    "Tool calls": lambda row: row.tool_calls,
}


def costs_section(alignment: Alignment, *, rng: np.random.Generator) -> Section:
    rows = []
    for condition in alignment.conditions:
        for number, run in enumerate(alignment.runs):
            before = alignment.runs[number - 1] if number else None
            rows.append(_row(alignment, before, run, condition, rng))
    columns = ["Model", "Condition", "Cases"]
    for name in AMOUNTS:
        columns += [f"{name} per case", f"{name} change", f"{name} 95%"]
    return Section(
        title="Cost per case",
        intro=(
            "How to read this: means per case, and the change against the preceding stage in per cent on the same "
            "cases (tokens: all prompt and completion tokens of an episode). Cases that ended for infrastructure in "
            "either model have no meaningful cost and are left out here, and only here.",
        ),
        tables=(Table(title="Tokens and tool calls", columns=tuple(columns), rows=tuple(rows)),),
        is_key=True,
    )


def _row(
    alignment: Alignment, before: Run | None, run: Run, condition: Condition, rng: np.random.Generator
) -> tuple[str, ...]:
    now = alignment.rows(run, condition)
    earlier = alignment.rows(before, condition) if before else now
    pairs = [(old, new) for old, new in zip(earlier, now, strict=True) if not (_is_broken(old) or _is_broken(new))]
    cells = [run.name, condition, str(len(pairs))]
    for amount in AMOUNTS.values():
        old, new = [amount(pair[0]) for pair in pairs], [amount(pair[1]) for pair in pairs]
        cells.append(f"{np.mean(new):,.1f}" if new else "none")
        if before is None or not sum(old):
            cells += ["", ""]
        else:
            change = relative_change(old, new, rng=rng)
            spread = signed_percent_interval(change.interval) if change.interval else ""
            cells += [signed_percent(change.estimate), spread]
    return tuple(cells)


def _is_broken(row: EpisodeRow) -> bool:
    return row.stop_reason == "infrastructure"
