"""A tool's parameters in, checked arguments out, or the report that a pydantic-based server would give.

Unknown arguments are dropped; a null for an optional parameter counts as not sent, and so does an empty text where the
tool says `empty: ignored`, but for one that must not be empty. `trimmed` and `lowered` name texts that the server
strips of spaces, and makes small besides; `closed` names objects that may hold no other fields. Knows no database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema
from pydantic_core.core_schema import ExtraBehavior

from robustops.gym.domain import Param, Tool


class ArgumentError(Exception):
    """`reports`: one dict per fault with the keys type, loc, msg, input and, where it has one, ctx."""

    def __init__(self, reports: list[dict[str, Any]]) -> None:
        super().__init__(str(reports))
        self.reports = reports


class ArgumentChecker:
    """Compiled once per tool. `place`: where the server reads arguments from, the head of every `loc`."""

    def __init__(self, tool: Tool, *, place: str) -> None:
        self._place = place
        closed = frozenset(tool.options.get("closed", ()))
        fields = {
            param.name: core_schema.typed_dict_field(
                _param_schema(param, refuses_others=param.name in closed), required=param.is_required
            )
            for param in tool.params
        }
        ignores_empty = tool.options.get("empty") == "ignored"
        self._droppable = frozenset(p.name for p in tool.params if ignores_empty and not p.enforced.get("minLength"))
        self._trimmed = frozenset(tool.options.get("trimmed", ()))
        self._lowered = frozenset(tool.options.get("lowered", ()))
        self._paths = frozenset(param.name for param in tool.params if param.is_path)
        self._validator = SchemaValidator(core_schema.typed_dict_schema(fields, extra_behavior="ignore"))

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Raises ArgumentError. Values come back in the type of the schema: "12" is 12 for an integer."""
        sent = {n: self._cleaned(n, v) for n, v in arguments.items() if v != "" or n not in self._droppable}
        try:
            checked: dict[str, Any] = self._validator.validate_python(sent)
        except ValidationError as error:
            raise ArgumentError([self._report(dict(item)) for item in error.errors(include_url=False)]) from None
        if unreadable := [self._report(_not_unicode(n, v)) for n, v in checked.items() if not _is_unicode(v)]:
            raise ArgumentError(unreadable)
        return {name: value for name, value in checked.items() if value is not None}

    def _cleaned(self, name: str, value: Any) -> Any:
        if isinstance(value, str) and (name in self._trimmed or name in self._lowered):
            return value.strip().lower() if name in self._lowered else value.strip()
        if isinstance(value, dict) and name in self._droppable:
            return {key: inner for key, inner in value.items() if inner != ""}
        return value

    def _report(self, item: dict[str, Any]) -> dict[str, Any]:
        place = "path" if item["loc"][0] in self._paths else self._place
        report = {"type": item["type"], "loc": [place, *item["loc"]], "msg": item["msg"], "input": item["input"]}
        return {**report, "ctx": item["ctx"]} if "ctx" in item else report


def _is_unicode(value: Any) -> bool:
    """False for text with a lone surrogate, which JSON can spell and no database can store."""
    if isinstance(value, dict):
        return all(_is_unicode(part) for item in value.items() for part in item)
    if isinstance(value, list):
        return all(map(_is_unicode, value))
    if not isinstance(value, str) or value.isascii():
        return True
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _not_unicode(name: str, value: str) -> dict[str, Any]:
    message = "Input should be a valid string, unable to parse raw data as a unicode string"
    return {"type": "string_unicode", "loc": (name,), "msg": message, "input": value}


def _param_schema(param: Param, *, refuses_others: bool) -> CoreSchema:
    schema = _value_schema({**param.enforced, "refuses_others": True} if refuses_others else param.enforced)
    return schema if param.is_required else core_schema.nullable_schema(schema)


def _value_schema(schema: Mapping[str, Any]) -> CoreSchema:
    kind = schema["type"]
    if isinstance(kind, list):  # null beside a type: what may be null is said elsewhere
        (kind,) = (name for name in kind if name != "null")
    match kind:
        case "integer":
            limits = (schema.get("minimum", -(2**63)), schema.get("maximum", 2**63 - 1))  # at most what SQLite can hold
            return core_schema.int_schema(ge=limits[0], le=limits[1])
        case "number":
            return core_schema.float_schema(ge=schema.get("minimum"), allow_inf_nan=False)
        case "boolean":
            return core_schema.bool_schema()
        case "object":
            return _object_schema(schema)
        case "array":
            return core_schema.list_schema(
                _value_schema(schema["items"]), min_length=schema.get("minItems"), max_length=schema.get("maxItems")
            )
    if "enum" in schema:
        return core_schema.literal_schema(list(schema["enum"]))
    return core_schema.str_schema(
        min_length=schema.get("minLength"),
        max_length=schema.get("maxLength"),
        pattern=schema.get("pattern"),
        coerce_numbers_to_str=bool(schema.get("numbers_too")),
    )


def _object_schema(schema: Mapping[str, Any]) -> CoreSchema:
    """Unlisted fields are dropped, unless the schema lists none or says that there may be others."""
    if "properties" not in schema:
        return core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
    required = schema.get("required", ())
    fields = {
        name: core_schema.typed_dict_field(
            _value_schema(inner) if name in required else core_schema.nullable_schema(_value_schema(inner)),
            required=name in required,
        )
        for name, inner in schema["properties"].items()
    }
    extra: ExtraBehavior = "allow" if schema.get("additionalProperties") is True else "ignore"
    if schema.get("refuses_others"):
        extra = "forbid"
    return core_schema.typed_dict_schema(fields, extra_behavior=extra)


def validation_text(reports: Sequence[Mapping[str, Any]]) -> str:
    """The reports as the servers with bare errors tell them: one line a field, or the first URL part that lacks."""
    for report in reports:
        if report["loc"][0] == "path" and report["type"] in ("missing", "string_too_short"):
            return f"The parameter '{report['loc'][1]}' is required and cannot be empty."
    return "\n".join(
        ["Validation errors:", *(f"- {_dotted(item['loc'][1:])}: {_told(item['msg'])}" for item in reports)]
    )


def _dotted(loc: Sequence[str | int]) -> str:
    """`a.0.b` is told as `a[0].b`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def _told(message: str) -> str:
    if message == "Field required":
        return "is required"
    return message.removeprefix("Value error, ").replace("String should have at least", "must have at least")
