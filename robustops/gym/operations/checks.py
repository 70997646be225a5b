"""What servers check before they write: references, uniqueness, names that stand for ids, ids and numbers to give."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domain import Column, Domain, Table, Tool
from robustops.gym.hashing import quoted
from robustops.gym.operations.kind import Call, ToolFailure
from robustops.gym.operations.times import naive_utc


def column_values(domain: Domain, tool: Tool, call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The sent arguments by column: names resolved to ids, empty strings made NULL where the tool says so.

    Raises ToolFailure `Invalid <argument>` for a name or id that stands for no row.
    """
    empty_is_null = tool.options.get("empty") == "null"
    values: dict[str, Any] = {}
    for param in tool.params:
        if param.name not in arguments or not param.columns:
            continue
        value = arguments[param.name]
        if isinstance(value, list | dict):
            value = json.dumps(value)
        if domain.reads_times and tool.table.by_name[param.column].type == "timestamp" and value != "":
            moment = naive_utc(value)
            if moment is None:
                raise ToolFailure(f"Invalid {param.name}", code="INVALID_REFERENCE", field=param.name)
            value = moment.strftime(domain.time_format)
        if value == "" and empty_is_null:
            value = None
        elif param.resolve is not None:
            value = _resolved(domain, call, param.resolve, value)
            if value is None:
                raise ToolFailure(f"Invalid {param.name}", code="INVALID_REFERENCE", field=param.name)
        elif (other := _references(tool.table, param.column)) and not has_row(domain, call, other, value):
            raise ToolFailure(f"Invalid {param.name}", code="INVALID_REFERENCE", field=param.name)
        values[param.column] = value
    return values


def _references(table: Table, column: str) -> str:
    return table.by_name[column].references if column in table.by_name and column != table.key else ""


def _resolved(domain: Domain, call: Call, resolve: tuple[str, tuple[str, ...]], name: Any) -> Any:
    table = domain.tables[resolve[0]]
    expression = " || ' ' || ".join(quoted(part) for part in resolve[1])
    text, values = scoped(domain, table, call, f"{expression} = ?", (name,))
    key = quoted(table.key)
    row = call.database.row(f"SELECT {key} FROM {quoted(table.name)} WHERE {text} ORDER BY {key}", values)
    return None if row is None else row[0]


def has_row(domain: Domain, call: Call, table_name: str, key: Any) -> bool:
    table = domain.tables[table_name]
    text, values = scoped(domain, table, call, f"{quoted(table.key)} = ?", (key,))
    return call.database.row(f"SELECT 1 FROM {quoted(table_name)} WHERE {text}", values) is not None


def scoped(domain: Domain, table: Table, call: Call, text: str, values: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Narrow a condition to the rows that the caller may see."""
    if domain.scope and domain.scope in table.by_name:
        return f"{text} AND {quoted(domain.scope)} = ?", (*values, call.caller[domain.scope])
    return text, values


def require_one_of(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raises ToolFailure unless one of the argument sets under the option `needs` was sent completely."""
    needs: Sequence[Sequence[str]] = tool.options.get("needs", ())
    if needs and not any(all(name in arguments for name in names) for names in needs):
        wanted = " or ".join(" and ".join(names) for names in needs)
        raise ToolFailure(f"{wanted} is required", code="MISSING_FIELD")


def require_unique(call: Call, table: Table, row: Mapping[str, Any], *, own_key: Any = None) -> None:
    """Raises ToolFailure naming the columns when another row has the same values in all of them. NULLs never clash."""
    for columns in table.unique:
        values = [row.get(name) for name in columns]
        if any(value is None for value in values):
            continue
        condition = " AND ".join(f"{quoted(name)} = ?" for name in columns)
        if own_key is not None:
            condition += f" AND {quoted(table.key)} != ?"
            values.append(own_key)
        if call.database.row(f"SELECT 1 FROM {quoted(table.name)} WHERE {condition}", values) is not None:
            code = f"DUPLICATE_{columns[-1].upper()}"
            raise ToolFailure(f"{', '.join(columns)} already exists", code=code, field=columns[-1])


def next_key(call: Call, table: Table) -> Any:
    """Autoincrement: one above the highest id ever given. `PREFIX_NNN`: one above the highest there is."""
    if not table.id_format:
        return call.database.next_sequence(table.name)
    if table.id_format == "uuid4":
        return call.ids.uuid()
    prefix = table.id_format.split("{", 1)[0]
    return table.id_format.format(_highest(call, table.name, table.key, prefix) + 1)


def _highest(call: Call, table: str, column: str, prefix: str) -> int:
    number = f"MAX(CAST(substr({quoted(column)}, {len(prefix) + 1}) AS INTEGER))"
    condition = f"substr({quoted(column)}, 1, {len(prefix)}) = ?"
    row = call.database.row(f"SELECT {number} FROM {quoted(table)} WHERE {condition}", (prefix,))
    return int(row[0]) if row is not None and row[0] is not None else 0


def initial_value(call: Call, table: Table, column: Column, key: Any) -> Any:
    """What a column holds in a new row when the caller sends nothing for it."""
    if column.stamp:
        return call.now
    if column.number_format:
        digits = key if isinstance(key, int) else int(str(key).rsplit("_", 1)[-1])
        return column.number_format.format(digits)
    if column.numbering:
        numbering = column.numbering.replace("%Y%m%d", call.now[:10].replace("-", ""))
        return numbering.format(_highest(call, table.name, column.name, numbering.split("{", 1)[0]) + 1)
    if column.caller_column:
        return call.caller[column.caller_column]
    return column.default


def copied_values(domain: Domain, call: Call, table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the columns of a new row take over from the rows that it refers to."""
    values: dict[str, Any] = {}
    for column in table.columns:
        if column.copied is None:
            continue
        reference, source = column.copied
        other = domain.tables[table.by_name[reference].references]
        sql = f"SELECT {quoted(source)} FROM {quoted(other.name)} WHERE {quoted(other.key)} = ?"
        found = call.database.row(sql, (row[reference],))
        values[column.name] = found[0] if found is not None else None
    return values
