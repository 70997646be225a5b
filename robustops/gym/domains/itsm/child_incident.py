"""Parent and child incidents: a pair may exist once, in one direction, and not with itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustops.gym.domain import Domain, Param, Tool
from robustops.gym.operations.checks import has_row
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import CREATE, UPDATE


def _require_possible(call: Call, parent: str, child: str) -> None:
    if parent == child:
        raise ToolFailure("an incident cannot be its own child", code="INVALID_RELATIONSHIP")
    reverse = "SELECT 1 FROM child_incident WHERE parent_incident = ? AND child_incident = ?"
    if call.database.row(reverse, (child, parent)) is not None:
        raise ToolFailure("the parent is already a child of this incident", code="INVALID_RELATIONSHIP")


def _add_child(domain: Domain, tool: Tool) -> Operation:
    create = CREATE.compile(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        _require_possible(call, arguments["parent_incident"], arguments["child_incident"])
        return create(call, arguments)

    return run


def _add_children(domain: Domain, tool: Tool) -> Operation:
    """Every child must exist before the first link is made."""
    (parent_param,) = (param for param in tool.params if param.name == "parent_incident")
    child_param = Param(name="child_incident", schema={}, enforced={}, columns=("child_incident",))
    create = CREATE.compile(domain, replace(tool, params=(parent_param, child_param)))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        parent, children = arguments["parent_incident"], arguments["child_incidents"]
        unknown = [child for child in children if not has_row(domain, call, "incident", child)]
        if unknown or not children:
            raise ToolFailure(f"child incidents not found: {', '.join(unknown)}")
        links = []
        for child in children:
            _require_possible(call, parent, child)
            links.append(create(call, {"parent_incident": parent, "child_incident": child}))
        return links

    return run


def _update_child(domain: Domain, tool: Tool) -> Operation:
    update = UPDATE.compile(domain, tool)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        _require_possible(call, arguments["parent_incident"], arguments["child_incident"])
        return update(call, arguments)

    return run


ADD_CHILD = Kind(compile=_add_child, is_write=True, place="body")
ADD_CHILDREN = Kind(compile=_add_children, is_write=True, place="body")
UPDATE_CHILD = Kind(compile=_update_child, is_write=True, place="body")
