"""A run with repeated attempts in, what it says about the tasks out, and a list of those worth training on.

    python -m analysis.calibrate eval_train_x8 --out calibration
    python -m robustops.train +experiment=rl120 split.tasks=calibration/tasks.jsonl

The mixed-outcome band, the share of mixed groups, flaky tasks, the noise floor of a single run, and how many tasks show
a given difference. `tasks.jsonl` holds the tasks whose success rate lies within the band. Reads result files only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.align import CONDITIONS, Condition, Run, load_run
from analysis.arguments import command_parser, parse
from analysis.difficulty import mixed_groups, mixed_share, noise_floor, rerun_discordance, tasks_needed
from analysis.document import Document, Section, Table
from analysis.figures import draw, plot_counts
from analysis.passk import Attempts
from analysis.report import write
from analysis.result import percent, percent_interval
from robustops.core.errors import TableError, UserError
from robustops.core.tables import write_listing

SEED = 20_240_607  # of the bootstrap alone
DIFFERENCES = (0.02, 0.05, 0.10)


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        args = _parse(arguments)
        run = load_run(args.run)
        out = args.out or args.run / "calibration"
        tasks = {condition: _attempts(run, condition) for condition in CONDITIONS}
        tasks = {condition: found for condition, found in tasks.items() if found}
        write(_document(run, tasks, args.group_size), out)
        chosen = _band(tasks[args.condition], args.low, args.high) if args.condition in tasks else []
        rows = [{"task_id": task_id, "success_rate": round(rate, 4)} for task_id, rate in chosen]
        source = f"success within [{args.low:g}, {args.high:g}] over {args.condition} runs of {run.first_row.model}"
        write_listing(out / "tasks.jsonl", rows, kind="task_list", split=run.first_row.split, source=source)
    except (UserError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"calibration: {out / 'report.html'}\n{len(rows)} tasks: {out / 'tasks.jsonl'}")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.calibrate", __doc__)
    parser.add_argument("run", type=Path, metavar="RUN", help="run folder with evaluation.attempts of 2 or more")
    parser.add_argument("--low", type=float, default=0.01, help="least success rate of a listed task (default 0.01)")
    parser.add_argument("--high", type=float, default=0.99, help="highest (default 0.99)")
    parser.add_argument("--condition", choices=CONDITIONS, default="clean", help="which runs the list goes by")
    parser.add_argument("--group-size", type=int, default=4, metavar="G", help="runs in a training group (default 4)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: calibration/ in the run)")
    return parse(parser, arguments)


def _attempts(run: Run, condition: Condition) -> dict[str, Attempts]:
    """By task. Raises TableError where there is nothing to compare a run with."""
    wins: dict[str, list[bool]] = {}
    for (where, slot), row in run.rows.items():
        if where == condition:
            wins.setdefault(slot.task_id, []).append(row.success is True)
    if any(len(outcomes) < 2 for outcomes in wins.values()):
        raise TableError(
            f"{run.folder}: its tasks ran once; calibration compares reruns: evaluate with evaluation.attempts=8 "
            "evaluation.temperature=1"
        )
    return {task: Attempts(num_runs=len(found), num_solved=sum(found)) for task, found in wins.items()}


def _band(tasks: dict[str, Attempts], low: float, high: float) -> list[tuple[str, float]]:
    rates = ((task_id, found.num_solved / found.num_runs) for task_id, found in tasks.items())
    return [(task_id, rate) for task_id, rate in rates if low <= rate <= high]


def _document(run: Run, tasks: dict[Condition, dict[str, Attempts]], group_size: int) -> Document:
    sections = [_section(condition, list(found.values()), group_size) for condition, found in tasks.items()]
    return Document(
        title=f"Calibration by {run.name}",
        summary=tuple(reading for section in sections for reading in section.tables[0].readings[:2]),
        sections=tuple(sections),
    )


def _section(condition: Condition, tasks: list[Attempts], group_size: int) -> Section:
    rng = np.random.default_rng(SEED)
    band, floor, discordance = mixed_share(tasks), noise_floor(tasks), rerun_discordance(tasks)
    rows = [("Tasks solved in some runs and not in all", percent(band.estimate), percent_interval(band.interval))]
    readings = [f"{condition.capitalize()}: {band.num_successes} of {band.n} tasks are in the mixed band."]
    if min(task.num_runs for task in tasks) >= group_size:
        groups = mixed_groups(tasks, group_size, rng=rng)
        spread = percent_interval(groups.interval) if groups.interval else ""
        rows.append((f"Groups of {group_size} with both outcomes", percent(groups.estimate), spread))
        readings.append(groups.reading())
    rows += [
        ("Two runs of the policy differ on a task", percent(discordance), ""),
        ("Noise floor of one run, standard deviation", f"{100 * floor.estimate:.2f} pp", ""),
    ]
    needed = tuple(
        (f"{100 * difference:g} pp", str(tasks_needed(difference, discordance))) for difference in DIFFERENCES
    )
    rates = [task.num_solved / task.num_runs for task in tasks]
    caption = f"{condition.capitalize()}: tasks by the share of their runs that succeed. Both ends teach nothing."
    return Section(
        title=condition.capitalize(),
        intro=(
            "How to read this: a task that is always or never solved gives a group-relative update nothing. The noise "
            "floor is how far a rerun alone moves the success rate; a smaller difference of two runs means nothing.",
        ),
        tables=(
            Table(
                title="What reruns say",
                columns=("Quantity", "Value", "95% interval"),
                rows=tuple(rows),
                readings=(*readings, floor.reading()),
            ),
            Table(
                title="Tasks needed to show a difference of two single runs with 80% power",
                columns=("Difference", "Tasks"),
                rows=needed,
            ),
        ),
        figures=(draw(f"difficulty-{condition}", caption, lambda ax: plot_counts(rates, ax), height=2.8),),
        is_key=True,
    )


if __name__ == "__main__":
    sys.exit(main())
