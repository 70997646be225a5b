"""Links between cases and articles, and how many notifications a case has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation, ToolFailure
from robustops.gym.operations.writes import DELETE

LINK, CASE, ARTICLE = "hr_case_kb_id", "hr_case_id", "knowledge_id"


def _remove_links(domain: Domain, tool: Tool) -> Operation:
    """A link's own id goes before case and article; a case alone means all of its links."""
    delete = DELETE.compile(domain, replace(tool, params=tuple(p for p in tool.params if p.name != "used_as")))

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        if LINK in arguments:
            return delete(call, {LINK: arguments[LINK]})
        if CASE not in arguments:
            raise ToolFailure(f"{LINK} or {CASE} is required")
        return delete(call, {name: arguments[name] for name in (CASE, ARTICLE) if name in arguments})

    return run


def _average(domain: Domain, tool: Tool) -> Operation:
    """Notifications divided by cases, those without any included; 0.0 where there is no case."""
    cases = Filters(domain, domain.tables["hr_case"], tool.params)
    notifications = Filters(domain, tool.table, tool.params)

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        numbers = []
        for table, filters in (("notification", notifications), ("hr_case", cases)):
            where = filters.where(call, arguments)
            numbers.append(call.database.rows(f"SELECT COUNT(*) FROM {table}{where.text}", where.values)[0][0])
        return {"average": round(numbers[0] / numbers[1], 2) if numbers[1] else 0.0}

    return run


REMOVE_LINKS = Kind(compile=_remove_links, is_write=True, place="query")
AVERAGE = Kind(compile=_average)
