"""Incident templates: what they fill in comes as one object, and is stored column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustops.gym.domain import Domain, Param, Tool
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import CREATE, UPDATE

VALUES = "change_request_values"


def _create_template(domain: Domain, tool: Tool) -> Operation:
    create = CREATE.compile(domain, _flat(tool))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        flat = _flattened(arguments)
        _require_offering_of_service(call, flat.get("service_offering"), flat.get("service"))
        return create(call, flat)

    return run


def _update_template(domain: Domain, tool: Tool) -> Operation:
    update = UPDATE.compile(domain, _flat(tool))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        flat = _flattened(arguments)
        sql = "SELECT service_offering, service FROM incident_template WHERE incident_template_id = ?"
        offering, service = call.database.row(sql, (flat["incident_template_id"],)) or (None, None)
        if "service_offering" in flat or "service" in flat:
            _require_offering_of_service(call, flat.get("service_offering", offering), flat.get("service", service))
        return update(call, flat)

    return run


def _flat(tool: Tool) -> Tool:
    """The same tool with a parameter for each value; an empty text stands for the null that clears a column."""
    (values,) = (param for param in tool.params if param.name == VALUES)
    columns = [Param(name=name, schema={}, enforced={}, columns=(name,)) for name in values.schema["properties"]]
    others = [param for param in tool.params if param.name != VALUES]
    return replace(tool, params=(*others, *columns), options={**tool.options, "empty": "null"})


def _flattened(arguments: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: "" if value is None else value for name, value in arguments.get(VALUES, {}).items()}
    return {**{name: value for name, value in arguments.items() if name != VALUES}, **values}


def _require_offering_of_service(call: Call, offering: str | None, service: str | None) -> None:
    if not offering or not service:
        return
    sql = "SELECT 1 FROM service_offering WHERE service_offering_id = ? AND business_service = ?"
    if call.database.row(sql, (offering, service)) is None:
        raise ToolFailure("service_offering does not belong to service")


CREATE_TEMPLATE = Kind(compile=_create_template, is_write=True, place="body")
UPDATE_TEMPLATE = Kind(compile=_update_template, is_write=True, place="body")
