"""Repeated runs of every task: mean@k, pass@k and pass^k per model, and paired differences with the task as unit."""

from __future__ import annotations

from collections import Counter

import numpy as np

from analysis.align import Alignment, Run, solved
from analysis.document import Section, Table
from analysis.passk import Attempts, Kind, pass_at_k, repeated_rate
from analysis.repeats import Repeats, flip_excess, paired_difference
from analysis.result import p_value, percent, percent_interval, points, points_interval
from robustops.core.errors import TableError
from robustops.core.task import Condition


def num_attempts(alignment: Alignment) -> int:
    return 1 + max((slot.attempt for slots in alignment.slots.values() for slot in slots), default=0)


def repeats_section(alignment: Alignment, *, rng: np.random.Generator) -> Section:
    """Only for two or more attempts. Raises TableError for a task that lacks one of them."""
    k = num_attempts(alignment)
    rates = [
        row
        for condition in alignment.conditions
        for run in alignment.runs
        for row in _rate_rows(_attempts(alignment, run, condition, k), (run.name, condition), k, rng)
    ]
    return Section(
        title="Repeated runs",
        intro=(
            f"How to read this: every task ran {k} times. mean@k is the chance that one run solves a task, pass@k that "
            "at least one of k runs does, pass^k that all k do: the first is skill, the last is reliability. Runs of "
            "one task are not independent, so the task is the unit: intervals redraw tasks, and the p-value flips the "
            "sign of whole tasks. Flip excess says how much more two models disagree than two runs of one model.",
        ),
        tables=(
            Table(
                title="Per model",
                columns=("Model", "Condition", "Statistic", "Tasks", "Value", "95% interval"),
                rows=tuple(rates),
            ),
            Table(
                title="Difference of mean@k, paired by task",
                columns=(
                    *("Comparison", "Condition", "Tasks", "Difference (pp)", "95% interval"),
                    *("Sign-flip p", "Flip excess (pp)", "Flip p"),
                ),
                rows=tuple(_difference_rows(alignment, k, rng)),
            ),
        ),
    )


def pass_sentences(alignment: Alignment) -> list[str]:
    """pass@1 and pass@k in words: what several runs of each task are made for."""
    k = num_attempts(alignment)
    sentences = []
    for condition in alignment.conditions:
        for run in alignment.runs:
            tasks = _attempts(alignment, run, condition, k)
            one, best = (percent(sum(pass_at_k(task, size) for task in tasks) / len(tasks)) for size in (1, k))
            sentences.append(
                f"{run.name} solves {one} of {len(tasks)} {condition} tasks in one run (Pass@1) and {best} in at least "
                f"one of {k} (Pass@{k})"
            )
    return sentences


def _attempts(alignment: Alignment, run: Run, condition: Condition, k: int) -> list[Attempts]:
    """Per (task, tool mode), in the order of the slots, so that every model has the same tasks in the same order."""
    slots = alignment.slots[condition]
    runs = Counter((slot.task_id, slot.tool_mode) for slot in slots)
    wins = Counter[tuple[str, str]]()
    for slot, is_solved in zip(slots, solved(alignment.rows(run, condition)), strict=True):
        wins[slot.task_id, slot.tool_mode] += is_solved
    for (task_id, tool_mode), count in runs.items():
        if count != k:
            raise TableError(
                f"{run.folder}: task {task_id} ({tool_mode}, {condition}) has {count} of {k} attempts in common with "
                "the other runs; evaluate all runs with the same number of attempts"
            )
    return [Attempts(num_runs=count, num_solved=wins[task]) for task, count in runs.items()]


def _rate_rows(
    tasks: list[Attempts], labels: tuple[str, str], k: int, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    kinds: list[tuple[Kind, int]] = [("mean@k", k)]
    for kind in ("pass@k", "pass^k"):
        kinds += [(kind, size) for size in range(1 if kind == "pass@k" else 2, k + 1)]
    rows: list[tuple[str, ...]] = []
    for kind, size in kinds:
        rate = repeated_rate(tasks, size, kind, rng=rng)
        spread = percent_interval(rate.interval) if rate.interval else ""
        rows.append((*labels, kind.replace("k", str(size)), str(rate.n), percent(rate.estimate), spread))
    return rows


def _difference_rows(alignment: Alignment, k: int, rng: np.random.Generator) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for earlier, later in alignment.steps:
        for condition in alignment.conditions:
            a, b = (_attempts(alignment, run, condition, k) for run in (later, earlier))
            difference = paired_difference([x.num_solved / k for x in a], [x.num_solved / k for x in b], rng=rng)
            repeats = [Repeats(solved_a=x.num_solved, solved_b=y.num_solved, k=k) for x, y in zip(a, b, strict=True)]
            excess = flip_excess(repeats, rng=rng)
            rows.append(
                (
                    f"{later.name} over {earlier.name}",
                    condition,
                    str(difference.n),
                    points(difference.estimate),
                    points_interval(difference.interval) if difference.interval else "",
                    p_value(1.0 if difference.p is None else difference.p),
                    points(excess.estimate),
                    p_value(excess.p),
                )
            )
    return rows
