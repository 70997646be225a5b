"""What a declaration asks for around any operation: rows that must be there before, objects put into the reply after.

`known: {PARAMETER: TABLE}`: the rows that these arguments name must exist, else the call is refused.
`expand: {LABEL: {by: COLUMN, table: TABLE, show: [COLUMN, ...]}}`: each row of the reply gets, under LABEL, the row
that its COLUMN refers to, or null; `expand` inside nests the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.checks import has_row
from robustops.gym.operations.kind import Call, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape
from robustops.gym.operations.writes import select_by_key

Row = dict[str, Any]


def surrounded(domain: Domain, tool: Tool, run: Operation) -> Operation:
    """The operation itself where the tool declares nothing of this."""
    known: Mapping[str, str] = tool.options.get("known", {})
    expansions = _expansions(domain, tool.options.get("expand", {}))
    if not known and not expansions:
        return run
    wrap: str | None = tool.options.get("wrap")

    def surrounding(call: Call, arguments: Mapping[str, Any]) -> Any:
        for name, table in known.items():
            if name in arguments and not has_row(domain, call, table, arguments[name]):
                raise ToolFailure(f"{name} not found")
        reply = run(call, arguments)
        found = reply[wrap] if wrap else reply
        for row in found if isinstance(found, list) else [found]:
            for expansion in expansions:
                expansion.add(call, row)
        return reply

    return surrounding


class _Expansion:
    """One label. The row must show the column that refers."""

    def __init__(self, domain: Domain, label: str, declared: Mapping[str, Any]) -> None:
        table = domain.tables[declared["table"]]
        shape = RowShape(domain, table, declared["show"])
        self._label, self._by, self._show = label, declared["by"], shape.show
        self._select = select_by_key(table, shape)
        self._inner = _expansions(domain, declared.get("expand", {}))

    def add(self, call: Call, row: Row) -> None:
        found = None if row[self._by] is None else call.database.row(self._select, (row[self._by],))
        shown = None if found is None else self._show(found)
        for expansion in self._inner if shown is not None else ():
            expansion.add(call, shown)  # type: ignore[arg-type]
        row[self._label] = shown


def _expansions(domain: Domain, declared: Mapping[str, Mapping[str, Any]]) -> list[_Expansion]:
    return [_Expansion(domain, label, entry) for label, entry in declared.items()]
