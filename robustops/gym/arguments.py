"""A tool's parameters in, checked arguments out, or the report that a pydantic-based server would give.

Unknown arguments are dropped; a null for an optional parameter counts as not sent. Knows no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

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
        fields = {
            param.name: core_schema.typed_dict_field(_param_schema(param), required=param.is_required)
            for param in tool.params
        }
        self._validator = SchemaValidator(core_schema.typed_dict_schema(fields, extra_behavior="ignore"))

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Raises ArgumentError. Values come back in the type of the schema: "12" is 12 for an integer."""
        try:
            checked: dict[str, Any] = self._validator.validate_python(dict(arguments))
        except ValidationError as error:
            raise ArgumentError([self._report(dict(item)) for item in error.errors(include_url=False)]) from None
        if unreadable := [self._report(_not_unicode(n, v)) for n, v in checked.items() if not _is_unicode(v)]:
            raise ArgumentError(unreadable)
        return {name: value for name, value in checked.items() if value is not None}

    def _report(self, item: dict[str, Any]) -> dict[str, Any]:
        report = {"type": item["type"], "loc": [self._place, *item["loc"]], "msg": item["msg"], "input": item["input"]}
        return {**report, "ctx": item["ctx"]} if "ctx" in item else report


def _is_unicode(value: Any) -> bool:
    """False for text with a lone surrogate, which JSON can spell and no database can store."""
    if not isinstance(value, str) or value.isascii():
        return True
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _not_unicode(name: str, value: str) -> dict[str, Any]:
    message = "Input should be a valid string, unable to parse raw data as a unicode string"
    return {"type": "string_unicode", "loc": (name,), "msg": message, "input": value}


def _param_schema(param: Param) -> CoreSchema:
    schema = _value_schema(param.enforced)
    return schema if param.is_required else core_schema.nullable_schema(schema)


def _value_schema(schema: Mapping[str, Any]) -> CoreSchema:
    match schema["type"]:
        case "integer":
            return core_schema.int_schema(ge=-(2**63), le=2**63 - 1)  # what SQLite can hold
        case "number":
            return core_schema.float_schema(ge=schema.get("minimum"), allow_inf_nan=False)
        case "boolean":
            return core_schema.bool_schema()
        case "array":
            return core_schema.list_schema(_value_schema(schema["items"]))
    if "enum" in schema:
        return core_schema.literal_schema(list(schema["enum"]))
    return core_schema.str_schema(
        min_length=schema.get("minLength"), max_length=schema.get("maxLength"), pattern=schema.get("pattern")
    )
