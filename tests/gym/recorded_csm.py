"""Recorded runs of real csm servers. Their seeds differ from the one at hand, so each run's replies reveal an overlay.

A row that a run reads before it writes to it was in the seed: it is put there. A row that is only referred to, by a
call that succeeded, must have existed: a stub of it is put there. A created row's id tells the autoincrement counter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustops.gym.database import Database
from robustops.gym.domain import Domain, Tool

READS = ("get", "list", "search_knowledge")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    tool: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool

    @property
    def reply(self) -> Any:
        return None if self.is_error else json.loads(self.text)


def recorded_runs(folder: Path) -> dict[str, list[RecordedCall]]:
    runs = {}
    for path in sorted(folder.glob("*.json")):
        calls = json.loads(path.read_text())["_recorded"]["calls"]
        runs[path.stem] = [_call(call) for call in calls if call["result"].get("content")]
    return runs


def recorded_checks(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Name, query and the value that the real server gave at the end of the run."""
    task = json.loads(path.read_text())
    queries = {check["name"]: check["validation_config"]["query"] for check in task["verifiers"]}
    for name, value in task["_recorded"]["verifiers"].items():
        yield name, queries[name], value["actual"]


def _call(call: Mapping[str, Any]) -> RecordedCall:
    result = call["result"]
    text = result["content"][0]["text"]
    return RecordedCall(tool=call["tool"], arguments=call["arguments"], text=text, is_error=result["isError"])


class Overlay:
    """Writes what one run reveals about its seed into a database that holds the seed at hand."""

    def __init__(self, domain: Domain, database: Database) -> None:
        self.domain = domain
        self.database = database
        self.written: set[tuple[str, Any]] = set()
        self.revealed: set[tuple[str, Any]] = set()

    def reveal(self, calls: list[RecordedCall]) -> None:
        for call in calls:
            if call.is_error:
                continue
            tool = self.domain.tools[call.tool]
            if tool.does in READS:
                for row in _rows(call.reply):
                    self._put(tool, row)
            elif tool.does in ("update", "assign"):
                self._before_update(tool, call)
            elif tool.does == "create":
                self._before_create(tool, call)
            elif tool.does == "exists" and call.reply["exists"]:
                key = call.reply[tool.table.key]
                self._put(tool, {tool.table.key: key, **call.arguments})

    def _put(self, tool: Tool, row: Mapping[str, Any]) -> None:
        table, key = tool.table, row[tool.table.key]
        values = {name: value for name, value in row.items() if name in table.by_name}
        if (table.name, key) not in self.written:
            self._write(table.name, key, values)
            self.revealed.add((table.name, key))

    def _before_update(self, tool: Tool, call: RecordedCall) -> None:
        table = tool.table
        key = next(call.arguments[p.name] for p in tool.params if p.column == table.key)
        self._stubs(tool, call)
        if tool.does == "update" and (table.name, key) not in self.written:
            # Fields that were not sent are as they were; a sent one may have been anything.
            sent = {param.column for param in tool.params if param.name in call.arguments}
            kept = {name: value for name, value in call.reply.items() if name not in sent and name != "sys_updated_on"}
            self._write(table.name, key, {table.key: key, **kept})
        self.written.add((table.name, key))

    def _before_create(self, tool: Tool, call: RecordedCall) -> None:
        table, key = tool.table, call.reply[tool.table.key]
        self._stubs(tool, call)
        if not any(name == table.name for name, _ in self.written if (name, "sequence") in self.written):
            if self.database.next_sequence(table.name) < key:
                self._write(table.name, key - 1, {table.key: key - 1})
            self.written.add((table.name, "sequence"))
        self.written.add((table.name, key))

    def _stubs(self, tool: Tool, call: RecordedCall) -> None:
        for param in tool.params:
            column = tool.table.by_name.get(param.column)
            value = call.arguments.get(param.name)
            if column is None or value is None:
                continue
            name = tool.table.name if param.column == tool.table.key else column.references
            if name and (name, value) not in self.written:
                other = self.domain.tables[name]
                found = self.database.row(f'SELECT 1 FROM "{name}" WHERE "{other.key}" = ?', (value,))
                if found is None:
                    self._write(name, value, {other.key: value})

    def _write(self, name: str, key: Any, values: Mapping[str, Any]) -> None:
        table = self.domain.tables[name]
        found = self.database.row(f'SELECT 1 FROM "{name}" WHERE "{table.key}" = ?', (key,))
        if found is None:
            self.database.insert(table, dict(values))
        else:
            self.database.update(table, key, values)


def _rows(reply: Any) -> Iterator[Mapping[str, Any]]:
    yield from ([reply] if reply else []) if isinstance(reply, dict) else reply


def masked(domain: Domain, tool: Tool, reply: Any) -> Any:
    """Without what a wall clock wrote."""
    hidden = {*tool.table.volatile, "assigned_at", "set_at"}
    if isinstance(reply, list):
        return [masked(domain, tool, row) for row in reply]
    if isinstance(reply, dict):
        return {name: "*" if name in hidden and reply[name] else value for name, value in reply.items()}
    return reply
