"""Counting rows for each value of a column, as an object: `{"high": 3}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation


def _counts(domain: Domain, tool: Tool) -> Operation:
    """`over`: the column; `listed`: the argument that lists values. Listed values show with zero, others only with
    rows, in the order of the column's enumeration."""
    over, listed = tool.options["over"], tool.options["listed"]
    filters = Filters(domain, tool.table, ())
    head = f"SELECT {quoted(over)}, COUNT(*) FROM {quoted(tool.table.name)}"
    tail = f" GROUP BY {quoted(over)}"
    values = tool.table.by_name[over].values

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, {})
        found = dict(call.database.rows(head + where.text + tail, where.values))
        if asked := arguments.get(listed):
            return {value: found.get(value, 0) for value in asked}
        return {value: found[value] for value in values if value in found}

    return run


COUNTS = Kind(compile=_counts)
