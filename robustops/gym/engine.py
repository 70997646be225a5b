"""One server of one session: a tool's name and arguments in, a `ToolResult` out. Mistakes of a model are replies."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from robustops.core.episode import ToolResult
from robustops.gym.arguments import ArgumentError, validation_text
from robustops.gym.clock import SQL_TIME, VirtualClock
from robustops.gym.database import Database
from robustops.gym.domain import Caller, Domain
from robustops.gym.hashing import quoted
from robustops.gym.ids import Ids
from robustops.gym.operations.kind import Call, Mishap, ToolFailure
from robustops.gym.seed import Seed
from robustops.gym.sqlrunner import SqlRunner
from robustops.gym.toolbox import PreparedTool, Toolbox

NOTHING_SHOWN = "{}"  # what clients show for an HTTP failure
NO_BODY = "Operation completed successfully"


class CallerError(Exception):
    """The context headers do not name a user; the text is what the server answers."""


class Engine:
    """Holds the server's database. The clock is shared with the other servers of the session.

    `context`: header names, lower case, and their values.
    """

    def __init__(self, toolbox: Toolbox, seed: Seed, clock: VirtualClock, context: Mapping[str, str]) -> None:
        self.toolbox = toolbox
        self.database = Database(seed.layout)
        self.database.load(seed.database, seed.digests)
        self.sql_runner = SqlRunner(self.database, limit=toolbox.domain.query_limit, now=lambda: clock.now(SQL_TIME))
        self._clock = clock
        self._context = context
        self._caller: dict[str, Any] = {}
        self._caller_version = -1
        self.refusal: Exception | None = None  # of the last call, for servers that tell it beside the reply

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Raises KeyError for a tool that the server does not have; every other mistake is an error result."""
        began = time.perf_counter()
        prepared = self.toolbox[name]
        self.refusal = None
        try:
            caller = self._acting_user()
            payload = self._run(prepared, prepared.checker.check(arguments), caller)
        except CallerError as error:
            self.refusal = error
            return self._failure(str(error), began)
        except ArgumentError as error:
            self.refusal = error
            detail = validation_text(error.reports) if self._is_bare else f"API Error [{name}]: {error.reports!r}"
            return self._failure(detail, began)
        except ToolFailure as error:
            self.refusal = error
            return self._failure(str(error) if self._is_bare else f"API Error [{name}]: {error}", began)
        except RecursionError:  # lists in lists in lists: no server's parser would take them
            return self._failure(f"API Error [{name}]: arguments are nested too deeply", began)
        if isinstance(payload, Mishap):
            return self._failure(payload.text, began)
        text = indented(payload) if self.toolbox.domain.reply_style == "bare" else json.dumps(payload)
        return ToolResult(text=text, observation=self.enveloped(text), latency_s=time.perf_counter() - began)

    def enveloped(self, text: str, *, is_error: bool = False) -> str:
        """The text in the envelope of this server."""
        return enveloped(self.toolbox.domain, text, is_error=is_error)

    def act_for(self, context: Mapping[str, str]) -> None:
        """Use these context headers from now on: over HTTP every request brings its own."""
        if context != self._context:
            self._context = context
            self._caller_version = -1

    def close(self) -> None:
        self.sql_runner.close()
        self.database.close()

    @property
    def _is_bare(self) -> bool:
        return self.toolbox.domain.failures in ("bare", "unflagged")

    def _run(self, prepared: PreparedTool, arguments: Mapping[str, Any], caller: Mapping[str, Any]) -> Any:
        if not prepared.is_write:
            return prepared.run(self._surroundings(caller), arguments)
        self._clock.tick()
        try:
            with self.database.transaction():
                return prepared.run(self._surroundings(caller), arguments)
        except BaseException:
            self._clock.take_back()
            raise

    def _surroundings(self, caller: Mapping[str, Any]) -> Call:
        domain = self.toolbox.domain
        ids = Ids(f"{domain.name}/{self._clock.num_writes}")
        return Call(database=self.database, now=self._clock.now(domain.time_format), caller=caller, ids=ids)

    def _acting_user(self) -> Mapping[str, Any]:
        """The caller's row. Raises CallerError. Looked up again after a write, which may have changed it."""
        if self._caller_version == self.database.version:
            return self._caller
        rule = self.toolbox.domain.caller
        value = self._identity(rule)
        column = rule.column
        if value is None and not rule.fallback_first:
            if rule.fallback is None:
                raise CallerError(rule.missing_text)
            value, column = str(rule.fallback), self.toolbox.domain.tables[rule.table].key
        table = self.toolbox.domain.tables[rule.table]
        names = [item.name for item in table.columns]
        columns = ", ".join(map(quoted, names))
        head = f"SELECT {columns} FROM {quoted(table.name)}"
        if value is None:
            row = self.database.row(f"{head} ORDER BY {rule.fallback_order} LIMIT 1")
        else:
            row = self.database.row(f"{head} WHERE {quoted(column)} = ? LIMIT 1", (value,))
        if row is None:
            raise CallerError(rule.unknown_text)
        self._caller = dict(zip(names, row, strict=True))
        self._caller_version = self.database.version
        return self._caller

    def _identity(self, rule: Caller) -> str | None:
        """The header's value; where any header may carry it, the first value that names a user."""
        if rule.header != "*":
            return self._context.get(rule.header)
        sql = f"SELECT 1 FROM {quoted(rule.table)} WHERE {quoted(rule.column)} = ?"
        return next((value for value in self._context.values() if self.database.row(sql, (value,))), None)

    def _failure(self, text: str, began: float) -> ToolResult:
        latency_s = time.perf_counter() - began
        if self.toolbox.domain.failures == "http":
            return ToolResult(text=NOTHING_SHOWN, observation=NOTHING_SHOWN, is_error=True, latency_s=latency_s)
        is_error = self.toolbox.domain.failures != "unflagged"
        return ToolResult(
            text=text, observation=self.enveloped(text, is_error=True), is_error=is_error, latency_s=latency_s
        )


def indented(payload: Any) -> str:
    """JSON as `json.dumps(payload, indent=2)` writes it (but for floats above 1e15), ten times as fast.

    None, an answer without a body, is told in words.
    """
    if payload is None:
        return NO_BODY
    text = to_json(payload, indent=2).decode()
    return text if text.isascii() and "\x7f" not in text else re.sub("[\x7f-\U0010ffff]", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


def enveloped(domain: Domain, text: str, *, is_error: bool = False) -> str:
    """The text in the envelope of this domain's server."""
    if domain.reply_style == "full":
        return envelope(text, is_error=is_error)
    is_error = is_error and domain.failures != "unflagged"
    return f'{{"content": [{{"type": "text", "text": {json.dumps(text)}}}], "isError": {json.dumps(is_error)}}}'


def envelope(text: str, *, is_error: bool = False) -> str:
    """The JSON-RPC `result` object around one text block, as JSON text."""
    block = f'{{"type": "text", "text": {json.dumps(text)}, "annotations": null, "meta": null}}'
    flag = "true" if is_error else "false"
    return f'{{"meta": null, "content": [{block}], "structuredContent": null, "isError": {flag}}}'


def unknown_tool(name: str) -> ToolResult:
    """What a session answers to a tool that none of its servers has: nothing ran."""
    text = f"Unknown tool: {name}"
    return ToolResult(text=text, observation=envelope(text, is_error=True), is_error=True, executed=False)
