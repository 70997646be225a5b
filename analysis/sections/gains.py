"""What each stage gains over the one before, and what became of every single case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from analysis.align import Alignment, Run, solved
from analysis.document import Section, Table
from analysis.figures import draw, plot_gains, plot_transitions
from analysis.multiplicity import holm
from analysis.paired import DEFAULT_MARGIN, Comparison, PairedTable, compare, mcnemar
from analysis.result import p_value, points, points_interval
from robustops.core.task import Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Later minus earlier, on the same cases of one condition."""

    earlier: str
    later: str
    condition: Condition
    table: PairedTable
    comparison: Comparison

    @property
    def label(self) -> str:
        return f"{self.later} over {self.earlier}"


def paired_table(alignment: Alignment, earlier: Run, later: Run, condition: Condition) -> PairedTable:
    return PairedTable.of(solved(alignment.rows(later, condition)), solved(alignment.rows(earlier, condition)))


def stage_gains(alignment: Alignment, conditions: Sequence[Condition] | None = None) -> list[Gain]:
    """Every run against the one before it, in each condition: one family, corrected after Holm."""
    planned = [
        (earlier, later, condition, paired_table(alignment, earlier, later, condition))
        for earlier, later in alignment.steps
        for condition in conditions or alignment.conditions
    ]
    family = holm([mcnemar(table.discordant).p for *_, table in planned]).p
    return [
        Gain(
            earlier=earlier.name,
            later=later.name,
            condition=condition,
            table=table,
            comparison=compare(table.discordant, family_p=family_p),
        )
        for (earlier, later, condition, table), family_p in zip(planned, family, strict=True)
    ]


def gains_table(gains: Sequence[Gain], title: str) -> Table:
    margin = f"{100 * DEFAULT_MARGIN:g}"
    rows = []
    for gain in gains:
        test, equivalence = gain.comparison.mcnemar, gain.comparison.equivalence
        rows.append(
            (
                gain.label,
                gain.condition,
                str(test.n),
                str(gain.table.only_a),
                str(gain.table.only_b),
                points(test.estimate),
                points_interval(test.interval),
                p_value(test.p),
                p_value(test.mid_p),
                p_value(gain.comparison.family_p),
                p_value(equivalence.p),
                gain.comparison.verdict,
            )
        )
    return Table(
        title=title,
        columns=(
            *("Comparison", "Condition", "n", "Gained", "Lost", "Gain (pp)", "95% interval"),
            *("McNemar exact p", "mid-p", "Holm p", f"TOST ±{margin} pp p", "Verdict"),
        ),
        rows=tuple(rows),
        readings=tuple(
            f"{gain.label}, {gain.condition}: {gain.comparison.reading(gain.later, gain.earlier)}" for gain in gains
        ),
    )


def gains_section(alignment: Alignment) -> Section:
    gains = stage_gains(alignment)
    labelled = {
        f"{gain.label}, {gain.condition}": (gain.comparison.mcnemar, gain.comparison.equivalence) for gain in gains
    }
    caption = (
        "Right of zero the later model solves more. A thin line that crosses zero does not show a difference; a thick "
        "one that stays inside the grey band shows equivalence within 10 points."
    )
    return Section(
        title="Gains over the preceding stage",
        intro=(
            "How to read this: both models meet the same cases, so only cases that one solves and the other does not "
            "tell them apart. Gain is later minus earlier in percentage points (pp), with Tango's 95% interval. "
            "McNemar's test asks whether gained and lost cases could be a fair coin. The Holm column corrects for the "
            "number of comparisons in this table; it decides whether two models are called different. TOST asks the "
            "opposite question: is any difference surely smaller than 10 points? Where neither gets a yes the verdict "
            "is inconclusive, which is not 'no difference'.",
        ),
        tables=(gains_table(gains, "Gains, paired case by case"),),
        figures=(draw("gains", caption, lambda ax: plot_gains(labelled, ax), height=1.3 + 0.42 * len(gains)),),
        is_key=True,
    )


def transitions_section(alignment: Alignment) -> Section:
    tables = {
        (earlier.name, later.name, condition): paired_table(alignment, earlier, later, condition)
        for earlier, later in combinations(alignment.runs, 2)
        for condition in alignment.conditions
    }
    labelled = {f"{earlier} → {later}, {condition}": table for (earlier, later, condition), table in tables.items()}
    rows = tuple(
        (f"{earlier} → {later}", condition, *map(str, (t.both, t.only_a, t.only_b, t.neither, t.n)))
        for (earlier, later, condition), t in tables.items()
    )
    caption = "A model that only gains has no hatched part; what is hatched was solved before and is not any more."
    return Section(
        title="Retained, gained and lost cases",
        intro=(
            "How to read this: a higher rate can hide losses. Retained: both models solve the case. Gained: only the "
            "later one. Lost: only the earlier one.",
        ),
        tables=(
            Table(
                title="Cases by pair of models",
                columns=("Models", "Condition", "Retained", "Gained", "Lost", "Never solved", "n"),
                rows=rows,
            ),
        ),
        figures=(
            draw("transitions", caption, lambda ax: plot_transitions(labelled, ax), height=1.5 + 0.4 * len(rows)),
        ),
    )
