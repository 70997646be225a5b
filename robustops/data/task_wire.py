"""The public task format as it arrives: JSON objects in, validated pydantic models out. Knows no file.

Rows of the public data set hold the same fields, with the servers and the checks as JSON text inside.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from robustops.core.errors import TaskError
from robustops.core.task import CheckKind


def _decoded(value: Any) -> Any:
    """Text that holds JSON becomes what it holds."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected JSON text, but {error.msg} at character {error.pos}") from error


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ServerWire(_Wire):
    mcp_server_name: str = Field(min_length=1)
    mcp_server_url: str = ""
    seed_database_file: str = Field(min_length=1)
    context: dict[str, Any] = Field(default_factory=dict)

    @field_validator("seed_database_file")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError("expected a path below the folder of seed files")
        return value

    @field_validator("context", mode="before")
    @classmethod
    def _headers(cls, value: Any) -> Any:
        """Public tasks hold keys with stray spaces, which no HTTP client would send."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            return value
        found = {str(key).strip(): str(item) for key, item in value.items() if item is not None}
        if len(found) < sum(item is not None for item in value.values()):
            raise ValueError("two keys are equal but for spaces")
        return found


class VerifierWire(_Wire):
    verifier_type: CheckKind
    name: str = ""
    gym_name: str | None = None
    validation_config: dict[str, Any]

    @model_validator(mode="after")
    def _has_what_it_compares(self) -> VerifierWire:
        if self.verifier_type == "database_state":
            query = self.validation_config.get("query")
            if not isinstance(query, str) or not query.strip():
                raise ValueError(f"validation_config.query: got {query!r}, expected a SELECT statement")
            if "expected_value" not in self.validation_config:
                raise ValueError("validation_config.expected_value is missing")
        return self


class TaskWire(_Wire):
    """One task. `task_id` and `domain` are given by data-set rows only."""

    task_id: str = ""
    domain: str = ""
    system_prompt: str
    user_prompt: str = Field(min_length=1)
    selected_tools: Annotated[list[str], BeforeValidator(_decoded)] = Field(min_length=1)
    restricted_tools: Annotated[list[str], BeforeValidator(_decoded)] = Field(default_factory=list)
    gym_servers_config: Annotated[list[ServerWire], BeforeValidator(_decoded)] = Field(min_length=1)
    verifiers: Annotated[list[VerifierWire], BeforeValidator(_decoded)] = Field(min_length=1)

    @field_validator("restricted_tools", mode="before")
    @classmethod
    def _nothing_restricted(cls, value: Any) -> Any:
        return [] if value is None else value


def read_wire(value: Any, where: str) -> TaskWire:
    """Raises TaskError: where, which field, what was found, what was expected."""
    try:
        return TaskWire.model_validate(value)
    except ValidationError as error:
        first, *others = error.errors(include_url=False)
        field = ".".join(str(part) for part in first["loc"]) or "the task"
        more = f" (and {len(others)} more)" if others else ""
        raise TaskError(f"{where}: {field}: {_found(first)}expected {_expected(first)}{more}") from error


def _found(error: Any) -> str:
    if error["type"] == "missing":
        return "missing; "
    text = repr(error["input"])
    return f"got {text if len(text) <= 80 else text[:77] + '...'}; "


def _expected(error: Any) -> str:
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Field required")
    return message.removeprefix("expected ").removeprefix("Input should be ") or "a value"
