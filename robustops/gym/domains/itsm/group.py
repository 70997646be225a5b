"""Making a user group: the schema calls its manager optional, the server does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import CREATE


def _add_group(domain: Domain, tool: Tool) -> Operation:
    create = CREATE.compile(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        manager = arguments.get("manager_id")
        role = call.database.row("SELECT role FROM users WHERE user_id = ?", (manager,))
        if role is None:
            raise ToolFailure("manager_id not found", code="MANAGER_NOT_FOUND", field="manager_id")
        if role[0] != "manager":
            raise ToolFailure(
                "the manager of a group must have the role of one", code="INVALID_MANAGER_ROLE", field="manager_id"
            )
        return create(call, arguments)

    return run


ADD_GROUP = Kind(compile=_add_group, is_write=True, place="body")
