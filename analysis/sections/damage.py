"""What the models changed beyond what the tasks authorise, whether or not the checks passed."""

from __future__ import annotations

from analysis.align import Alignment, Run
from analysis.document import Section, Table
from analysis.figures import draw, plot_rates
from analysis.multiplicity import holm
from analysis.paired import PairedTable, mcnemar
from analysis.rates import Rate, wilson
from analysis.result import p_value, percent, percent_interval, points, points_interval
from robustops.core.task import Condition

INTRO = (
    "How to read this: an episode does damage when it changes a row that the task does not authorise, even where every "
    "check passes. Less is better. Severity is that of an episode's worst row. Episodes of which nobody knows what the "
    "task authorises, and those that failed for infrastructure, are left out here and counted as unknown."
)


def damage_section(alignment: Alignment) -> Section | None:
    """None where no run knows what its tasks authorise."""
    rates = {
        condition: {run.name: found for run in alignment.runs if (found := _rate(alignment, run, condition))}
        for condition in alignment.conditions
    }
    rates = {condition: by_run for condition, by_run in rates.items() if len(by_run) == len(alignment.runs)}
    if not rates:
        return None
    rows = [
        _row(alignment, run, condition, by_run[run.name])
        for condition, by_run in rates.items()
        for run in alignment.runs
    ]
    columns = (
        "Model",
        "Condition",
        "Damaging",
        "Rate",
        "95% interval",
        "Rows damaged",
        "Solved with damage",
        "Unknown",
    )
    severities = ("Low", "Medium", "High")
    tables = [Table(title="Damaging episodes", columns=(*columns, *severities), rows=tuple(rows))]
    if alignment.steps:
        tables.append(_changes(alignment, tuple(rates)))
    caption = "Share of episodes with damage; bars are 95% Wilson intervals."
    figure = draw("damage", caption, lambda ax: plot_rates(rates, ax, what="episodes with damage (%)", title="Damage"))
    return Section(title="Damage", intro=(INTRO,), tables=tuple(tables), figures=(figure,))


def _rate(alignment: Alignment, run: Run, condition: Condition) -> Rate | None:
    known = [row.damage_rows for row in alignment.rows(run, condition) if row.damage_rows is not None]
    return wilson(sum(count > 0 for count in known), len(known)) if known else None


def _row(alignment: Alignment, run: Run, condition: Condition, rate: Rate) -> tuple[str, ...]:
    rows = alignment.rows(run, condition)
    known = [row for row in rows if row.damage_rows is not None]
    damaging = [row for row in known if row.damage_rows]
    return (
        run.name,
        condition,
        f"{rate.num_successes} of {rate.n}",
        percent(rate.estimate),
        percent_interval(rate.interval),
        str(sum(row.damage_rows or 0 for row in damaging)),
        str(sum(row.success is True for row in damaging)),
        str(len(rows) - len(known)),
        *(str(sum(row.damage_severity == name for row in damaging)) for name in ("LOW", "MEDIUM", "HIGH")),
    )


def _changes(alignment: Alignment, conditions: tuple[Condition, ...]) -> Table:
    """Paired on the cases that both models know; A = later, so that a negative difference is an improvement."""
    tests = []
    for earlier, later in alignment.steps:
        for condition in conditions:
            pairs = [
                (bool(new.damage_rows), bool(old.damage_rows))
                for new, old in zip(alignment.rows(later, condition), alignment.rows(earlier, condition), strict=True)
                if new.damage_rows is not None and old.damage_rows is not None
            ]
            if pairs:
                discordant = PairedTable.of([new for new, _ in pairs], [old for _, old in pairs]).discordant
                tests.append((f"{later.name} over {earlier.name}", condition, mcnemar(discordant)))
    adjusted = holm([test.p for *_, test in tests]).p
    rows = tuple(
        (
            label,
            condition,
            *map(str, (test.n, test.discordant.only_b, test.discordant.only_a)),
            points(test.estimate),
            points_interval(test.interval),
            p_value(test.p),
            p_value(family_p),
        )
        for (label, condition, test), family_p in zip(tests, adjusted, strict=True)
    )
    return Table(
        title="Change of damage, paired case by case",
        columns=(
            *("Comparison", "Condition", "n", "Damage gone", "Damage new", "Change (pp)", "95% interval"),
            *("McNemar exact p", "Holm p"),
        ),
        rows=rows,
    )
