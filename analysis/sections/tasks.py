"""What the cases of a run are: a data card of its tasks, from the run folder alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.document import Section, Table
from analysis.source import Source

Tasks = Sequence[Mapping[str, Any]]


def tasks_section(source: Source) -> Section | None:
    """None for a run folder without tasks.jsonl."""
    tasks = list(source.tasks.values())
    if not tasks:
        return None
    return Section(
        title="Tasks",
        intro=(
            "How to read this: one row a group of tasks; calls and tokens are medians over this run's episodes. Checks "
            "that hold before anything is done guard against side effects.",
        ),
        tables=(_by("domain", tasks, source), _by("template", tasks, source), _comparisons(tasks)),
    )


def _by(name: str, tasks: Tasks, source: Source) -> Table:
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for task in tasks:
        groups[str(task.get(name) or "unnamed")].append(task)
    rows_of = defaultdict(list)
    for row in source.rows:
        rows_of[row.task_id].append(row)
    lines = []
    for group, members in sorted(groups.items()):
        rows = [row for task in members for row in rows_of[task["task_id"]]]
        lines.append(
            (
                group,
                str(len(members)),
                _median([len(task["request"]) for task in members]),
                _median([len(task["tools"]) for task in members]),
                _median([len(task["checks"]) for task in members]),
                _median([row.tool_calls for row in rows]),
                _median([row.prompt_tokens + row.completion_tokens for row in rows]),
            )
        )
    return Table(
        title=f"By {name}",
        columns=("Group", "Tasks", "Request (characters)", "Tools offered", "Checks", "Calls", "Tokens"),
        rows=tuple(lines),
    )


def _median(values: Sequence[float]) -> str:
    return f"{np.median(values):,.0f}" if values else "none"


def _comparisons(tasks: Tasks) -> Table:
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for task in tasks:
        for check in task["checks"]:
            counts[check["kind"], check["comparison"]] += 1
    rows = tuple((kind, how, str(count)) for (kind, how), count in sorted(counts.items()))
    return Table(title="Checks", columns=("Kind", "Comparison", "Checks"), rows=rows)
