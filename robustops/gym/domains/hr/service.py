"""Taking a service out of the catalogue: its row stays, no longer active."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.checks import scoped
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.rows import RowShape
from robustops.gym.operations.writes import select_by_key


def _retire(domain: Domain, tool: Tool) -> Operation:
    """Id and name must be those of one service, and that one still active."""
    shape = RowShape(domain, tool.table, tool.reply)
    select = select_by_key(tool.table, shape)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        asked = (arguments["hr_service_id"], arguments["service_name"])
        text, values = scoped(domain, tool.table, call, "hr_service_id = ? AND service_name = ?", asked)
        found = call.database.row(f"SELECT hr_service_id, active FROM hr_service WHERE {text}", values)
        if found is None:
            raise ToolFailure("hr_service not found")
        key, is_active = found
        if not is_active:
            raise ToolFailure("hr_service is inactive already")
        call.database.update(tool.table, key, {"active": 0, "updated_at": call.now})
        return shape.show(call.database.rows(select, (key,))[0])

    return run


RETIRE = Kind(compile=_retire, is_write=True, place="body")
