"""A domain's YAML files in, a `Domain` out. Raises ValueError, naming file and entry, for a declaration that is wrong.

A column is one line: `TYPE [option=value ...] | description`, with TYPE one of integer, real, boolean, text, timestamp,
or `enum=NAME` for a text column with listed values. Options: ref=TABLE, default=VALUE, stamp=create|update|default,
number=FORMAT (from the new id), counting=FORMAT (from the column's highest number), caller=COLUMN (of the acting user),
copy=REFERENCE:COLUMN (of the row that the new row's REFERENCE names).

A parameter is one line of words. `required`, `nonempty`, `longest N`, `lowest N`, `shaped PATTERN` say what is
advertised and checked; `hidden_nonempty`, `hidden_longest N` and `hidden_values` (the column's enumeration) are checked
but not advertised; `plus VALUE` adds to the enumeration, `freetext` drops it; `as_text` advertises a number as text. A match with its
columns (`is`, `same_text`, `contains`, `before`, `after`, `at_least`, `at_most`, `in`); `names TABLE:COLUMNS` for a
name that stands for that table's id; a JSON type, or `integers`, for an argument that is no column. Columns are joined
by `+`; without any, the parameter's name is one.
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
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times as fast, but not everywhere
_OWN_TYPES = ("integer", "string", "boolean", "number")
_BOUNDS: Mapping[str, str] = {"longest": "maxLength", "lowest": "minimum", "shaped": "pattern"}


def _read(text: str) -> Any:
    return yaml.load(text, Loader=_LOADER)


def parse_domain(
    header: str, *, table_files: Iterable[str], tool_files: Iterable[str], kinds: Mapping[str, Kind]
) -> Domain:
    """All arguments but `kinds` are YAML texts.

    `header`: name, servers, caller, enums and the ways of the server; `tool_files`: the tools, in the server's order.
    """
    data = _read(header)
    enums = {name: tuple(map(str, values)) for name, values in data.pop("enums").items()}
    tables: dict[str, Table] = {}
    for text in table_files:
        tables |= {name: _table(name, entry, enums) for name, entry in _read(text).items()}
    tools: dict[str, Tool] = {}
    for text in tool_files:
        for name, entry in _read(text).items():
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
    bounds: dict[str, Any] = {}
    more_values: list[str] = []
    hidden: dict[str, Any] = {}
    columns: tuple[str, ...] = (name,)
    match, own_type = "equals", ""
    resolve: tuple[str, tuple[str, ...]] | None = None
    while line.words:
        word = line.next()
        if word in ("required", "nonempty", "freetext", "as_text", "hidden_values", "integers"):
            flags.add(word)
        elif word in _BOUNDS:
            value = line.next()
            bounds[_BOUNDS[word]] = value if word == "shaped" else int(value)
        elif word == "plus":
            more_values.append(line.next())
        elif word == "hidden_nonempty":
            hidden["minLength"] = 1
        elif word == "hidden_longest":
            hidden["maxLength"] = int(line.next())
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
    schema = {**_schema(where, table, columns, match, own_type or ("string" if resolve else ""), flags), **bounds}
    if more_values:
        schema["enum"] = [*schema["enum"], *more_values]
    if "hidden_values" in flags:
        hidden["enum"] = list(table.by_name[columns[0]].values)
    if description := doc or _description(table, columns, match):
        schema["description"] = description
    return Param(
        name=name,
        schema=schema,
        enforced={**schema, **hidden},
        columns=columns,
        match=match,  # type: ignore[arg-type]
        is_required="required" in flags,
        resolve=resolve,
    )


def _schema(
    where: str, table: Table, columns: Sequence[str], match: str, own_type: str, flags: set[str]
) -> dict[str, Any]:
    if own_type:
        return {"type": own_type, **({"minLength": 1} if "nonempty" in flags else {})}
    for column in columns:
        if column not in table.by_name:
            raise ValueError(f"parameter {where}: {column!r} is no column of table {table.name}")
    if "integers" in flags:
        return {"type": "array", "items": {"type": "integer"}}
    first = table.by_name[columns[0]]
    schema: dict[str, Any] = {"type": "string" if "as_text" in flags else JSON_TYPES[first.type]}
    if first.values and not flags & {"freetext", "hidden_values"} and match in ("equals", "in"):
        schema["enum"] = list(first.values)
    if "nonempty" in flags:
        schema["minLength"] = 1
    return {"type": "array", "items": schema} if match == "in" else schema


def _description(table: Table, columns: Sequence[str], match: str) -> str:
    own = table.by_name[columns[0]].doc if columns else ""
    return " ".join(filter(None, (own, _MATCH_DOCS.get(match, ""))))
