"""A domain's YAML files in, a `Domain` out. Raises ValueError, naming file and entry, for a declaration that is wrong.

A column is one line: `TYPE [option=value ...] | description`, with TYPE one of integer, real, boolean, text, timestamp,
or `enum=NAME` for a text column with listed values. Options: ref=TABLE, default=VALUE, stamp=create|update|default,
number=FORMAT (from the new id), counting=FORMAT (from the column's highest number), caller=COLUMN.

A parameter is one line of words: `required`, `nonempty`, `freetext` (no enumeration although the column has one),
`longest N`, `hidden_longest N` (enforced but not advertised), a match with its columns (`is`, `same_text`, `contains`,
`before`, `after`, `at_least`, `at_most`, `in`), `names TABLE:COLUMNS` (a name that stands for that table's id), or a
JSON type for an argument that is no column. Columns are joined by `+`; without any, the parameter's name is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import yaml

from robustops.gym.domain import JSON_TYPES, Caller, Column, ColumnType, Domain, Match, Param, Table, Tool
from robustops.gym.operations.kind import Kind

_MATCHES = {"is": "equals", **{word: word for word in get_args(Match)}}
_MATCH_DOCS: Mapping[str, str] = {
    "same_text": "Full match; case does not matter.",
    "contains": "Part of the text is enough; case does not matter.",
    "before": "Only rows before this time (YYYY-MM-DD HH:MM:SS).",
    "after": "Only rows after this time (YYYY-MM-DD HH:MM:SS).",
    "at_least": "Lower bound, included.",
    "at_most": "Upper bound, included.",
}
_OWN_TYPES = ("integer", "string", "boolean", "number", "object")


def parse_domain(header: str, tool_files: Iterable[str], kinds: Mapping[str, Kind]) -> Domain:
    """`header`: YAML with name, servers, caller, enums and tables; `tool_files`: YAML with tools, in server order."""
    data = yaml.safe_load(header)
    enums = {name: tuple(map(str, values)) for name, values in data.pop("enums").items()}
    tables = {name: _table(name, entry, enums) for name, entry in data.pop("tables").items()}
    tools: dict[str, Tool] = {}
    for text in tool_files:
        for name, entry in yaml.safe_load(text).items():
            if name in tools:
                raise ValueError(f"tool {name}: declared twice")
            tools[name] = _tool(name, entry, tables, kinds)
    caller = Caller(**data.pop("caller"))
    return Domain(**{**data, "servers": tuple(data["servers"])}, caller=caller, tables=tables, tools=tools)


def _table(name: str, entry: Mapping[str, Any], enums: Mapping[str, tuple[str, ...]]) -> Table:
    columns = tuple(_column(f"{name}.{column}", column, line, enums) for column, line in entry["columns"].items())
    return Table(
        name=name,
        key=entry.get("key", ""),
        columns=columns,
        unique=tuple(tuple(group) for group in entry.get("unique", ())),
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
    default = yaml.safe_load(settings.pop("default", "null"))
    renamed = {
        "stamp": settings.pop("stamp", ""),
        "references": settings.pop("ref", ""),
        "number_format": settings.pop("number", ""),
        "numbering": settings.pop("counting", ""),
        "caller_column": settings.pop("caller", ""),
    }
    if settings:
        raise ValueError(f"column {where}: unknown option {', '.join(settings)}")
    return Column(name=name, type=column_type, doc=doc.strip(), values=values, default=default, **renamed)  # type: ignore[arg-type]


def _tool(name: str, entry: Mapping[str, Any], tables: Mapping[str, Table], kinds: Mapping[str, Kind]) -> Tool:
    entry = dict(entry)
    table = tables[entry.pop("table")]
    docs = entry.pop("docs", {})
    lines: Mapping[str, str | None] = entry.pop("params")
    params = tuple(
        _param(f"{name}.{param}", param, line or "", table, docs.get(param)) for param, line in lines.items()
    )
    reply = entry.pop("reply", ())
    all_but: Sequence[str] = entry.pop("reply_without", ())
    if reply == "row":
        reply = [column.name for column in table.columns if column.name not in all_but]
    does, doc = entry.pop("does"), entry.pop("doc")
    for column in reply:
        if column not in table.by_name:
            raise ValueError(f"tool {name}: reply column {column!r} is not in table {table.name}")
    if does not in kinds:
        raise ValueError(f"tool {name}: does {does!r}, expected one of {', '.join(kinds)}")
    bare = Tool(name=name, does=does, doc=doc, table=table, params=params, reply=tuple(reply), options=entry)
    return Tool(
        name=name,
        does=does,
        doc=doc,
        table=table,
        params=params,
        reply=tuple(reply),
        options=entry,
        output_schema=kinds[does].output(bare),
    )


class _Line:
    """The words of a parameter's line, taken from the left."""

    def __init__(self, where: str, text: str) -> None:
        self.where = where
        self.words = text.split()

    def next(self) -> str:
        if not self.words:
            raise ValueError(f"parameter {self.where}: its line ends too early")
        return self.words.pop(0)


def _param(where: str, name: str, text: str, table: Table, doc: str | None) -> Param:
    line = _Line(where, text)
    flags: set[str] = set()
    columns: tuple[str, ...] = (name,)
    match, own_type = "equals", ""
    max_length: int | None = None
    advertised_length: int | None = None
    resolve: tuple[str, tuple[str, ...]] | None = None
    while line.words:
        word = line.next()
        if word in ("required", "nonempty", "freetext"):
            flags.add(word)
        elif word == "longest":
            advertised_length = int(line.next())
        elif word == "hidden_longest":
            max_length = int(line.next())
        elif word in _OWN_TYPES:
            own_type, columns = word, ()
        elif word == "names":
            other, _, other_columns = line.next().partition(":")
            resolve = (other, tuple(other_columns.split("+")))
        elif word in _MATCHES:
            match = _MATCHES[word]
            if line.words and line.words[0].split("+")[0] in table.by_name:
                columns = tuple(line.next().split("+"))
        else:
            raise ValueError(f"parameter {where}: unknown word {word!r}")
    schema = _schema(where, table, columns, match, own_type or ("string" if resolve else ""), flags)
    if advertised_length is not None:
        schema["maxLength"] = advertised_length
    if description := doc or _description(table, columns, match):
        schema["description"] = description
    return Param(
        name=name,
        schema=schema,
        columns=columns,
        match=match,  # type: ignore[arg-type]
        is_required="required" in flags,
        hidden_max_length=max_length,
        resolve=resolve,
    )


def _schema(
    where: str, table: Table, columns: Sequence[str], match: str, own_type: str, flags: set[str]
) -> dict[str, Any]:
    if own_type:
        return {"type": own_type}
    for column in columns:
        if column not in table.by_name:
            raise ValueError(f"parameter {where}: {column!r} is no column of table {table.name}")
    first = table.by_name[columns[0]]
    schema: dict[str, Any] = {"type": JSON_TYPES[first.type]}
    if first.values and "freetext" not in flags and match in ("equals", "in"):
        schema["enum"] = list(first.values)
    if "nonempty" in flags:
        schema["minLength"] = 1
    return {"type": "array", "items": schema} if match == "in" else schema


def _description(table: Table, columns: Sequence[str], match: str) -> str:
    own = table.by_name[columns[0]].doc if columns else ""
    return " ".join(filter(None, (own, _MATCH_DOCS.get(match, ""))))
