"""A service desk of two tables and five tools, small enough to know by heart: a Gym and a Session for tests.

Replies follow the csm habits: a bare array or a full row, `{}` for not found, an error text with isError.
"""

import json
import pickle
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from robustops.core.episode import CheckResult, ToolResult, Verdict
from robustops.core.errors import GymUnavailable
from robustops.core.task import Check, CheckGraph, GymServer, Task, ToolSchema

SERVER = "desk-server"


def schema(name: str, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()) -> ToolSchema:
    properties = {key: {} for key in (*required, *optional)}
    return ToolSchema(
        name=name,
        description=name.replace("_", " "),
        input_schema={"type": "object", "properties": properties, "required": list(required)},
        gym=SERVER,
    )


TOOLS = (
    schema("find_account", ("name",)),
    schema("list_accounts", (), ("name", "active")),
    schema("list_cases", (), ("account_id", "state")),
    schema("create_case", ("account_id", "title")),
    schema("update_case", ("case_id",), ("state", "title")),
)

SEED = """
CREATE TABLE account (account_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, active INTEGER);
CREATE TABLE support_case (
    case_id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER, title TEXT, state TEXT, written_at INTEGER
);
INSERT INTO account (name, active) VALUES ('Acme', 1), ('Birch', 1), ('Cedar', 0);
INSERT INTO support_case (account_id, title, state, written_at)
    VALUES (1, 'printer', 'open', 0), (1, 'screen', 'closed', 0), (2, 'mouse', 'open', 0);
"""


class DeskSession:
    """`num_executed` counts calls that reached the tools: proof that one did not."""

    def __init__(self) -> None:
        self.tools = TOOLS
        self.num_executed = 0
        self.is_closed = False
        self._clock = 0
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.executescript(SEED)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.num_executed += 1
        known = next((tool for tool in TOOLS if tool.name == name), None)
        if known is None:
            return reply(f"Unknown tool: {name}", is_error=True, executed=False)
        unknown = set(arguments) - set(known.input_schema["properties"])
        missing = [key for key in known.input_schema["required"] if key not in arguments]
        if unknown or missing:
            return reply(f"API Error [{name}]: unknown {sorted(unknown)}, missing {missing}", is_error=True)
        value = getattr(self, f"_{name}")(**{key: value for key, value in arguments.items() if value is not None})
        return value if isinstance(value, ToolResult) else reply(json.dumps(value))

    def _rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return [dict(row) for row in self._db.execute(sql, values)]

    def _find_account(self, name: str = "") -> dict[str, Any]:
        return next(iter(self._rows("SELECT * FROM account WHERE name = ?", name)), {})

    def _list_accounts(self, **filters: Any) -> list[dict[str, Any]]:
        return self._filtered("account", filters)

    def _list_cases(self, **filters: Any) -> list[dict[str, Any]]:
        return self._filtered("support_case", filters)

    def _filtered(self, table: str, filters: Mapping[str, Any]) -> list[dict[str, Any]]:
        where = " AND ".join(f"{key} = ?" for key in filters) or "1"
        return self._rows(f"SELECT * FROM {table} WHERE {where} ORDER BY 1", *filters.values())

    def _create_case(self, account_id: int = 0, title: str = "") -> dict[str, Any] | ToolResult:
        if not self._rows("SELECT 1 FROM account WHERE account_id = ?", account_id):
            return reply("API Error [create_case]: Invalid account_id", is_error=True)
        self._clock += 1
        cursor = self._db.execute(
            "INSERT INTO support_case (account_id, title, state, written_at) VALUES (?, ?, 'open', ?)",
            (account_id, title, self._clock),
        )
        return self._rows("SELECT * FROM support_case WHERE case_id = ?", cursor.lastrowid)[0]

    def _update_case(self, case_id: int = 0, **changes: Any) -> dict[str, Any] | ToolResult:
        if not self._rows("SELECT 1 FROM support_case WHERE case_id = ?", case_id) or not changes:
            return reply("API Error [update_case]: Invalid case_id or no fields", is_error=True)
        self._clock += 1
        assignments = ", ".join(f"{key} = ?" for key in changes)
        self._db.execute(
            f"UPDATE support_case SET {assignments}, written_at = ? WHERE case_id = ?",
            (*changes.values(), self._clock, case_id),
        )
        return self._rows("SELECT * FROM support_case WHERE case_id = ?", case_id)[0]

    async def query(self, sql: str, gym: str | None = None) -> Any:
        return {"data": self._rows(sql)}

    async def snapshot(self) -> bytes:
        return pickle.dumps((self._clock, self._db.serialize()))

    async def restore(self, snapshot: bytes) -> None:
        self._clock, content = pickle.loads(snapshot)
        self._db.deserialize(content)

    async def state_hash(self) -> str:
        tables = [self._rows(f"SELECT * FROM {name} ORDER BY 1") for name in ("account", "support_case")]
        return repr(tables)

    async def close(self) -> None:
        self.is_closed = True
        self._db.close()


def reply(text: str, *, is_error: bool = False, executed: bool = True) -> ToolResult:
    block = {"type": "text", "text": text, "annotations": None, "meta": None}
    observation = {"meta": None, "content": [block], "structuredContent": None, "isError": is_error}
    return ToolResult(text=text, observation=json.dumps(observation), is_error=is_error, executed=executed)


class DeskGym:
    """`failures`: how many of the first sessions refuse to open."""

    def __init__(self, failures: int = 0) -> None:
        self.sessions: list[DeskSession] = []
        self._failures = failures

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[DeskSession]:
        if self._failures > 0:
            self._failures -= 1
            raise GymUnavailable("desk: connection refused")
        session = DeskSession()
        self.sessions.append(session)
        try:
            yield session
        finally:
            await session.close()

    async def catalogue(self, domain: str) -> tuple[ToolSchema, ...]:
        return TOOLS


def desk_task(task_id: str = "desk/1", *, account: str = "Acme", title: str = "broken chair") -> Task:
    """One case must exist for the account with this title, exactly once; and Acme must still be there."""
    count = (
        "SELECT COUNT(*) AS n FROM support_case JOIN account USING (account_id) "
        f"WHERE name = '{account}' AND title = '{title}'"
    )
    return Task(
        task_id=task_id,
        domain="desk",
        policy="You run the desk.",
        request=f"Open a case for {account} about: {title}",
        tools=tuple(tool.name for tool in TOOLS),
        servers=(GymServer(name=SERVER, seed_file="desk.sql"),),
        checks=(
            Check(index=0, kind="database_state", name="one case", gym=SERVER, query=count, expected=1),
            Check(
                index=1,
                kind="database_state",
                name="account kept",
                gym=SERVER,
                query=f"SELECT COUNT(*) AS n FROM account WHERE name = '{account}'",
                expected=1,
            ),
        ),
    )


async def desk_verify(session: Any, task: Task, *, graph: CheckGraph | None, calls: Any, answer: str) -> Verdict:
    results = []
    for check in task.checks:
        value = (await session.query(check.query, check.gym))["data"][0]["n"]
        results.append(
            CheckResult(
                index=check.index, name=check.name, passed=value == check.expected, value=value, expected=check.expected
            )
        )
    edges = graph or CheckGraph(num_checks=len(results))
    return Verdict(checks=tuple(results), gated=edges.gated(tuple(r.passed is True for r in results)))
