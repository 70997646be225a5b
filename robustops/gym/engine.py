"""One server of one session: a tool's name and arguments in, a `ToolResult` out. Mistakes of a model are replies."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from robustops.core.episode import ToolResult
from robustops.gym.arguments import ArgumentError
from robustops.gym.clock import VirtualClock
from robustops.gym.database import Database
from robustops.gym.hashing import quoted
from robustops.gym.operations.kind import Call, ToolFailure
from robustops.gym.seeds import Seed
from robustops.gym.sqlrunner import SqlRunner
from robustops.gym.toolbox import PreparedTool, Toolbox

NOTHING_SHOWN = "{}"  # what clients show for an HTTP failure


class CallerError(Exception):
    """The context headers do not name a user; the text is what the server answers."""


class Engine:
    """Holds the server's database. The clock is shared with the other servers of the session.

    `context`: header names, lower case, and their values.
    """

    def __init__(self, toolbox: Toolbox, seed: Seed, clock: VirtualClock, context: Mapping[str, str]) -> None:
        self.toolbox = toolbox
        self.database = Database()
        self.database.load(seed.database, seed.digests)
        self.sql_runner = SqlRunner(self.database, limit=toolbox.domain.query_limit)
        self._clock = clock
        self._context = context
        self._caller: dict[str, Any] = {}
        self._caller_version = -1

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Raises KeyError for a tool that the server does not have; every other mistake is an error result."""
        began = time.perf_counter()
        prepared = self.toolbox[name]
        try:
            caller = self._acting_user()
            payload = self._run(prepared, prepared.checker.check(arguments), caller)
        except CallerError as error:
            return self._failure(str(error), began)
        except ArgumentError as error:
            return self._failure(f"API Error [{name}]: {error.reports!r}", began)
        except ToolFailure as error:
            return self._failure(f"API Error [{name}]: {error}", began)
        text = json.dumps(payload)
        return ToolResult(text=text, observation=envelope(text), latency_s=time.perf_counter() - began)

    def act_for(self, context: Mapping[str, str]) -> None:
        """Use these context headers from now on: over HTTP every request brings its own."""
        if context != self._context:
            self._context = context
            self._caller_version = -1

    def close(self) -> None:
        self.sql_runner.close()
        self.database.close()

    def _run(self, prepared: PreparedTool, arguments: Mapping[str, Any], caller: Mapping[str, Any]) -> Any:
        time_format = self.toolbox.domain.time_format
        if not prepared.is_write:
            return prepared.run(
                Call(database=self.database, now=self._clock.now(time_format), caller=caller), arguments
            )
        self._clock.tick()
        try:
            with self.database.transaction():
                return prepared.run(
                    Call(database=self.database, now=self._clock.now(time_format), caller=caller), arguments
                )
        except BaseException:
            self._clock.take_back()
            raise

    def _acting_user(self) -> Mapping[str, Any]:
        """The caller's row. Raises CallerError. Looked up again after a write, which may have changed it."""
        if self._caller_version == self.database.version:
            return self._caller
        rule = self.toolbox.domain.caller
        value = self._context.get(rule.header)
        column = rule.column
        if value is None:
            if rule.fallback is None:
                raise CallerError(rule.missing_text)
            value, column = str(rule.fallback), self.toolbox.domain.tables[rule.table].key
        table = self.toolbox.domain.tables[rule.table]
        names = [item.name for item in table.columns]
        columns = ", ".join(map(quoted, names))
        sql = f"SELECT {columns} FROM {quoted(table.name)} WHERE {quoted(column)} = ? LIMIT 1"
        row = self.database.row(sql, (value,))
        if row is None:
            raise CallerError(rule.unknown_text)
        self._caller = dict(zip(names, row, strict=True))
        self._caller_version = self.database.version
        return self._caller

    def _failure(self, text: str, began: float) -> ToolResult:
        latency_s = time.perf_counter() - began
        if self.toolbox.domain.failures == "http":
            return ToolResult(text=NOTHING_SHOWN, observation=NOTHING_SHOWN, is_error=True, latency_s=latency_s)
        return ToolResult(text=text, observation=envelope(text, is_error=True), is_error=True, latency_s=latency_s)


def envelope(text: str, *, is_error: bool = False) -> str:
    """The JSON-RPC `result` object around one text block, as JSON text."""
    block = f'{{"type": "text", "text": {json.dumps(text)}, "annotations": null, "meta": null}}'
    flag = "true" if is_error else "false"
    return f'{{"meta": null, "content": [{block}], "structuredContent": null, "isError": {flag}}}'
