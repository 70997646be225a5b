"""Parent and child incidents: a pair may exist once, in one direction, and not with itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import CREATE


def _add_child(domain: Domain, tool: Tool) -> Operation:
    create = CREATE.compile(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        parent, child = arguments["parent_incident"], arguments["child_incident"]
        if parent == child:
            raise ToolFailure("an incident cannot be its own child")
        reverse = "SELECT 1 FROM child_incident WHERE parent_incident = ? AND child_incident = ?"
        if call.database.row(reverse, (child, parent)) is not None:
            raise ToolFailure("the parent is already a child of this incident")
        return create(call, arguments)

    return run


ADD_CHILD = Kind(compile=_add_child, output=CREATE.output, is_write=True, place="body")
