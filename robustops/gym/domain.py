"""What a domain is: tables, tools, who the caller is and how replies look. Frozen data; knows no SQL and no session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from robustops.core.task import ToolSchema

ColumnType = Literal["integer", "real", "boolean", "text", "timestamp", "json"]
Stamp = Literal["", "create", "update", "default"]
Match = Literal[
    "equals", "same_text", "contains", "contains_exactly", "before", "after", "at_least", "at_most", "in", "any_of"
]

JSON_TYPES: Mapping[str, str] = {
    "integer": "integer",
    "real": "number",
    "boolean": "boolean",
    "text": "string",
    "timestamp": "string",
    "json": "object",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """`stamp`: written by the clock on create, on every write, or on create when the caller sends nothing.

    `number_format`: filled from the numeric part of the new row's id. `caller_column`: filled from the caller's row.
    `numbering`: like `number_format`, but counting on from the column's own highest number. `copied`: (reference,
    column), filled from the row that another column of the new row refers to.
    """

    name: str
    type: ColumnType
    doc: str = ""
    values: tuple[str, ...] = ()
    default: Any = None
    stamp: Stamp = ""
    number_format: str = ""
    numbering: str = ""
    caller_column: str = ""
    copied: tuple[str, str] | None = None
    references: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """`id_format`: empty for SQLite's autoincrement, `uuid4`, or e.g. `INC_{:03d}`. `key` is empty for a link table.

    `indexes`: columns that rows are looked up by, other than the key.
    Ids that operations written in Python give: `ulid`, or `given` where they are not unique in the whole table.
    """

    name: str
    key: str
    columns: tuple[Column, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    id_format: str = ""

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def volatile(self) -> tuple[str, ...]:
        """Columns that a wall clock writes on a real server: comparisons with one must mask them."""
        return tuple(column.name for column in self.columns if column.stamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One argument. `columns`: what it filters or sets; several are joined by a space; none for a tool's own option.

    `schema` is advertised; `enforced` is what the server checks, which may be stricter. `resolve`: the argument is a
    name that stands for the id of a row of that table (`table`, its name columns). `is_path`: part of the server's
    URL, so that an empty or missing one is refused in other words than a missing field.
    """

    name: str
    schema: Mapping[str, Any]
    enforced: Mapping[str, Any]
    columns: tuple[str, ...] = ()
    match: Match = "equals"
    is_required: bool = False
    resolve: tuple[str, tuple[str, ...]] | None = None
    is_path: bool = False

    @property
    def column(self) -> str:
        return self.columns[0] if self.columns else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: what it `does` names an operation; `options` are that operation's own settings.

    `labels`: the keys of the reply, where they are not the names of its columns. `schema_extras`: what the input schema
    says beside properties and required.
    """

    name: str
    does: str
    doc: str
    table: Table
    params: tuple[Param, ...]
    reply: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    schema_extras: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None

    @property
    def input_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {param.name: dict(param.schema) for param in self.params},
        }
        if required := [param.name for param in self.params if param.is_required]:
            schema["required"] = required
        return {**schema, **self.schema_extras}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: a context header whose value is matched against one column of the users' table.

    `fallback` is the key of the user who acts when the header is absent, `fallback_first` makes it the first row in the
    SQL order `fallback_order`; without either the header is mandatory. The header `*` is any whose value names a user.
    """

    header: str
    table: str
    column: str
    fallback: str | int | None = None
    fallback_first: bool = False
    fallback_order: str = "rowid"
    missing_text: str = ""
    unknown_text: str = ""


@dataclass(frozen=True, kw_only=True)
class Domain:
    """`servers`: public server names that serve it. `failures`: how an error reaches the model.

    "text": an error block `API Error [tool]: detail`. "http": a 4xx answer, which clients show as the literal `{}`.
    "bare": an error block with the detail alone. "unflagged": the same, but the server forgets to say it is an error.
    `reads_times`: times in arguments may have a zone or be bare dates; they are compared and stored as naive UTC.
    `after_seed`: SQL that the server runs once a seed is loaded, `{now}` being the time at which its clock starts.
    `advertised`: what is told of the tools instead of their declarations, for those that are to be told of.
    `reply_style`: "full" is compact JSON and every field of the envelope; "bare" is indented JSON and no null fields.
    """

    name: str
    servers: tuple[str, ...]
    tables: Mapping[str, Table]
    tools: Mapping[str, Tool]
    caller: Caller
    time_format: str = "%Y-%m-%d %H:%M:%S"
    json_booleans: bool = False
    iso_timestamps: bool = False
    reads_times: bool = False
    failures: Literal["text", "http", "bare", "unflagged"] = "text"
    reply_style: Literal["full", "bare"] = "full"
    no_database_text: str = "Error: x-database-id header is required for database isolation"
    query_limit: int | None = 100
    after_seed: tuple[str, ...] = ()
    advertised: tuple[ToolSchema, ...] = ()
    scope: str = ""  # column that hides other tenants' rows from the caller; empty where the server does not scope

    @cached_property
    def catalogue(self) -> tuple[ToolSchema, ...]:
        return self.advertised or tuple(
            ToolSchema(
                name=tool.name,
                description=tool.doc,
                input_schema=tool.input_schema,
                gym=self.servers[0],
                output_schema=tool.output_schema,
            )
            for tool in self.tools.values()
        )
