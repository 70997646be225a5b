"""Runs at several wordings and fault intensities in, the reliability surface out: pass^k over k, wording and intensity.

    python -m analysis.surface eval_p0_i0 eval_p0_i1 eval_p1_i0 eval_p1_i1 --out surface

Every run needs at least two attempts. Its clean cases are the column "none"; runs that share a place, as clean cases
often do, are pooled task by task. Wording is `evaluation.paraphrase` of a run's configuration, intensity that of its
fault plans. Reads result files only.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.align import Run, load_run
from analysis.arguments import answer, command_parser, parse
from analysis.document import Document, Section, Table
from analysis.figures import draw_panels, plot_reliability
from analysis.passk import SEED, Attempts, RepeatedRate, repeated_rate
from analysis.report import write
from analysis.result import percent, percent_interval
from robustops.core.errors import TableError
from robustops.core.json_lines import read_lines
from robustops.core.task import Condition

NO_FAULT = "none"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Point:
    """One place of the surface. `intensity`: "none", a number from 0 to 1, or "drawn" where each plan has its own."""

    model: str
    paraphrase: int
    intensity: str


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    out = args.out or args.runs[-1] / "surface"
    write(surface([load_run(folder) for folder in args.runs]), out)
    print(f"surface: {out / 'report.html'}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.surface", __doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folder of an evaluation")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: surface/ in the last run)")
    return parse(parser, arguments)


def surface(runs: Sequence[Run]) -> Document:
    """Up to the k that every place has runs for. Raises TableError for single attempts."""
    tasks = _tasks(runs)
    num_runs = min(attempts.num_runs for found in tasks.values() for attempts in found)
    if num_runs < 2:
        raise TableError(
            "some tasks ran once; the surface needs at least 2 runs of each at every place: evaluate with "
            "evaluation.attempts=4 evaluation.temperature=1"
        )
    rng = np.random.default_rng(SEED)
    rates = {
        (point, k): repeated_rate(found, k, "pass^k", rng=rng)
        for point, found in tasks.items()
        for k in range(1, num_runs + 1)
    }
    models = list(dict.fromkeys(point.model for point in tasks))
    return Document(
        title="Reliability surface",
        summary=tuple(_reading(model, rates, num_runs) for model in models),
        sections=tuple(_section(model, rates, num_runs) for model in models),
    )


def _tasks(runs: Sequence[Run]) -> dict[Point, list[Attempts]]:
    """Attempts by task at every point of the surface, pooled where several runs share a point."""
    wins: dict[Point, Counter[tuple[str, str]]] = defaultdict(Counter)
    counts: dict[Point, Counter[tuple[str, str]]] = defaultdict(Counter)
    for run in runs:
        paraphrase = int(((run.info.get("config") or {}).get("evaluation") or {}).get("paraphrase", 0))
        intensities: Mapping[Condition, str] = {"clean": NO_FAULT, "fault": _intensity(run)}
        for (condition, slot), row in run.rows.items():
            point = Point(model=run.name, paraphrase=paraphrase, intensity=intensities[condition])
            counts[point][slot.task_id, slot.tool_mode] += 1
            wins[point][slot.task_id, slot.tool_mode] += row.success is True
    return {
        point: [Attempts(num_runs=count, num_solved=wins[point][task]) for task, count in found.items()]
        for point, found in sorted(counts.items())
    }


def _intensity(run: Run) -> str:
    path = run.folder / "trajectories.jsonl"
    plans = (line["plan"] for line in read_lines(path) if line["plan"]) if path.is_file() else ()
    found = {plan.get("intensity") for plan in plans}
    return f"{found.pop():g}" if len(found) == 1 and None not in found else "drawn"


def _reading(model: str, rates: Mapping[tuple[Point, int], RepeatedRate], num_runs: int) -> str:
    all_runs = {point: rate for (point, k), rate in rates.items() if point.model == model and k == num_runs}
    best, worst = (pick(all_runs, key=lambda point: all_runs[point].estimate) for pick in (max, min))
    return (
        f"{model}: all of {num_runs} runs succeed on {percent(all_runs[best].estimate)} of tasks at {_place(best)}, "
        f"and on {percent(all_runs[worst].estimate)} at {_place(worst)}."
    )


def _place(point: Point) -> str:
    return f"wording {point.paraphrase} and intensity {point.intensity}"


def _section(model: str, rates: Mapping[tuple[Point, int], RepeatedRate], num_runs: int) -> Section:
    points = sorted({point for point, _ in rates if point.model == model}, key=_order)
    ticks = list(dict.fromkeys(point.intensity for point in sorted(points, key=lambda point: _order(point)[1:])))
    wordings = sorted({point.paraphrase for point in points})

    def lines(wording: int) -> dict[int, list[RepeatedRate | None]]:
        places = [Point(model=model, paraphrase=wording, intensity=tick) for tick in ticks]
        return {k: [rates.get((place, k)) for place in places] for k in range(1, num_runs + 1)}

    plots = [
        lambda ax, wording=wording: plot_reliability(
            lines(wording), ax, ticks=ticks, title=f"Wording {wording}, n = {_num_tasks(rates, model, wording)} tasks"
        )
        for wording in wordings
    ]
    caption = f"{model}: chance that all of k runs solve a task. Bars are 95% bootstrap intervals over tasks."
    rows = tuple(
        (
            str(point.paraphrase),
            point.intensity,
            str(rates[point, 1].n),
            *(cell for k in range(1, num_runs + 1) for cell in _cells(rates[point, k])),
        )
        for point in points
    )
    columns = tuple(text for k in range(1, num_runs + 1) for text in (f"pass^{k}", f"pass^{k} 95%"))
    return Section(
        title=model,
        intro=(
            "How to read this: from left to right faults get worse, from panel to panel the request is worded less "
            "plainly, and from light to dark more runs in a row must succeed. A reliable model stays flat in all three "
            "directions. Only faults of the manifest count, whether or not the model met them.",
        ),
        tables=(Table(title="pass^k", columns=("Wording", "Intensity", "Tasks", *columns), rows=rows),),
        figures=(draw_panels(f"surface-{model}".lower(), caption, plots, width=2.2 + 2.6 * len(wordings)),),
        is_key=True,
    )


def _order(point: Point) -> tuple[int, float]:
    """Without a fault first, drawn intensities last."""
    known = {NO_FAULT: -1.0, "drawn": 2.0}
    return point.paraphrase, known[point.intensity] if point.intensity in known else float(point.intensity)


def _num_tasks(rates: Mapping[tuple[Point, int], RepeatedRate], model: str, wording: int) -> int:
    return max(rate.n for (point, _), rate in rates.items() if (point.model, point.paraphrase) == (model, wording))


def _cells(rate: RepeatedRate) -> tuple[str, str]:
    return percent(rate.estimate), percent_interval(rate.interval) if rate.interval else ""


if __name__ == "__main__":
    sys.exit(main())
