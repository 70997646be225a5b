"""The folder of a multirun in, one comparison of its jobs out: what differed, what came of it, over all seeds.

    python -m analysis.multirun multirun/rl120/20260101-120000

Training jobs are compared by the first and last means of their curves, evaluations by success against the first job on
the same cases. Jobs that differ in `seed` alone are one setting. Reads result files only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from analysis.align import Alignment, Run, align, load_run
from analysis.arguments import answer, command_parser, parse
from analysis.document import Document, Section, Table
from analysis.figures import draw, plot_settings
from analysis.multiplicity import holm
from analysis.paired import mcnemar
from analysis.report import write
from analysis.result import p_value, percent, percent_interval, points, points_interval
from analysis.sections.gains import paired_table
from analysis.sections.headline import rate
from analysis.sections.training import Curve, read_curves
from robustops.core.errors import TableError

SEED_KEY = "seed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One folder of a multirun. `overrides`: what its command line set, such as {"seed": "2"}."""

    folder: Path
    overrides: Mapping[str, str]
    curves: tuple[Curve, ...]
    has_cases: bool


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    out = args.out or args.folder / "comparison"
    document = comparison(args.folder)
    write(document, out)
    print("\n".join(document.summary))
    print(f"comparison: {out / 'report.html'}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.multirun", __doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of a multirun, with one folder a job in it")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: comparison/ in DIR)")
    return parse(parser, arguments)


def read_jobs(folder: Path) -> list[Job]:
    """In Hydra's order. Raises TableError where no job left results."""
    if not folder.is_dir():
        raise TableError(f"{folder}: no such folder; give one that `python -m robustops.train -m ...` wrote")
    folders = sorted((path for path in folder.iterdir() if path.is_dir()), key=_order)
    jobs = [_job(path) for path in folders if (path / ".hydra" / "overrides.yaml").is_file()]
    if not any(job.curves or job.has_cases for job in jobs):
        raise TableError(f"{folder}: none of its {len(jobs)} jobs left metrics.csv or episodes; did they all fail?")
    return jobs


def _order(path: Path) -> tuple[int, str]:
    return (int(path.name) if path.name.isdigit() else sys.maxsize, path.name)


def _job(folder: Path) -> Job:
    listed = yaml.safe_load((folder / ".hydra" / "overrides.yaml").read_text()) or []
    split = [str(item).lstrip("+~").split("=", 1) for item in listed]
    metrics = folder / "metrics.csv"
    return Job(
        folder=folder,
        overrides={pair[0]: pair[1] if len(pair) > 1 else "" for pair in split},
        curves=tuple(read_curves(metrics)) if metrics.is_file() else (),
        has_cases=not metrics.is_file() and (folder / "episodes.parquet").is_file(),
    )


def comparison(folder: Path) -> Document:
    jobs = read_jobs(folder)
    settings = _by_setting(jobs)
    finished = sum(bool(job.curves or job.has_cases) for job in jobs)
    summary = [f"{finished} of {len(jobs)} jobs left results, in {len(settings)} settings."]
    if len({_num_seeds(found) for found in settings.values()}) > 1:
        summary.append("Settings have unequal numbers of seeds.")
    sections = [section for section in (_training(settings), _evaluations(jobs)) if section is not None]
    return Document(title=f"Multirun {folder.name}", summary=tuple(summary), sections=tuple(sections))


def _by_setting(jobs: Sequence[Job]) -> dict[str, list[Job]]:
    varied = _varied(jobs)
    settings: dict[str, list[Job]] = {}
    for job in jobs:
        label = ", ".join(f"{key}={job.overrides.get(key, 'default')}" for key in varied if key != SEED_KEY)
        settings.setdefault(label or "all jobs", []).append(job)
    return settings


def _varied(jobs: Sequence[Job]) -> list[str]:
    keys = list(dict.fromkeys(key for job in jobs for key in job.overrides))
    return [key for key in keys if len({job.overrides.get(key) for job in jobs}) > 1]


def _num_seeds(jobs: Sequence[Job]) -> int:
    return len({job.overrides.get(SEED_KEY) for job in jobs})


def _training(settings: Mapping[str, Sequence[Job]]) -> Section | None:
    rows, drawn = [], {}
    names = list(dict.fromkeys(curve.name for jobs in settings.values() for job in jobs for curve in job.curves))
    for name in names:
        for label, jobs in settings.items():
            curves = [curve for job in jobs for curve in job.curves if curve.name == name]
            if not curves:
                continue
            first, last = ([getattr(curve, moment) for curve in curves] for moment in ("first_mean", "last_mean"))
            spread = f"{min(last):.3f} to {max(last):.3f}" if len(last) > 1 else ""
            change = float(np.mean(last) - np.mean(first))
            rows.append(
                (
                    name,
                    label,
                    str(len(curves)),
                    f"{np.mean(first):.3f}",
                    f"{np.mean(last):.3f}",
                    spread,
                    f"{change:+.3f}",
                )
            )
            if name == names[0]:
                drawn[label] = last
    if not rows:
        return None
    caption = f"{names[0].capitalize()} at the end of training, one dot a seed; the line is their mean."
    return Section(
        title="Training",
        intro=(
            "How to read this: means over the first and last steps of each job, averaged over seeds. The spread of the "
            "seeds is the noise that a difference between settings has to exceed.",
        ),
        tables=(
            Table(
                title="Settings",
                columns=("Metric", "Setting", "Seeds", "First mean", "Last mean", "Range over seeds", "Change"),
                rows=tuple(rows),
            ),
        ),
        figures=(
            draw("settings", caption, lambda ax: plot_settings(drawn, ax, names[0]), height=1.3 + 0.4 * len(drawn)),
        ),
        is_key=True,
    )


def _evaluations(jobs: Sequence[Job]) -> Section | None:
    evaluated = [job for job in jobs if job.has_cases]
    if not evaluated:
        return None
    alignment = align([load_run(job.folder) for job in evaluated]).first_attempts()
    varied = _varied(evaluated)
    labels = [", ".join(f"{key}={job.overrides.get(key, 'default')}" for key in varied) or "all" for job in evaluated]
    rows = []
    for condition in alignment.conditions:
        tests = [
            mcnemar(paired_table(alignment, alignment.runs[0], run, condition).discordant) for run in alignment.runs[1:]
        ]
        adjusted = holm([test.p for test in tests]).p
        for number, (label, run) in enumerate(zip(labels, alignment.runs, strict=True)):
            cells = ("", "", "")
            if number:
                test = tests[number - 1]
                cells = points(test.estimate), points_interval(test.interval), p_value(adjusted[number - 1])
            rows.append((label, condition, *_success(alignment, run, condition), *cells))
    return Section(
        title="Evaluations",
        intro=("How to read this: every job against the first one on the same cases; p is corrected after Holm.",),
        tables=(
            Table(
                title="Jobs",
                columns=(
                    *("Setting", "Condition", "Solved", "Rate", "95% interval"),
                    *("Against the first (pp)", "95% of the difference", "Holm p"),
                ),
                rows=tuple(rows),
            ),
        ),
        is_key=True,
    )


def _success(alignment: Alignment, run: Run, condition: str) -> tuple[str, str, str]:
    found = rate(alignment, run, "clean" if condition == "clean" else "fault")
    return f"{found.num_successes} of {found.n}", percent(found.estimate), percent_interval(found.interval)


if __name__ == "__main__":
    sys.exit(main())
