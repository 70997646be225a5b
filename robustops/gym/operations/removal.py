"""Deleting rows where the server shows what is gone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.checks import require_one_of
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape


def _remove(domain: Domain, tool: Tool) -> Operation:
    """Delete by ANDed filters; no match is a failure. The reply is the one row, or with `wrap` an object: the rows
    under that name, their number under `count_as`, and a `message`, of one row's key (`one`) or of a number
    (`several`). `needs` as for `delete`."""
    table = tool.table
    shape = RowShape(domain, table, tool.reply, tool.labels)
    filters = Filters(domain, table, [param for param in tool.params if param.columns])
    head, tail = f"SELECT {shape.columns} FROM {quoted(table.name)}", f" ORDER BY {quoted(table.key)}"
    options = tool.options

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        require_one_of(tool, arguments)
        where = filters.where(call, arguments)
        if not where.num_filters:
            raise ToolFailure("At least one filter is required")
        gone = [shape.show(row) for row in call.database.rows(head + where.text + tail, where.values)]
        if not gone:
            raise ToolFailure("not found", code="NOT_FOUND")
        call.database.delete(table, where.text, where.values)
        if "wrap" not in options:
            return gone[0]
        text = options["one"].format(gone[0][table.key]) if len(gone) == 1 else options["several"].format(len(gone))
        return {options["count_as"]: len(gone), options["wrap"]: gone, "message": text}

    return run


REMOVE = Kind(compile=_remove, is_write=True, place="query")
