"""Users in pages, in the order that the caller wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation
from robustops.gym.operations.rows import RowShape

LIMIT, OFFSET = 50, 0


def _page(domain: Domain, tool: Tool) -> Operation:
    shape = RowShape(domain, tool.table, tool.reply)
    filters = Filters(domain, tool.table, [param for param in tool.params if param.columns])
    key = quoted(tool.table.key)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        order = quoted(arguments.get("order_by", "created_at"))  # one of the columns that the schema lists
        direction = "DESC" if arguments.get("order_direction") == "desc" else "ASC"
        tail = f"{where.text} ORDER BY {order} {direction}, {key}"
        rows = call.database.rows(f"SELECT {shape.columns} FROM {quoted(tool.table.name)}{tail}", where.values)
        limit, offset = arguments.get("limit", LIMIT), arguments.get("offset", OFFSET)
        page = [shape.show(row) for row in rows[offset : offset + limit]]
        counts = {"total_count": len(rows), "returned_count": len(page), "limit": limit, "offset": offset}
        return {"users": page, **counts}

    return run


PAGE = Kind(compile=_page)
