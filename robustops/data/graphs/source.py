"""What a graph may be made from: a task's words, its checks and the schema. No row, no seed, no plan enters here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from robustops.core.task import Task
from robustops.gym.domain import Domain


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """`references`: columns that hold the key of another table."""

    key: str
    columns: tuple[str, ...]
    references: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedCheck:
    index: int
    name: str
    query: str
    comparison: str
    expected: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSource:
    """`schema`: by table name; empty where the servers' tables are not known."""

    task_id: str
    policy: str
    request: str
    tools: tuple[str, ...]
    checks: tuple[IndexedCheck, ...]
    schema: Mapping[str, TableInfo]


def source_of(task: Task, domain_of: Callable[[str], Domain | None]) -> GraphSource:
    """`domain_of`: the declared domain that a server's name stands for, or None."""
    schema: dict[str, TableInfo] = {}
    for server in task.servers:
        domain = domain_of(server.name)
        for table in domain.tables.values() if domain is not None else ():
            references = {column.name: column.references for column in table.columns if column.references}
            schema[table.name] = TableInfo(
                key=table.key, columns=tuple(column.name for column in table.columns), references=references
            )
    checks = [
        IndexedCheck(
            index=check.index,
            name=check.name,
            query=check.query,
            comparison=check.comparison,
            expected=check.expected,
        )
        for check in task.checks
    ]
    return GraphSource(
        task_id=task.task_id,
        policy=task.policy,
        request=task.request,
        tools=task.tools,
        checks=tuple(checks),
        schema=schema,
    )
