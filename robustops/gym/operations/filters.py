"""Arguments in, a WHERE clause and its values out. Column names come from declarations, values are always bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robustops.gym.domain import ColumnType, Domain, Param, Table
from robustops.gym.hashing import quoted
from robustops.gym.operations.kind import Call
from robustops.gym.operations.times import naive_utc

_CONDITIONS: Mapping[str, str] = {
    "equals": "{} = ?",
    "same_text": "{} = ? COLLATE NOCASE",
    # Literal substring: LIKE would read `_` and `%` in a name as wildcards.
    "contains": "instr(lower({}), lower(?)) > 0",
    "contains_exactly": "instr({}, ?) > 0",
    "before": "{} < ?",
    "after": "{} > ?",
    "at_least": "{} >= ?",
    "at_most": "{} <= ?",
    "in": "{} IN (?)",
    # A list that is stored as JSON or as text with commas has one of the wanted items.
    "any_of": "instr(',' || replace(replace(replace(replace("
    """{}, '[', ''), ']', ''), '"', ''), ' ', '') || ',', ',' || ? || ',') > 0""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """`text` starts with ` WHERE`, or is empty. `num_filters` leaves out conditions that the caller did not send."""

    text: str
    values: tuple[Any, ...]
    num_filters: int


class Filters:
    """The filter parameters of one tool. Conditions are ANDed; one that is not sent does not filter."""

    def __init__(self, domain: Domain, table: Table, params: Sequence[Param], fixed: Sequence[str] = ()) -> None:
        self._conditions = {param.name: (_condition(domain, table, param), param) for param in params}
        self._iso = domain.iso_timestamps
        self._timestamps = frozenset(param.name for param in params if _is_timestamp(table, param))
        self._flags = frozenset(param.name for param in params if _is_type(table, param, "boolean"))
        self._reads_times = domain.reads_times
        self._fixed = tuple(fixed)
        self._scope = domain.scope if domain.scope in table.by_name else ""

    def where(self, call: Call, arguments: Mapping[str, Any]) -> Where:
        texts, values, num_filters = list(self._fixed), [], 0
        if self._scope:
            texts.append(f"{quoted(self._scope)} = ?")
            values.append(call.caller[self._scope])
        for name, (condition, param) in self._conditions.items():
            if name in arguments:
                bound = self._bound(param, arguments[name])
                if param.match in ("in", "any_of"):
                    texts.append(_for_each(condition, len(bound), is_set=param.match == "in"))
                    values += bound
                else:
                    texts.append(condition)
                    values.append(bound)
                num_filters += 1
        text = " WHERE " + " AND ".join(texts) if texts else ""
        return Where(text=text, values=tuple(values), num_filters=num_filters)

    def _bound(self, param: Param, value: Any) -> Any:
        """The value that the condition's mark stands for; a list of them where the argument is one."""
        if param.match == "in":
            return list(value)
        if param.match == "any_of":
            items = value if isinstance(value, list) else str(value).split(",")
            return [str(item).strip() for item in items]
        if param.name in self._flags and isinstance(value, str):
            return value.lower() == "true"
        if self._reads_times and param.name in self._timestamps:
            moment = naive_utc(str(value))
            return str(value) if moment is None else moment.isoformat(" ")
        if self._iso and param.name in self._timestamps:
            return str(value).replace(" ", "T", 1)
        return value


def _for_each(condition: str, num_items: int, *, is_set: bool) -> str:
    """One mark for each item. SQLite's json_each would do it with one, but not survive another database's loading."""
    if is_set:
        return condition.replace("(?)", f"({', '.join('?' * num_items)})")
    return f"({' OR '.join([condition] * num_items)})" if num_items else "0"


def _condition(domain: Domain, table: Table, param: Param) -> str:
    expression = " || ' ' || ".join(quoted(name) for name in (param.columns or (param.name,)))
    if domain.reads_times and _is_timestamp(table, param):
        expression = f"replace(replace({expression}, 'T', ' '), '.000000', '')"
    elif domain.iso_timestamps and _is_timestamp(table, param):
        expression = f"replace({expression}, ' ', 'T')"
    if param.resolve is not None:
        # The argument names a row elsewhere: compare with the ids of the rows that bear that name.
        other, names = param.resolve
        name = " || ' ' || ".join(quoted(part) for part in names)
        key = quoted(domain.tables[other].key)
        inner = _CONDITIONS[param.match].format(name)
        return f"{expression} IN (SELECT {key} FROM {quoted(other)} WHERE {inner})"
    return _CONDITIONS[param.match].format(expression)


def _is_timestamp(table: Table, param: Param) -> bool:
    return _is_type(table, param, "timestamp")


def _is_type(table: Table, param: Param, column_type: ColumnType) -> bool:
    column = table.by_name.get(param.column)
    return column is not None and column.type == column_type
