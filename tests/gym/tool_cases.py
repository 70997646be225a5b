"""What every tool's test states, the same way for all domains: a call that succeeds and one that is refused.

A domain's cases lie in `cases_<domain>.py` beside this file, as `CASES`. Right values come from the rules of the server
and from the seed that the cases bring, never from what the code printed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.task import GymServer, Task
from robustops.gym.domain import Domain
from robustops.gym.domains import load_domain
from robustops.gym.session import Session

Rows = Mapping[str, Mapping[Any, Mapping[str, Any]]]  # by table and key
Changes = Mapping[str, Mapping[Any, Mapping[str, Any] | None]]


@dataclass(frozen=True, slots=True)
class New:
    """Stands for the key of a table's n-th new row, where a server gives keys that look random."""

    table: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """`reply`: what the reply holds at least (see `fits`). `changes`: by table and key, the whole difference.

    Of a changed row every new value, of a new row some or all, of a row that is gone None. No change: a read.
    A `New` may stand as a key and as a value, in the reply too.
    """

    arguments: Mapping[str, Any]
    reply: Any = None
    changes: Changes = field(default_factory=dict)
    is_error: bool = False  # the server writes what is asked and then reports a failure, always


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """`text`: what the error's text must contain, where the server says anything. `context`: other headers."""

    arguments: Mapping[str, Any]
    text: str = ""
    context: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainCases:
    """`seed`: SQL of a database small enough to know by heart. `context`: the caller's headers."""

    domain: str
    seed: str
    successes: Mapping[str, Success]
    refusals: Mapping[str, Refused]
    context: Mapping[str, str] = field(default_factory=dict)

    def task(self, folder: Path, context: Mapping[str, str] | None = None) -> Task:
        """A task over the seed, which is written into the folder."""
        name = f"{self.domain}-cases.sql"
        (folder / name).write_text(self.seed, encoding="utf-8")
        server = GymServer(
            name=load_domain(self.domain).servers[0], seed_file=name, context=dict(context or self.context)
        )
        return Task(
            task_id=f"{self.domain}-cases",
            domain=self.domain,
            policy="",
            request="",
            tools=(),
            servers=(server,),
            checks=(),
            seed_root=str(folder),
        )


def domain_cases(name: str) -> DomainCases:
    cases: DomainCases = import_module(f"cases_{name}").CASES
    return cases


def fits(expected: Any, actual: Any) -> bool:
    """Objects hold the expected keys and maybe more; lists fit item by item; all else is equal, 1 not being true."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            key in actual and fits(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list)
            and len(actual) == len(expected)
            and all(fits(one, other) for one, other in zip(expected, actual, strict=True))
        )
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


def content(result: ToolResult) -> Any:
    """The reply as an object, or as text where it is no JSON."""
    try:
        return json.loads(result.text)
    except ValueError:
        return result.text


async def all_rows(session: Session, domain: Domain) -> Rows:
    """Every row of every table, by its key; of a table without one by all of its values."""
    found: dict[str, dict[Any, dict[str, Any]]] = {}
    for table in domain.tables.values():
        reply = await session.query(f'SELECT * FROM "{table.name}" LIMIT 1000000')
        found[table.name] = {row[table.key] if table.key else tuple(row.values()): row for row in reply["data"]}
    return found


def difference(before: Rows, after: Rows) -> Changes:
    """By table and key: the whole row where it is new, None where it is gone, the new values where it changed."""
    found: dict[str, dict[Any, dict[str, Any] | None]] = {}
    for table, rows in after.items():
        changes: dict[Any, dict[str, Any] | None] = {key: None for key in before[table] if key not in rows}
        for key, row in rows.items():
            old = before[table].get(key, {})
            if row != old:
                changes[key] = {name: value for name, value in row.items() if name not in old or value != old[name]}
        if changes:
            found[table] = changes
    return found


def resolved(stated: Any, new_keys: Mapping[str, list[Any]]) -> Any:
    """The stated changes or reply with each `New` replaced by the key it stands for; an unknown one stays."""
    if isinstance(stated, New):
        keys = new_keys.get(stated.table, [])
        return keys[stated.index] if stated.index < len(keys) else stated
    if isinstance(stated, Mapping):
        named = {resolved(key, new_keys) if isinstance(key, New) else key: value for key, value in stated.items()}
        return {key: resolved(value, new_keys) for key, value in named.items()}
    if isinstance(stated, list | tuple):
        return [resolved(value, new_keys) for value in stated]
    return stated


def new_keys(before: Rows, changes: Changes) -> dict[str, list[Any]]:
    """By table, the keys of the rows that are new, in the order in which they were written."""
    return {table: [key for key in rows if key not in before[table]] for table, rows in changes.items()}
