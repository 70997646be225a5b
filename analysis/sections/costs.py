"""What a case costs in tokens and tool calls, against the preceding stage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from analysis.align import Alignment, Run
from analysis.change import relative_change, signed_percent, signed_percent_interval
from analysis.document import Section, Table
from robustops.core.episode_row import EpisodeRow
from robustops.core.task import Condition

AMOUNTS: dict[str, Callable[[EpisodeRow], float]] = {
    "Tokens": lambda row: row.prompt_tokens + row.completion_tokens,
    "Completion tokens": lambda row: row.completion_tokens,
    "Tool calls": lambda row: row.tool_calls,
}


def costs_section(alignment: Alignment, *, rng: np.random.Generator) -> Section:
    rows = [
        row
        for condition in alignment.conditions
        for before, run in zip((None, *alignment.runs), alignment.runs, strict=False)
        for row in _rows(alignment, before, run, condition, rng)
    ]
    return Section(
        title="Cost per case",
        intro=(
            "How to read this: means per case, and the change against the preceding stage in per cent on the same "
            "cases (tokens: all prompt and completion tokens of an episode, a prompt counted again at every turn). "
            "Cases that ended for infrastructure in either model have no meaningful cost and are left out here, and "
            "only here.",
        ),
        tables=(
            Table(
                title="Tokens and tool calls",
                columns=("Model", "Condition", "Amount", "Cases", "Per case", "Change", "95% interval"),
                rows=tuple(rows),
            ),
        ),
        is_key=True,
    )


def _rows(
    alignment: Alignment, before: Run | None, run: Run, condition: Condition, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    now = alignment.rows(run, condition)
    earlier = alignment.rows(before, condition) if before else now
    pairs = [(old, new) for old, new in zip(earlier, now, strict=True) if not (_is_broken(old) or _is_broken(new))]
    rows: list[tuple[str, ...]] = []
    for name, amount in AMOUNTS.items():
        old, new = [amount(pair[0]) for pair in pairs], [amount(pair[1]) for pair in pairs]
        mean = f"{np.mean(new):,.1f}" if new else "none"
        change = spread = ""
        if before is not None and max(old, default=0) > 0:
            result = relative_change(old, new, rng=rng)
            change = signed_percent(result.estimate)
            spread = signed_percent_interval(result.interval) if result.interval else ""
        rows.append((run.name, condition, name, str(len(pairs)), mean, change, spread))
    return rows


def _is_broken(row: EpisodeRow) -> bool:
    return row.stop_reason == "infrastructure"
