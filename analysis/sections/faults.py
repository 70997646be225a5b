"""What a fault costs each model, and whether the planned faults really happened."""

from __future__ import annotations

from analysis.align import Alignment, Run, Slot, solved
from analysis.document import Section, Table
from analysis.hits import CommonHits, common_hits
from analysis.paired import PairedTable, mcnemar
from analysis.rates import Rate, wilson
from analysis.result import p_value, percent, percent_interval, points, points_interval
from analysis.sections.gains import gains_table, stage_gains


def has_pairs(alignment: Alignment) -> bool:
    """Whether any case ran in both conditions; collected and training episodes may have none."""
    return not set(alignment.slots["clean"]).isdisjoint(alignment.slots["fault"])


def clean_against_fault(alignment: Alignment, run: Run) -> PairedTable:
    """A = fault, B = clean, on the cases that ran in both conditions."""
    both = set(alignment.slots["clean"]) & set(alignment.slots["fault"])
    view = alignment.where(both.__contains__)
    return PairedTable.of(solved(view.rows(run, "fault")), solved(view.rows(run, "clean")))


def robustness_section(alignment: Alignment) -> Section:
    rows, readings = [], []
    for run in alignment.runs:
        table = clean_against_fault(alignment, run)
        test = mcnemar(table.discordant)
        rows.append(
            (
                run.name,
                *map(str, (test.n, table.both, table.only_b, table.only_a)),
                points(test.estimate),
                points_interval(test.interval),
                p_value(test.p),
                p_value(test.mid_p),
            )
        )
        readings.append(f"{run.name}: {test.reading('the fault run', 'the clean run')}")
    return Section(
        title="Clean against fault within each model",
        intro=(
            "How to read this: the same model plays the same case from the same start, once undisturbed and once with "
            "a fault. The difference is what faults cost; a robust model stays near zero.",
        ),
        tables=(
            Table(
                title="The price of a fault",
                columns=(
                    *("Model", "n", "Solved in both", "Only clean", "Only fault", "Fault minus clean (pp)"),
                    *("95% interval", "McNemar exact p", "mid-p"),
                ),
                rows=tuple(rows),
                readings=tuple(readings),
            ),
        ),
        is_key=True,
    )


def hits_of(alignment: Alignment) -> CommonHits[Slot] | None:
    """None where no fault is planned at all."""
    by_run = {
        run.name: dict(zip(alignment.slots["fault"], alignment.rows(run, "fault"), strict=True))
        for run in alignment.runs
    }
    hits = {name: {slot for slot, row in rows.items() if row.fault_hit} for name, rows in by_run.items()}
    planned = {slot for rows in by_run.values() for slot, row in rows.items() if row.fault_planned}
    assigned = planned.union(*hits.values())
    return common_hits(hits, assigned) if assigned else None


def hits_section(alignment: Alignment) -> Section | None:
    hits = hits_of(alignment)
    if hits is None:
        return None
    assigned = alignment.where(hits.assigned.__contains__)
    common = alignment.where(hits.cases.__contains__)
    rows = []
    for run in alignment.runs:
        everywhere = _fault_rate(assigned, run)
        shared = _fault_rate(common, run) if hits.cases else None
        rows.append(
            (
                run.name,
                str(hits.n),
                f"{hits.num_hits[run.name]} ({percent(hits.num_hits[run.name] / hits.n)})",
                *_cells(everywhere),
                *(_cells(shared) if shared else ("none", "", "")),
            )
        )
    tables = [
        Table(
            title="Fault success where a fault was assigned, and where it hit every model",
            columns=(
                *("Model", "Assigned", "Hit", "Solved, all assigned", "Rate, all assigned", "95%, all assigned"),
                *("Solved, common hit", "Rate, common hit", "95%, common hit"),
            ),
            rows=tuple(rows),
            readings=(hits.reading(),),
        )
    ]
    if hits.cases and len(alignment.runs) > 1:
        tables.append(gains_table(stage_gains(common, ["fault"]), "Gains on the common-hit cases"))
    if any(run.supplemented for run in alignment.runs):
        tables.append(_supplemented(assigned))
    return Section(
        title="Faults that really happened",
        intro=(
            "How to read this: a fault is planned for a certain call, and a model that never makes that call never "
            "meets it. The common-hit cases are those where the fault happened to every model compared: there, like is "
            "compared with like. They are a selected part, so the result on all assigned cases stands beside them.",
        ),
        tables=tuple(tables),
        is_key=True,
    )


def _fault_rate(alignment: Alignment, run: Run) -> Rate:
    outcomes = solved(alignment.rows(run, "fault"))
    return wilson(sum(outcomes), len(outcomes))


def _cells(rate: Rate) -> tuple[str, str, str]:
    return f"{rate.num_successes} of {rate.n}", percent(rate.estimate), percent_interval(rate.interval)


def _supplemented(assigned: Alignment) -> Table:
    """Original beside supplemented: a case without a hit takes its first supplementary row that was hit, if any."""
    rows = []
    for run in assigned.runs:
        extra = {(row.task_id, row.tool_mode): row for row in reversed(run.supplemented) if row.fault_hit}
        original = assigned.rows(run, "fault")
        patched = [row if row.fault_hit else extra.get((row.task_id, row.tool_mode), row) for row in original]
        before = wilson(sum(solved(original)), len(original))
        after = wilson(sum(solved(patched)), len(patched))
        rows.append(
            (
                run.name,
                str(sum(row.fault_hit for row in original)),
                str(sum(row.fault_hit for row in patched)),
                *_cells(before),
                *_cells(after),
            )
        )
    return Table(
        title="Original evaluation beside the supplemented one",
        columns=(
            *("Model", "Hit, original", "Hit, supplemented", "Solved, original", "Rate, original", "95%, original"),
            *("Solved, supplemented", "Rate, supplemented", "95%, supplemented"),
        ),
        rows=tuple(rows),
        readings=("Every other number of this report is on the original evaluation.",),
    )
