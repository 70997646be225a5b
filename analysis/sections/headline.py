"""How much each model solves, clean and with faults."""

from __future__ import annotations

from analysis.align import Alignment, Run, solved
from analysis.document import Section, Table
from analysis.figures import draw, plot_rates
from analysis.rates import Rate, wilson
from analysis.result import percent, percent_interval
from robustops.core.task import Condition


def rate(alignment: Alignment, run: Run, condition: Condition) -> Rate:
    outcomes = solved(alignment.rows(run, condition))
    return wilson(sum(outcomes), len(outcomes))


def headline(alignment: Alignment) -> Section:
    rates = {
        condition: {run.name: rate(alignment, run, condition) for run in alignment.runs}
        for condition in alignment.conditions
    }
    rows = []
    for run in alignment.runs:
        cells = [run.name]
        for condition in alignment.conditions:
            result = rates[condition][run.name]
            cells += [
                f"{result.num_successes} of {result.n}",
                percent(result.estimate),
                percent_interval(result.interval),
            ]
        rows.append(tuple(cells))
    columns = ["Model"]
    for condition in alignment.conditions:
        columns += [
            f"{condition.capitalize()} solved",
            f"{condition.capitalize()} rate",
            f"{condition.capitalize()} 95%",
        ]
    readings = tuple(
        f"{run.name}, {condition}: {rates[condition][run.name].reading()}"
        for run in alignment.runs
        for condition in alignment.conditions
    )
    caption = "A dot is the share of cases solved; the bar is its 95% Wilson interval."
    return Section(
        title="Success",
        intro=(
            "How to read this: a case is solved when every check on the final database state passes. "
            "All models face the same cases; with faults, the same planned fault per case. "
            "The interval says which true success rates the data are compatible with: about 95 of 100 such intervals "
            "cover the truth. A case that could not be scored stays in the denominator and counts as not solved.",
        ),
        tables=(Table(title="Cases solved", columns=tuple(columns), rows=tuple(rows), readings=readings),),
        figures=(draw("success", caption, lambda ax: plot_rates(rates, ax)),),
        is_key=True,
    )
