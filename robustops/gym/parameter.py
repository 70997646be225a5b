"""One line of a domain's declaration in, one `Param` out. Raises ValueError naming tool, parameter and word.

What is advertised and checked: `required`, `nonempty`, `shortest N`, `longest N`, `lowest N`, `highest N`,
`shaped PATTERN`, `plus VALUE` (one more for the enumeration), `freetext` (no enumeration although the column has one),
`as_text` (a number or a boolean sent as text). What is advertised and not applied: `nullable` (null beside the type),
`default VALUE`, `format NAME`.
What is checked but not advertised: `hidden_nonempty`, `hidden_longest N`, `hidden_shaped PATTERN`, `hidden_values` (the
column's enumeration), `hidden_email`, `path` (part of the URL: neither missing nor empty).
What it is matched with: `is`, `same_text`, `contains`, `before`, `after`, `at_least`, `at_most` or `in`, and then the
columns, joined by `+`; without any, the parameter's own name is the column.
What it stands for: `names TABLE:COLUMNS` for a name instead of that table's id, `integers` for a list that is stored
as JSON, or a JSON type for an argument that is no column; `shape NAME` is one of the domain's named schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import yaml

from robustops.gym.domain import JSON_TYPES, Match, Param, Table

_MATCHES: Mapping[str, Match] = {"is": "equals", **{word: word for word in get_args(Match)}}
_MATCH_DOCS: Mapping[str, str] = {
    "same_text": "Full match; case does not matter.",
    "contains": "Part of the text is enough; case does not matter.",
    "contains_exactly": "Part of the text is enough; case matters.",
    "any_of": "One of the listed ones is enough.",
    "before": "Only rows before this time (YYYY-MM-DD HH:MM:SS).",
    "after": "Only rows after this time (YYYY-MM-DD HH:MM:SS).",
    "at_least": "Lower bound, included.",
    "at_most": "Upper bound, included.",
}
EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_OWN_TYPES = ("integer", "string", "boolean", "number")
_FLAGS = (
    "required",
    "nonempty",
    "freetext",
    "as_text",
    "hidden_nonempty",
    "hidden_values",
    "hidden_email",
    "integers",
    "path",
    "nullable",
)
_BOUNDS: Mapping[str, str] = {
    "shortest": "minLength",
    "longest": "maxLength",
    "lowest": "minimum",
    "highest": "maximum",
    "shaped": "pattern",
    "format": "format",
}


@dataclass(slots=True, kw_only=True)
class _Line:
    """What the words of one line say."""

    columns: tuple[str, ...]
    match: Match = "equals"
    own_type: str = ""
    shape: Mapping[str, Any] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    bounds: dict[str, Any] = field(default_factory=dict)
    hidden_bounds: dict[str, Any] = field(default_factory=dict)
    more_values: list[str] = field(default_factory=list)
    resolve: tuple[str, tuple[str, ...]] | None = None


def parse_param(
    where: str, name: str, text: str, table: Table, doc: str | None, shapes: Mapping[str, Any] | None = None
) -> Param:
    """`where` is `tool.parameter`, for messages; `doc` replaces the description that column and match give."""
    line = _read_line(where, name, text, table, shapes or {})
    schema = {**_advertised(where, table, line), **line.bounds}
    hidden: dict[str, Any] = {"type": schema["type"], **line.hidden_bounds}
    if "nullable" in line.flags:
        schema["type"] = [schema["type"], "null"]
    if "hidden_email" in line.flags:
        hidden["pattern"] = EMAIL
    if "as_text" in line.flags:
        hidden["numbers_too"] = True
    if line.flags & {"hidden_nonempty", "path"}:
        hidden["minLength"] = 1
    if "hidden_values" in line.flags:
        values = {"enum": list(table.by_name[line.columns[0]].values or ("true", "false"))}
        hidden |= {"items": {**schema["items"], **values}} if "items" in schema else values
    if description := doc or _description(table, line):
        schema["description"] = description
    return Param(
        name=name,
        schema=schema,
        enforced={**schema, **hidden},
        columns=line.columns,
        match=line.match,
        is_required="required" in line.flags,
        resolve=line.resolve,
        is_path="path" in line.flags,
    )


def _read_line(where: str, name: str, text: str, table: Table, shapes: Mapping[str, Any]) -> _Line:
    line = _Line(columns=(name,))
    words = text.split()
    while words:
        word = words.pop(0)
        if word in _FLAGS:
            line.flags.add(word)
        elif word in _OWN_TYPES:
            line.own_type, line.columns = word, ()
        elif word in _MATCHES:
            line.match = _MATCHES[word]
            if words and words[0].split("+")[0] in table.by_name:
                line.columns = tuple(words.pop(0).split("+"))
        elif not words:
            raise ValueError(f"parameter {where}: unknown word {word!r}, or nothing after it")
        elif word in _BOUNDS:
            line.bounds[_BOUNDS[word]] = _bound(words.pop(0))
        elif word == "hidden_longest":
            line.hidden_bounds["maxLength"] = _bound(words.pop(0))
        elif word == "hidden_shaped":
            line.hidden_bounds["pattern"] = words.pop(0)
        elif word == "default":
            line.bounds["default"] = yaml.safe_load(words.pop(0))
        elif word == "shape":
            if words[0] not in shapes:
                raise ValueError(f"parameter {where}: no shape {words[0]!r}, expected one of {', '.join(shapes)}")
            line.shape, line.columns = shapes[words.pop(0)], ()
        elif word == "plus":
            line.more_values.append(words.pop(0))
        elif word == "names":
            other, _, columns = words.pop(0).partition(":")
            line.resolve, line.own_type = (other, tuple(columns.split("+"))), "string"
        else:
            raise ValueError(f"parameter {where}: unknown word {word!r}")
    return line


def _bound(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _advertised(where: str, table: Table, line: _Line) -> dict[str, Any]:
    shortest = {"minLength": 1} if "nonempty" in line.flags else {}
    if line.shape:
        return dict(line.shape)
    if line.own_type:
        return {"type": line.own_type, **shortest}
    for column in line.columns:
        if column not in table.by_name:
            raise ValueError(f"parameter {where}: {column!r} is no column of table {table.name}")
    if "integers" in line.flags:
        return {"type": "array", "items": {"type": "integer"}}
    first = table.by_name[line.columns[0]]
    schema: dict[str, Any] = {"type": "string" if "as_text" in line.flags else JSON_TYPES[first.type], **shortest}
    if first.values and not line.flags & {"freetext", "hidden_values"} and line.match in ("equals", "in"):
        schema["enum"] = [*first.values, *line.more_values]
    return {"type": "array", "items": schema} if line.match == "in" else schema


def _description(table: Table, line: _Line) -> str:
    own = table.by_name[line.columns[0]].doc if line.columns and line.columns[0] in table.by_name else ""
    named = f"Give the {' and '.join(line.resolve[1]).replace('_', ' ')}, not the id." if line.resolve else ""
    return " ".join(filter(None, (own, named, _MATCH_DOCS.get(line.match, ""))))
