"""Counts and sums as this server shows them: objects whose keys are names of enumeration members or ids.

A reported quirk is kept (docs/gym_rules.md): the metrics look for the names of the members, which are in capitals,
among values in small letters. So every listed one is 0, and without a list there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.aggregates import measure_sql
from robustops.gym.operations.checks import has_row
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure


def _metric(_domain: Domain, tool: Tool) -> Operation:
    """`{"metrics": {"HIGH": x}}`. Options: `over`, a column; `listed`, an argument; `measure` as for `group`."""
    over, listed, measure = tool.options["over"], tool.options["listed"], tool.options["measure"]
    sql = f"SELECT {measure_sql(measure)} FROM {quoted(tool.table.name)} WHERE {quoted(over)} = ?"
    is_average = measure.startswith("average")

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        found: dict[str, Any] = {}
        for name in (value.upper() for value in arguments.get(listed, ())):
            (value,) = call.database.rows(sql, (name,))[0]
            found[name] = round(value, 2) if is_average else value
        return {"metrics": found}

    return run


def _count_for(domain: Domain, tool: Tool) -> Operation:
    """`{id: n}`; `named_by`: the argument with the id."""
    filters = Filters(domain, tool.table, tool.params)
    head = f"SELECT COUNT(*) FROM {quoted(tool.table.name)}"

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        (number,) = call.database.rows(head + where.text, where.values)[0]
        return {arguments[tool.options["named_by"]]: number}

    return run


def _count_by_incident(domain: Domain, _tool: Tool) -> Operation:
    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        found = dict(call.database.rows("SELECT incident_id, COUNT(*) FROM notification GROUP BY 1 ORDER BY 1"))
        asked = arguments.get("incident_id") or ()
        _require_incidents(domain, call, asked)
        return {"metrics": {name: found.get(name, 0) for name in asked} if asked else found}

    return run


def _average_by_incident(domain: Domain, _tool: Tool) -> Operation:
    """Over the incidents that have notifications; 0.0 where none has."""

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        asked = arguments.get("incident_id") or ()
        _require_incidents(domain, call, asked)
        found = dict(call.database.rows("SELECT incident_id, COUNT(*) FROM notification GROUP BY 1"))
        counts = [number for name, number in found.items() if not asked or name in asked]
        return {"average": round(sum(counts) / len(counts), 2) if counts else 0.0}

    return run


def _require_incidents(domain: Domain, call: Call, names: Sequence[str]) -> None:
    for name in names:
        if not has_row(domain, call, "incident", name):
            raise ToolFailure(f"incident_id {name} not found")


def _breached_by_stage(_domain: Domain, tool: Tool) -> Operation:
    stages = tool.table.by_name["stage"].values

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        sql = "SELECT stage, COUNT(*) FROM incident_sla WHERE has_breached = 1 GROUP BY stage"
        found = dict(call.database.rows(sql))
        asked = arguments.get("stages") or [stage for stage in stages if stage in found]
        return {"counts": {f"SLAStage.{stage.upper()}": found.get(stage, 0) for stage in asked}}

    return run


METRIC = Kind(compile=_metric)
COUNT_FOR = Kind(compile=_count_for)
COUNT_BY_INCIDENT = Kind(compile=_count_by_incident)
AVERAGE_BY_INCIDENT = Kind(compile=_average_by_incident)
BREACHED_BY_STAGE = Kind(compile=_breached_by_stage)
