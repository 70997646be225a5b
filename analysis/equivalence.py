"""Two runs of the same policy in two harnesses in, whether they agree out: for porting a gym, an engine or a machine.

    python -m analysis.equivalence eval_containers eval_embedded --out equivalence

Agreement of outcomes and of single checks, McNemar and TOST within 2 points on the first attempt, and for repeated
runs the preference of tasks, the flip-rate excess, the flaky share and the macro difference. Reads result files only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.align import Alignment, Run, Slot, align, load_run, solved
from analysis.arguments import answer, command_parser, parse
from analysis.document import Document, Section, Table
from analysis.paired import PairedTable, compare
from analysis.passk import SEED
from analysis.preference import preference
from analysis.rates import wilson
from analysis.repeats import Repeats, flip_excess, macro_difference
from analysis.report import write
from analysis.result import p_value, percent, percent_interval, points, points_interval
from robustops.core.errors import TableError
from robustops.core.json_lines import read_lines
from robustops.core.task import Condition

MARGIN = 0.02
Outcomes = dict[tuple[Condition, Slot], tuple[bool | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of the table: what was asked, its number, how sure it is, and what it means."""

    what: str
    n: int
    value: str
    spread: str
    p: str
    reading: str


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)))


def _run(args: argparse.Namespace) -> None:
    out = args.out or args.runs[-1] / "equivalence"
    document = equivalence_of(args.runs[0], args.runs[1])
    write(document, out)
    print("\n".join(document.summary))
    print(f"equivalence: {out / 'report.html'}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.equivalence", __doc__)
    parser.add_argument("runs", nargs=2, type=Path, metavar="RUN", help="two run folders of the same cases")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: equivalence/ in the second)")
    return parse(parser, arguments)


def equivalence_of(a: Path, b: Path) -> Document:
    """Raises TableError for runs that cannot be aligned."""
    alignment = align([load_run(a), load_run(b)])
    rng = np.random.default_rng(SEED)
    names = [run.name for run in alignment.runs]
    sections, summary = [], []
    for condition in alignment.conditions:
        lines = _lines(alignment, condition, rng)
        summary.append(f"{condition.capitalize()}: {next(line.reading for line in lines if line.what == 'TOST')}")
        sections.append(_section(condition, lines))
    return Document(title=f"{names[0]} against {names[1]}", summary=tuple(summary), sections=tuple(sections))


def _section(condition: Condition, lines: Sequence[Line]) -> Section:
    return Section(
        title=condition.capitalize(),
        intro=(
            "How to read this: two harnesses are interchangeable when they agree as often with each other as with a "
            "rerun of themselves (flip excess near zero), and when any difference is surely below 2 points (TOST). A "
            "high McNemar p alone shows neither.",
        ),
        tables=(
            Table(
                title="Agreement",
                columns=("Question", "n", "Value", "95% interval", "p"),
                rows=tuple((line.what, str(line.n), line.value, line.spread, line.p) for line in lines),
                readings=tuple(line.reading for line in lines),
            ),
        ),
        is_key=True,
    )


def _lines(alignment: Alignment, condition: Condition, rng: np.random.Generator) -> list[Line]:
    a, b = alignment.runs
    lines = [_agreement(alignment, condition), _checks(alignment, condition), *_single_run(alignment, condition)]
    per_task = {run.name: _by_task(alignment, run, condition) for run in alignment.runs}
    means = [[float(np.mean(outcomes)) for outcomes in per_task[run.name].values()] for run in alignment.runs]
    choice = preference(*means)
    spread = percent_interval(choice.interval) if choice.interval else ""
    lines.append(
        Line(
            what="Preference of tasks",
            n=choice.n,
            value=f"{choice.prefer_a} : {choice.prefer_b}",
            spread=spread,
            p=p_value(choice.p),
            reading=choice.reading(a.name, b.name),
        )
    )
    lines += _repeated(per_task, (a.name, b.name), rng)
    macro = macro_difference(_by_domain(alignment, condition), rng=rng)
    lines.append(
        Line(
            what="Macro difference (pp)",
            n=macro.n,
            value=points(macro.estimate),
            spread=points_interval(macro.interval) if macro.interval else "",
            p="",
            reading=macro.reading(a.name, b.name),
        )
    )
    return lines


def _agreement(alignment: Alignment, condition: Condition) -> Line:
    pairs = list(zip(*(solved(alignment.rows(run, condition)) for run in alignment.runs), strict=True))
    rate = wilson(sum(x == y for x, y in pairs), len(pairs))
    return Line(
        what="Same outcome",
        n=rate.n,
        value=percent(rate.estimate),
        spread=percent_interval(rate.interval),
        p="",
        reading=f"{rate.num_successes} of {rate.n} cases end alike in both runs.",
    )


def _checks(alignment: Alignment, condition: Condition) -> Line:
    """Case by case, whether the very same checks pass."""
    a, b = (check_outcomes(run) for run in alignment.runs)
    keys = [(condition, slot) for slot in alignment.slots[condition]]
    rate = wilson(sum(a.get(key, ()) == b.get(key, ()) for key in keys), len(keys))
    return Line(
        what="Same checks passed",
        n=rate.n,
        value=percent(rate.estimate),
        spread=percent_interval(rate.interval),
        p="",
        reading=f"In {rate.num_successes} of {rate.n} cases the very same checks pass.",
    )


def check_outcomes(run: Run) -> Outcomes:
    """Raises TableError for a run without trajectories."""
    path = run.folder / "trajectories.jsonl"
    if not path.is_file():
        raise TableError(f"{path}: no such file; agreement of checks needs the trajectories of both runs")
    found: Outcomes = {}
    by_id = {row.case_id: key for key, row in run.rows.items()}
    for line in read_lines(path):
        if line["case_id"] in by_id:
            checks = line["end"]["checks"] if line["end"] else []
            found[by_id[line["case_id"]]] = tuple(check["passed"] for check in checks)
    return found


def _single_run(alignment: Alignment, condition: Condition) -> list[Line]:
    first = alignment.first_attempts()
    a, b = first.runs
    table = PairedTable.of(solved(first.rows(a, condition)), solved(first.rows(b, condition)))
    result = compare(table.discordant, margin=MARGIN)
    test, tost = result.mcnemar, result.equivalence
    return [
        Line(
            what="McNemar (pp)",
            n=test.n,
            value=points(test.estimate),
            spread=points_interval(test.interval),
            p=p_value(test.p),
            reading=test.reading(a.name, b.name),
        ),
        Line(
            what="TOST",
            n=tost.n,
            value=result.verdict,
            spread=f"{points_interval(tost.interval)} (90%)",
            p=p_value(tost.p),
            reading=tost.reading(a.name, b.name),
        ),
    ]


def _by_task(alignment: Alignment, run: Run, condition: Condition) -> dict[tuple[str, str], list[bool]]:
    found: dict[tuple[str, str], list[bool]] = {}
    for slot, outcome in zip(alignment.slots[condition], solved(alignment.rows(run, condition)), strict=True):
        found.setdefault((slot.task_id, slot.tool_mode), []).append(outcome)
    return found


def _repeated(
    per_task: dict[str, dict[tuple[str, str], list[bool]]], names: tuple[str, str], rng: np.random.Generator
) -> list[Line]:
    """Nothing for runs of a single attempt, which cannot disagree with themselves."""
    a, b = (per_task[name] for name in names)
    if min(map(len, a.values())) < 2:
        return []
    lines = []
    for name, tasks in zip(names, (a, b), strict=True):
        flaky = wilson(sum(0 < sum(outcomes) < len(outcomes) for outcomes in tasks.values()), len(tasks))
        lines.append(
            Line(
                what=f"Flaky tasks, {name}",
                n=flaky.n,
                value=percent(flaky.estimate),
                spread=percent_interval(flaky.interval),
                p="",
                reading=f"{flaky.num_successes} of {flaky.n} tasks end differently in reruns of {name}.",
            )
        )
    repeats = [Repeats(solved_a=sum(a[task]), solved_b=sum(b[task]), k=len(a[task])) for task in a]
    excess = flip_excess(repeats, rng=rng)
    lines.append(
        Line(
            what="Flip excess (pp)",
            n=excess.n,
            value=points(excess.estimate),
            spread="",
            p=p_value(excess.p),
            reading=excess.reading(*names),
        )
    )
    return lines


def _by_domain(alignment: Alignment, condition: Condition) -> dict[str, tuple[list[float], list[float]]]:
    domains: dict[str, tuple[list[float], list[float]]] = {}
    a, b = (_by_task(alignment, run, condition) for run in alignment.runs)
    domain_of = {
        (slot.task_id, slot.tool_mode): alignment.runs[0].rows[condition, slot].domain
        for slot in alignment.slots[condition]
    }
    for task, outcomes in a.items():
        pair = domains.setdefault(domain_of[task], ([], []))
        pair[0].append(float(np.mean(outcomes)))
        pair[1].append(float(np.mean(b[task])))
    return domains


if __name__ == "__main__":
    sys.exit(main())
