"""Counting operations: per group, in total, and as an object with one key per value of an enumeration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.database import literal
from robustops.gym.domain import Domain, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation
from robustops.gym.operations.rows import column_schema


def measure_sql(measure: str) -> str:
    """`count`, `sum COLUMN`, `average COLUMN`, or `per COLUMN`: rows divided by distinct values of the column."""
    word, _, column = measure.partition(" ")
    match word:
        case "count":
            return "COUNT(*)"
        case "sum":
            return f"COALESCE(SUM({quoted(column)}), 0)"
        case "average":
            return f"COALESCE(AVG({quoted(column)}), 0.0)"
        case "per":
            return f"COALESCE(COUNT(*) * 1.0 / NULLIF(COUNT(DISTINCT {quoted(column)}), 0), 0.0)"
    raise ValueError(f"measure {measure!r}: expected count, sum, average or per, then a column")


def _group(domain: Domain, tool: Tool) -> Operation:
    """An array with one object per group that has rows, groups ascending.

    `by`: the group columns; `labels`: other names for them in the reply; `as`: the measure's name.
    `object_for`: a parameter that, when sent, makes the reply one object instead of an array.
    """
    by: Sequence[str] = tool.options["by"]
    labels = _labels(tool)
    groups = ", ".join(quoted(name) for name in by)
    filters = Filters(domain, tool.table, tool.params)
    head = f"SELECT {groups}, {measure_sql(tool.options['measure'])} FROM {quoted(tool.table.name)}"
    tail = f" GROUP BY {groups} ORDER BY {groups}"
    single: str = tool.options.get("object_for", "")

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        rows = call.database.rows(head + where.text + tail, where.values)
        found = [dict(zip(labels, row, strict=True)) for row in rows]
        if single in arguments:
            return found[0] if found else dict(zip(labels, (arguments[single], 0), strict=True))
        return found

    return run


def _total(domain: Domain, tool: Tool) -> Operation:
    """One number, `{"as": x}`; with `echo`, headed by that argument, or by `otherwise` where it is not sent."""
    filters = Filters(domain, tool.table, tool.params)
    head = f"SELECT {measure_sql(tool.options['measure'])} FROM {quoted(tool.table.name)}"
    echo, otherwise, name = tool.options.get("echo"), tool.options.get("otherwise"), tool.options["as"]

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        row = call.database.row(head + where.text, where.values)
        value = row[0] if row else 0
        return {echo: arguments.get(echo, otherwise), name: value} if echo else {name: value}

    return run


def _tally(domain: Domain, tool: Tool) -> Operation:
    """`{value: count}` over every value of the column `over`, zeros included; only the asked one when it is sent."""
    over = tool.options["over"]
    fixed = [f"{quoted(name)} = {literal(value)}" for name, value in tool.options.get("only", {}).items()]
    filters = Filters(domain, tool.table, tool.params, fixed)
    head = f"SELECT {quoted(over)}, COUNT(*) FROM {quoted(tool.table.name)}"
    tail = f" GROUP BY {quoted(over)}"
    values = tool.table.by_name[over].values

    def run(call: Call, arguments: Mapping[str, Any]) -> Any:
        where = filters.where(call, arguments)
        counts = dict(call.database.rows(head + where.text + tail, where.values))
        return {value: counts.get(value, 0) for value in ((arguments[over],) if over in arguments else values)}

    return run


def _labels(tool: Tool) -> list[str]:
    labels: Mapping[str, str] = tool.options.get("labels", {})
    return [*(labels.get(name, name) for name in tool.options["by"]), tool.options["as"]]


def _measure_schema(tool: Tool) -> dict[str, Any]:
    is_whole = tool.options["measure"].split(" ")[0] in ("count", "sum")
    return {"type": "integer" if is_whole else "number", "description": f"The {tool.options['measure']} of the rows."}


def _group_output(tool: Tool) -> dict[str, Any]:
    columns = [column_schema(tool.table.by_name[name]) for name in tool.options["by"]]
    properties = dict(zip(_labels(tool), [*columns, _measure_schema(tool)], strict=True))
    return {"type": "array", "items": {"type": "object", "properties": properties}}


def _total_output(tool: Tool) -> dict[str, Any]:
    properties = {tool.options["as"]: _measure_schema(tool)}
    if echo := tool.options.get("echo"):
        schema = next(dict(param.schema) for param in tool.params if param.name == echo)
        if "otherwise" in tool.options and "enum" in schema:
            schema["enum"] = [*schema["enum"], tool.options["otherwise"]]
        properties = {echo: schema, **properties}
    return {"type": "object", "properties": properties}


def _tally_output(tool: Tool) -> dict[str, Any]:
    values = tool.table.by_name[tool.options["over"]].values
    return {"type": "object", "properties": {value: {"type": "integer"} for value in values}}


GROUP = Kind(compile=_group, output=_group_output)
TOTAL = Kind(compile=_total, output=_total_output)
TALLY = Kind(compile=_tally, output=_tally_output)
