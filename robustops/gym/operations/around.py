"""What a declaration asks for around any operation: checks before, more in the reply after.

`known: {PARAMETER: TABLE}`: the rows that these arguments name must exist, else the call is refused; an argument may
be one id, a list of them, or a text with commas. `lists: [PARAMETER, ...]`: texts with commas that become lists of
numbers. `expand: {LABEL: {by: COLUMN, table: TABLE, show: [COLUMN, ...]}}`: each row of the reply gets, under LABEL,
the row that its COLUMN refers to, or null; `expand` inside nests the same way. With `value: COLUMN` instead of `show`
it gets that one value, with `count: COLUMN` the number of rows whose COLUMN refers to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.checks import has_row
from robustops.gym.operations.kind import Call, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape
from robustops.gym.operations.writes import select_by_key

Row = dict[str, Any]


def surrounded(domain: Domain, tool: Tool, run: Operation) -> Operation:
    """The operation itself where the tool declares nothing of this."""
    known: Mapping[str, str] = tool.options.get("known", {})
    lists = frozenset(tool.options.get("lists", ()))
    expansions = _expansions(domain, tool.options.get("expand", {}))
    if not known and not lists and not expansions:
        return run
    wrap: str | None = tool.options.get("wrap")

    def surrounding(call: Call, arguments: Mapping[str, Any]) -> Any:
        for name, table in known.items():
            for key in _items(arguments[name]) if name in arguments else ():
                if not has_row(domain, call, table, key):
                    raise ToolFailure(f"{name} not found", code="NOT_FOUND", field=name)
        listed = {name: _numbers(name, value) for name, value in arguments.items() if name in lists}
        reply = run(call, {**arguments, **listed})
        found = reply[wrap] if wrap else reply
        for row in found if isinstance(found, list) else [found]:
            for expansion in expansions:
                expansion.add(call, row)
        return reply

    return surrounding


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [item.strip() for item in value.split(",")] if isinstance(value, str) else [value]


def _numbers(name: str, value: Any) -> list[int]:
    try:
        return [int(item) for item in _items(value)]
    except ValueError:
        raise ToolFailure(f"Invalid {name}") from None


class _Expansion:
    """One label. The row must show the column that refers."""

    def __init__(self, domain: Domain, label: str, declared: Mapping[str, Any]) -> None:
        table = domain.tables[declared["table"]]
        self._label, self._by = label, declared["by"]
        self._shape: RowShape | None = None
        self._inner: list[_Expansion] = []
        if "count" in declared:
            condition = f"{quoted(declared['count'])} = ?"
            self._select = f"SELECT COUNT(*) FROM {quoted(table.name)} WHERE {condition}"
        elif "value" in declared:
            self._select = select_by_key(table, RowShape(domain, table, [declared["value"]]))
        else:
            self._shape = RowShape(domain, table, declared["show"])
            self._select = select_by_key(table, self._shape)
            self._inner = _expansions(domain, declared.get("expand", {}))

    def add(self, call: Call, row: Row) -> None:
        found = None if row[self._by] is None else call.database.row(self._select, (row[self._by],))
        if found is None or self._shape is None:
            row[self._label] = None if found is None else found[0]
            return
        shown = self._shape.show(found)
        for expansion in self._inner:
            expansion.add(call, shown)
        row[self._label] = shown


def _expansions(domain: Domain, declared: Mapping[str, Mapping[str, Any]]) -> list[_Expansion]:
    return [_Expansion(domain, label, entry) for label, entry in declared.items()]
