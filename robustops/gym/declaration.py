"""A domain's YAML files in, a `Domain` out. Raises ValueError, naming file and entry, for a declaration that is wrong.

A column is one line: `TYPE [option=value ...] | description`, with TYPE one of integer, real, boolean, text, timestamp,
json, or `enum=NAME` for a text column with listed values. Options: ref=TABLE, default=VALUE,
stamp=create|update|default, number=FORMAT (from the new id), counting=FORMAT (from the column's highest number),
caller=COLUMN (of the acting user), copy=REFERENCE:COLUMN (of the row that the new row's REFERENCE names).
Parameters: robustops/gym/parameter.py. A reply is a list of columns, or a mapping of its keys to columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader  # ten times as fast, but not everywhere
except ImportError:
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

from robustops.gym.domain import Caller, Column, ColumnType, Domain, Table, Tool
from robustops.gym.operations.kind import Kind
from robustops.gym.parameter import parse_param


class _Loader(_SafeLoader):
    """YAML lets a later key replace an earlier one of the same name; in a declaration that is a mistake."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name}: declared twice{node.start_mark}")
        return super().construct_mapping(node, deep)


def _read(text: str) -> Any:
    return yaml.load(text, Loader=_Loader)


def parse_domain(
    header: str,
    *,
    table_files: Iterable[str],
    tool_files: Iterable[str],
    kinds: Mapping[str, Kind],
    shape_files: Iterable[str] = (),
) -> Domain:
    """All arguments but `kinds` are YAML texts.

    `header`: name, servers, caller, enums, the ways of the server, and what holds for all tools that say nothing else:
    `param_docs`, descriptions of parameters by name, and `schema`, further words of input schemas; `reply_schemas`
    where the server advertises schemas of replies. `tool_files`: the
    tools, in the server's order. `shape_files`: JSON schemas by name, for parameters that are objects or lists.
    """
    shapes: dict[str, Any] = {}
    for text in shape_files:
        shapes |= _read(text)
    data = _read(header)
    enums = {name: tuple(map(str, values)) for name, values in data.pop("enums").items()}
    tables: dict[str, Table] = {}
    for text in table_files:
        tables |= {name: _table(name, entry, enums) for name, entry in _read(text).items()}
    common = {"docs": data.pop("param_docs", {}), "schema": data.pop("schema", {})}
    shows_replies = data.pop("reply_schemas", False)
    tools: dict[str, Tool] = {}
    for text in tool_files:
        for name, entry in _read(text).items():
            if name in tools:
                raise ValueError(f"tool {name}: declared twice")
            entry = {**common, **entry, "docs": {**common["docs"], **entry.get("docs", {})}}
            tool = _tool(name, entry, tables, kinds, shapes)
            tools[name] = replace(tool, output_schema=kinds[tool.does].output(tool)) if shows_replies else tool
    caller = Caller(**data.pop("caller"))
    lists: dict[str, Any] = {"servers": tuple(data.pop("servers")), "after_seed": tuple(data.pop("after_seed", ()))}
    return Domain(**data, **lists, caller=caller, tables=tables, tools=tools)


def _table(name: str, entry: Mapping[str, Any], enums: Mapping[str, tuple[str, ...]]) -> Table:
    columns = tuple(_column(f"{name}.{column}", column, line, enums) for column, line in entry["columns"].items())
    return Table(
        name=name,
        key=entry.get("key", ""),
        columns=columns,
        unique=tuple(tuple(group) for group in entry.get("unique", ())),
        indexes=tuple(tuple(group) for group in entry.get("indexes", ())),
        id_format=entry.get("ids", ""),
    )


def _column(where: str, name: str, line: str, enums: Mapping[str, tuple[str, ...]]) -> Column:
    head, _, doc = line.partition("|")
    kind, *options = head.split()
    values: tuple[str, ...] = ()
    column_type = kind
    if kind.startswith("enum="):
        column_type, values = "text", enums[kind.removeprefix("enum=")]
    if column_type not in get_args(ColumnType):
        raise ValueError(f"column {where}: type {column_type!r}, expected one of {', '.join(get_args(ColumnType))}")
    settings = dict(option.split("=", 1) for option in options)
    default = _read(settings.pop("default", "null"))
    renamed = {
        "stamp": settings.pop("stamp", ""),
        "references": settings.pop("ref", ""),
        "number_format": settings.pop("number", ""),
        "numbering": settings.pop("counting", ""),
        "caller_column": settings.pop("caller", ""),
        "copied": tuple(settings.pop("copy").split(":")) if "copy" in settings else None,
    }
    if settings:
        raise ValueError(f"column {where}: unknown option {', '.join(settings)}")
    return Column(name=name, type=column_type, doc=doc.strip(), values=values, default=default, **renamed)  # type: ignore[arg-type]


def _tool(
    name: str,
    entry: Mapping[str, Any],
    tables: Mapping[str, Table],
    kinds: Mapping[str, Kind],
    shapes: Mapping[str, Any],
) -> Tool:
    entry = dict(entry)
    table = tables[entry.pop("table")]
    docs = entry.pop("docs", {})
    lines: Mapping[str, str | None] = entry.pop("params")
    params = tuple(
        parse_param(f"{name}.{param}", param, line or "", table, docs.get(param), shapes)
        for param, line in lines.items()
    )
    reply = entry.pop("reply", ())
    all_but: Sequence[str] = entry.pop("reply_without", ())
    if reply == "row":
        reply = [column.name for column in table.columns if column.name not in all_but]
    labels = tuple(reply) if isinstance(reply, Mapping) else ()
    reply = list(reply.values()) if isinstance(reply, Mapping) else reply
    does, doc = entry.pop("does"), entry.pop("doc")
    for column in reply:
        if column not in table.by_name:
            raise ValueError(f"tool {name}: reply column {column!r} is not in table {table.name}")
    if does not in kinds:
        raise ValueError(f"tool {name}: does {does!r}, expected one of {', '.join(kinds)}")
    return Tool(
        name=name,
        does=does,
        doc=doc,
        table=table,
        params=params,
        reply=tuple(reply),
        labels=labels,
        schema_extras=entry.pop("schema", {}),
        options=entry,
    )
