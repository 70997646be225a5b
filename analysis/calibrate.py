"""Repeated runs of tasks in; what they say about the tasks, and a list of those worth training on, out.

    python -m analysis.calibrate runs/rl --out calibration
    python -m robustops.train +experiment=rl120 split.curriculum=calibration/curriculum.txt

Repeats are the attempts of an evaluation, or the groups of a training run. Out come the mixed-outcome band,
the share of mixed groups, the noise floor of a single run, and how many tasks show a given difference. `curriculum.txt`
lists the tasks within the band, the easiest first. Reads result files only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.align import CONDITIONS
from analysis.arguments import answer, command_parser, parse
from analysis.difficulty import mixed_groups, mixed_share, noise_floor, rerun_discordance, tasks_needed
from analysis.document import Document, Section, Table
from analysis.figures import draw, plot_counts
from analysis.passk import SEED, Attempts
from analysis.report import write
from analysis.result import percent, percent_interval
from analysis.source import Source, open_sources
from robustops.core.errors import TableError, UserError
from robustops.core.files import write_atomically
from robustops.core.task import Condition

DIFFERENCES = (0.02, 0.05, 0.10)


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)), mistakes=(UserError, ValueError))


def _run(args: argparse.Namespace) -> None:
    (run,) = open_sources([args.run])
    out = args.out or args.run / "calibration"
    tasks = {condition: _attempts(run, condition) for condition in CONDITIONS}
    tasks = {condition: found for condition, found in tasks.items() if found}
    write(_document(run, tasks, args.group_size), out)
    chosen = _band(tasks[args.condition], args.low, args.high) if args.condition in tasks else []
    remark = f"# success within {args.low:g} to {args.high:g} over {args.condition} runs of {run.rows[0].model}"
    write_atomically(out / "curriculum.txt", "\n".join([remark, *chosen, ""]).encode())
    print(f"calibration: {out / 'report.html'}\n{len(chosen)} tasks: {out / 'curriculum.txt'}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.calibrate", __doc__)
    parser.add_argument("run", type=Path, metavar="RUN", help="evaluation with several attempts, or training run")
    parser.add_argument("--low", type=float, default=0.01, help="least success rate of a listed task (default 0.01)")
    parser.add_argument("--high", type=float, default=0.99, help="highest (default 0.99)")
    parser.add_argument("--condition", choices=CONDITIONS, default="clean", help="which runs the list goes by")
    parser.add_argument("--group-size", type=int, default=4, metavar="G", help="runs in a training group (default 4)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: calibration/ in the run)")
    return parse(parser, arguments)


def _attempts(run: Source, condition: Condition) -> dict[str, Attempts]:
    """By task. Raises TableError where there is nothing to compare a run with."""
    wins: dict[str, list[bool]] = {}
    for row in run.rows:
        if row.condition == condition and not row.supplemented:
            wins.setdefault(row.task_id, []).append(row.success is True)
    if any(len(outcomes) < 2 for outcomes in wins.values()):
        raise TableError(
            f"{run.folder}: its tasks ran once; calibration compares reruns: evaluate with evaluation.attempts=8 "
            "evaluation.temperature=1"
        )
    return {task: Attempts(num_runs=len(found), num_solved=sum(found)) for task, found in wins.items()}


def _band(tasks: dict[str, Attempts], low: float, high: float) -> list[str]:
    rates = {task_id: found.num_solved / found.num_runs for task_id, found in tasks.items()}
    return sorted((task for task, rate in rates.items() if low <= rate <= high), key=lambda task: -rates[task])


def _document(run: Source, tasks: dict[Condition, dict[str, Attempts]], group_size: int) -> Document:
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
