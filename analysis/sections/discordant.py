"""The single cases behind the gains: those that one of two neighbouring models solves and the other does not."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from analysis.align import Alignment, Run
from analysis.document import Section, Table
from robustops.core.task import Condition


def discordant_section(alignment: Alignment, *, viewer: str | None) -> Section | None:
    """`viewer`: address of the viewer's page, relative to the report; None links nothing."""
    tables = tuple(
        table
        for earlier, later in alignment.steps
        for condition in alignment.conditions
        if (table := _table(alignment, earlier, later, condition, viewer)).rows
    )
    if not tables:
        return None
    where = "Each case opens in the viewer, both models side by side. " if viewer else ""
    intro = f"{where}Gained: the later model alone solves it. Lost: the earlier one alone."
    return Section(title="Discordant cases", intro=(intro,), tables=tables, is_folded=True)


def _table(alignment: Alignment, earlier: Run, later: Run, condition: Condition, viewer: str | None) -> Table:
    rows, links = [], []
    for slot in alignment.slots[condition]:
        before, after = earlier.rows[condition, slot], later.rows[condition, slot]
        if (before.success is True) == (after.success is True):
            continue
        what = "gained" if after.success is True else "lost"
        stops = f"{before.stop_reason} → {after.stop_reason}"
        rows.append((after.case_id, what, after.domain, after.fault_subtype or "", stops))
        links.append(_link(viewer, after.case_id, earlier, later))
    return Table(
        title=f"{later.name} over {earlier.name}, {condition}",
        columns=("Case", "Outcome", "Domain", "Fault", "Ended by"),
        rows=tuple(rows),
        links=tuple(links),
    )


def _link(viewer: str | None, case_id: str, earlier: Run, later: Run) -> str:
    if viewer is None:
        return ""
    return f"{quote(viewer)}#{urlencode({'case': case_id, 'a': earlier.name, 'b': later.name})}"
