"""The same success rates by domain, template and kind of fault; the held-out templates apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from analysis.align import Alignment, Slot, solved
from analysis.document import Figure, Section, Table
from analysis.figures import draw, plot_groups, plot_rates
from analysis.multiplicity import benjamini_hochberg
from analysis.paired import mcnemar
from analysis.rates import Rate
from analysis.repeats import macro_difference
from analysis.result import p_value, percent, percent_interval, points, points_interval
from analysis.sections.gains import gains_table, paired_table, stage_gains
from analysis.sections.headline import rate
from robustops.core.task import Condition

GroupOf = Callable[[Slot], str]

INTRO = (
    "How to read this: a look into the parts, not a test of a plan. Small groups have wide intervals, and among many "
    "comparisons some look striking by chance; BH p is corrected for that (Benjamini-Hochberg, over the table)."
)


def by_group(alignment: Alignment, condition: Condition, group_of: GroupOf) -> dict[str, Alignment]:
    names = sorted({group_of(slot) for slot in alignment.slots[condition]})
    return {name: alignment.where(lambda slot, name=name: group_of(slot) == name) for name in names}  # type: ignore[misc]


def breakdown_section(
    alignment: Alignment, title: str, group_of: GroupOf, conditions: tuple[Condition, ...]
) -> Section | None:
    """None where there is only one group, which would repeat the headline."""
    tables, figures = [], []
    for condition in conditions:
        groups = by_group(alignment, condition, group_of)
        if len(groups) > 1:
            tables.append(_group_table(groups, condition))
            figures.append(_group_figure(groups, condition, title))
    if not tables:
        return None
    return Section(title=title, intro=(INTRO,), tables=tuple(tables), figures=tuple(figures))


def _group_table(groups: Mapping[str, Alignment], condition: Condition) -> Table:
    runs, steps = next(iter(groups.values())).runs, next(iter(groups.values())).steps
    tests = [
        mcnemar(paired_table(part, earlier, later, condition).discordant)
        for part in groups.values()
        for earlier, later in steps
    ]
    adjusted = benjamini_hochberg([test.p for test in tests]).p
    pending = iter(zip(tests, adjusted, strict=True))
    rows = []
    for name, part in groups.items():
        cells = [name, str(len(part.slots[condition]))]
        for run in runs:
            result = rate(part, run, condition)
            cells += [percent(result.estimate), percent_interval(result.interval)]
        for _ in steps:
            test, corrected = next(pending)
            cells += [points(test.estimate), p_value(test.p), p_value(corrected)]
        rows.append(tuple(cells))
    columns = ["Group", "n"]
    for run in runs:
        columns += [run.name, f"{run.name} 95%"]
    for earlier, later in steps:
        label = f"{later.name} over {earlier.name}"
        columns += [f"{label} (pp)", f"{label}, exact p", f"{label}, BH p"]
    return Table(title=condition.capitalize(), columns=tuple(columns), rows=tuple(rows))


def _group_figure(groups: Mapping[str, Alignment], condition: Condition, title: str) -> Figure:
    rates: dict[str, dict[str, Rate]] = {
        name: {run.name: rate(part, run, condition) for run in part.runs} for name, part in groups.items()
    }
    slug = f"{title}-{condition}".lower().replace(" ", "-")
    caption = f"{title}, {condition} cases. Bars are 95% Wilson intervals; n is the number of cases in the group."
    return draw(
        slug, caption, lambda ax: plot_groups(rates, ax, what=condition.capitalize()), height=1.6 + 0.5 * len(rates)
    )


def domain_of(alignment: Alignment) -> GroupOf:
    domains = {
        slot: row.domain
        for condition in alignment.conditions
        for slot, row in zip(alignment.slots[condition], alignment.rows(alignment.runs[0], condition), strict=True)
    }
    return lambda slot: domains[slot]


def subtype_of(alignment: Alignment) -> GroupOf:
    """The planned kind of fault; a row names it, and the manifest is the same for all runs."""
    subtypes: dict[Slot, str] = {}
    for run in alignment.runs:
        for slot, row in zip(alignment.slots["fault"], alignment.rows(run, "fault"), strict=True):
            if row.fault_subtype:
                subtypes.setdefault(slot, row.fault_subtype)
    return lambda slot: subtypes.get(slot, "no fault planned")


def macro_section(alignment: Alignment, *, rng: np.random.Generator) -> Section | None:
    """Gains with every domain weighing the same; None for a single domain."""
    group_of = domain_of(alignment)
    rows, readings = [], []
    for earlier, later in alignment.steps:
        for condition in alignment.conditions:
            parts = by_group(alignment, condition, group_of)
            if len(parts) < 2:
                return None
            outcomes = {
                name: (solved(part.rows(later, condition)), solved(part.rows(earlier, condition)))
                for name, part in parts.items()
            }
            gain = macro_difference(outcomes, rng=rng)
            label, spread = f"{later.name} over {earlier.name}", ""
            if gain.interval:
                spread = points_interval(gain.interval)
            rows.append((label, condition, str(len(parts)), str(gain.n), points(gain.estimate), spread))
            readings.append(f"{label}, {condition}: {gain.reading(later.name, earlier.name)}")
    if not rows:
        return None
    return Section(
        title="Macro average over domains",
        intro=(
            "How to read this: here every domain weighs the same, however many cases it has. The interval redraws "
            "cases within their domain, the same ones for both models.",
        ),
        tables=(
            Table(
                title="Macro gains",
                columns=("Comparison", "Condition", "Domains", "n", "Gain (pp)", "95% interval"),
                rows=tuple(rows),
                readings=tuple(readings),
            ),
        ),
    )


def held_out_section(held_out: Alignment) -> Section:
    rates = {
        condition: {run.name: rate(held_out, run, condition) for run in held_out.runs}
        for condition in held_out.conditions
    }
    rows = tuple(
        (run_name, condition, f"{result.num_successes} of {result.n}", percent(result.estimate), spread)
        for condition, by_model in rates.items()
        for run_name, result in by_model.items()
        for spread in [percent_interval(result.interval)]
    )
    tables = [
        Table(
            title="Held-out cases solved", columns=("Model", "Condition", "Solved", "Rate", "95% interval"), rows=rows
        )
    ]
    if len(held_out.runs) > 1:
        tables.append(gains_table(stage_gains(held_out), "Held-out gains"))
    caption = "Success on templates that no training case was made from."
    return Section(
        title="Held-out templates",
        intro=(
            "How to read this: no training case was made from these templates, so success here is transfer to a kind "
            "of request the model never saw. These cases are in no other table of this report.",
        ),
        tables=tuple(tables),
        figures=(draw("held-out", caption, lambda ax: plot_rates(rates, ax)),),
    )
