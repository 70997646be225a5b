"""How often each kind of fault is recovered from: by kind, by what the kind is like, and apart from training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from analysis.align import Alignment, Run, Slot, solved
from analysis.document import Figure, Section, Table
from analysis.figures import draw, plot_groups
from analysis.rates import Rate, wilson
from analysis.result import percent, percent_interval
from analysis.sections.breakdown import subtype_of

Kinds = Mapping[str, Mapping[str, Any]]

INTRO = (
    "How to read this: only cases where the fault really happened to the model. Recovered is the share of them that "
    "the model solves; the last columns keep those that it also solves undisturbed, so that what is missing there is "
    "lost to the fault and not to the task. Explicit faults say in their reply that something is wrong, implicit ones "
    "do not; transient ones pass after some calls, permanent ones never."
)


def kinds_of(alignment: Alignment) -> Kinds:
    """Tags of each subtype, as the runs name them; empty for runs of an older version."""
    return {name: tags for run in alignment.runs for name, tags in (run.info.get("fault_kinds") or {}).items()}


def origin(subtype: str, kinds: Kinds) -> str:
    """Whether training could have met a kind."""
    tags = kinds.get(subtype, {})
    if tags.get("held_out"):
        return "held-out family"
    return {"main": "kinds of training", "probe": "probe", "stress": "stress pack"}.get(
        str(tags.get("pack")), "untagged"
    )


def recovery_section(alignment: Alignment) -> Section | None:
    """None where no fault is planned."""
    kinds, subtype = kinds_of(alignment), subtype_of(alignment)
    planned = {slot: subtype(slot) for slot in alignment.slots["fault"] if subtype(slot) != "no fault planned"}
    if not planned:
        return None
    groupings: dict[str, Callable[[Slot], str]] = {"By kind": lambda slot: planned[slot]}
    if kinds:
        groupings |= {
            "By mechanism": _tag(kinds, planned, "family"),
            "Explicit and implicit": _tag(kinds, planned, "visibility"),
            "Transient and permanent": _tag(kinds, planned, "persistence"),
            "Met in training or not": lambda slot: origin(planned[slot], kinds),
        }
    tables, figures = [], []
    for title, group_of in groupings.items():
        rates = _rates(alignment, set(planned), group_of)
        if rates:
            tables.append(_table(title, alignment, rates))
        if title == "By kind" and rates:
            drawn = {group: {run: pair[0] for run, pair in by_run.items()} for group, by_run in rates.items()}
            caption = "Recovery by kind of fault, where it happened. Bars are 95% Wilson intervals."
            figures.append(_figure(drawn, caption))
    return Section(title="Recovery from faults", intro=(INTRO,), tables=tuple(tables), figures=tuple(figures))


def _tag(kinds: Kinds, planned: Mapping[Slot, str], name: str) -> Callable[[Slot], str]:
    return lambda slot: str(kinds.get(planned[slot], {}).get(name, "untagged"))


def _figure(rates: Mapping[str, Mapping[str, Rate]], caption: str) -> Figure:
    return draw("recovery", caption, lambda ax: plot_groups(rates, ax, what="Recovered"), height=1.6 + 0.5 * len(rates))


def _rates(
    alignment: Alignment, planned: set[Slot], group_of: Callable[[Slot], str]
) -> dict[str, dict[str, tuple[Rate, Rate | None]]]:
    """Group -> model -> (rate where hit, the same where its clean run is solved); no entry where nothing hit."""
    found: dict[str, dict[str, tuple[Rate, Rate | None]]] = {}
    for group in sorted({group_of(slot) for slot in planned}):
        for run in alignment.runs:
            hits = [
                slot for slot in alignment.slots["fault"]
                if slot in planned and group_of(slot) == group and run.rows["fault", slot].fault_hit
            ]  # fmt: skip
            if hits:
                able = [slot for slot in hits if _is_solved_clean(run, slot)]
                found.setdefault(group, {})[run.name] = (_rate(run, hits), _rate(run, able) if able else None)
    return found


def _is_solved_clean(run: Run, slot: Slot) -> bool:
    row = run.rows.get(("clean", slot))
    return row is not None and row.success is True


def _rate(run: Run, slots: list[Slot]) -> Rate:
    outcomes = solved(run.rows["fault", slot] for slot in slots)
    return wilson(sum(outcomes), len(outcomes))


def _table(title: str, alignment: Alignment, rates: Mapping[str, Mapping[str, tuple[Rate, Rate | None]]]) -> Table:
    rows = []
    for group, by_run in rates.items():
        for run in alignment.runs:
            if run.name in by_run:
                everywhere, able = by_run[run.name]
                rows.append((group, run.name, *_cells(everywhere), *(_cells(able) if able else ("none", "", ""))))
    return Table(
        title=title,
        columns=(
            *("Group", "Model", "Recovered", "Rate", "95% interval"),
            *("Of those solved clean", "Rate, solved clean", "95%, solved clean"),
        ),
        rows=tuple(rows),
    )


def _cells(rate: Rate) -> tuple[str, str, str]:
    return f"{rate.num_successes} of {rate.n}", percent(rate.estimate), percent_interval(rate.interval)
