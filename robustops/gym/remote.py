"""One tool server behind its container protocol: seed, delete, call and query, each a bounded request.

Databases are named by the caller; any number of them share the one handshake. Knows no task and no snapshot.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robustops.core.episode import ToolResult
from robustops.core.errors import GymError, GymUnavailable, SeedError
from robustops.core.task import ToolSchema
from robustops.gym.handshake import Handshake, shake_hands
from robustops.gym.latency import Latencies
from robustops.gym.seed_texts import SeedText
from robustops.gym.transport import Answer, Pool, Timeouts
from robustops.gym.wire import CLOCK_HEADER, DATABASE_HEADER

logger = logging.getLogger(__name__)

_JSON_HEADERS = {"Accept": "application/json, text/event-stream"}
# What upstream shows the model where a call got no JSON-RPC result, and where it got a JSON-RPC error.
NO_RESULT = "{}"
RPC_ERROR = "null"
# SQLite's words for a server at its end, not for a wrong seed. The real containers leak some five descriptors a seed.
_EXHAUSTED = ("unable to open database file", "too many open files", "disk i/o error", "database or disk is full")
_NUM_SEEDS_AT_ONCE = 4
_ATTEMPTS = 3  # of requests that may arrive twice: reads, seeds under one name, deletions


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """`num_writes`: the server's virtual clock after the call; None where it keeps its time to itself."""

    result: ToolResult
    num_writes: int | None = None


class RemoteServer:
    """`name`: the server's public name, which its tools and every error carry."""

    def __init__(
        self, *, name: str, url: str, pool: Pool, timeouts: Timeouts, latencies: Latencies | None = None
    ) -> None:
        self.name = name
        self.url = url.rstrip("/")
        self.where = f"{name} at {self.url}"
        self._pool = pool
        self._timeouts = timeouts
        self._latencies = latencies
        self._ids = itertools.count(2)  # the benchmark's own client starts at 2
        self._known: Handshake | None = None
        self._handshake = asyncio.Lock()
        self._seeding = asyncio.Semaphore(_NUM_SEEDS_AT_ONCE)
        self._seeded: set[str] = set()  # hashes of seeds that this server has loaded

    @property
    def is_extended(self) -> bool:
        """Whether the handshake told of bytes, hashes and a clock to be had; False before the handshake."""
        return self._known is not None and self._known.is_extended

    async def tools(self) -> tuple[ToolSchema, ...]:
        """Every advertised tool, in the server's order. One handshake, then remembered; a failed one is tried again."""
        async with self._handshake:
            if self._known is None:
                self._known = await shake_hands(
                    self._greet, gym=self.name, where=self.where, ids=lambda: next(self._ids)
                )
        return self._known.tools

    def forget(self) -> None:
        """After a failure: another server may listen here now, and it has to be greeted anew."""
        self._known = None
        self._seeded.clear()

    async def seed(self, database_id: str, seed: SeedText) -> None:
        """Raises SeedError when the server refuses the SQL, GymError when it does not answer."""
        async with self._seeding:
            if self.is_extended and seed.sha256 in self._seeded:
                again = json.dumps({"database_id": database_id, "sql_sha256": seed.sha256}).encode()
                if (await self._seed(again)).status == 200:
                    return
            answer = await self._seed(seed.body(database_id))
        if answer.status == 500 and any(words in answer.detail.lower() for words in _EXHAUSTED):
            raise GymUnavailable(f"{self.where}: {answer.detail}; it has run out of descriptors or disk, restart it")
        if answer.status != 200:
            raise SeedError(f"{self.where}: HTTP {answer.status} to the seed {seed.description}: {answer.detail}")
        self._seeded.add(seed.sha256)

    async def delete(self, database_id: str) -> None:
        """Servers without the route (404, 405) keep their databases; that is no error."""
        answer = await self._pool.request(
            "DELETE",
            f"{self.url}/api/delete-database",
            body={"database_id": database_id},
            timeout_s=self._timeouts.delete_s,
            attempts=_ATTEMPTS,
        )
        if answer.status not in (200, 204, 404, 405):
            raise GymError(f"{self.where}: database not deleted: HTTP {answer.status}: {answer.detail}")

    async def query(self, database_id: str, sql: str, headers: Mapping[str, str]) -> Any:
        """The sql-runner's reply object; `{"detail": ...}` where it refuses the query."""
        answer = await self._pool.request(
            "POST",
            f"{self.url}/api/sql-runner",
            body={"query": sql, "database_id": database_id},
            headers={**headers, DATABASE_HEADER: database_id},
            timeout_s=self._timeouts.query_s,
            attempts=_ATTEMPTS,
        )
        if answer.status == 200:
            return answer.body
        if answer.status in (400, 422):
            return {"detail": answer.detail}
        raise GymError(f"{self.where}: HTTP {answer.status} to a query: {answer.detail}")

    async def call(
        self,
        database_id: str,
        name: str,
        arguments: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        num_writes: int | None = None,
    ) -> Called:
        """`num_writes`: the session's virtual clock, for a server that takes it. A call is never repeated."""
        started = time.monotonic()
        clock = {} if num_writes is None else {CLOCK_HEADER: str(num_writes)}
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": "tools/call"}
        answer = await self._post_mcp(
            {**body, "params": {"name": name, "arguments": dict(arguments)}},
            {**headers, **clock, DATABASE_HEADER: database_id},
            self._timeouts.call_s,
        )
        latency_s = time.monotonic() - started
        if self._latencies is not None:
            self._latencies.note(self.name, name, latency_s)
        told = answer.headers.get(CLOCK_HEADER, "")
        if answer.status == 404 and self.is_extended and not told:  # a tool's refusal comes with the clock
            raise GymUnavailable(f"{self.where}: {answer.detail}; was the server started again?")
        return Called(result=self._result(answer, latency_s), num_writes=int(told) if told.isdigit() else num_writes)

    async def send(self, method: str, path: str, database_id: str, content: bytes | None = None) -> Answer:
        """A request of the extension, about one database. Raises GymError for any status but 200."""
        answer = await self._pool.request(
            method,
            f"{self.url}{path}",
            content=content,
            headers={DATABASE_HEADER: database_id},
            timeout_s=self._timeouts.query_s,
            attempts=_ATTEMPTS,
        )
        if answer.status != 200:
            raise GymError(f"{self.where}: {method} {path}: HTTP {answer.status}: {answer.detail}")
        return answer

    async def _seed(self, content: bytes) -> Answer:
        return await self._pool.request(
            "POST",
            f"{self.url}/api/seed-database",
            content=content,
            timeout_s=self._timeouts.seed_s,
            accepts_500=True,
            attempts=_ATTEMPTS,
        )

    def _result(self, answer: Answer, latency_s: float) -> ToolResult:
        if answer.status != 200:
            # A 4xx on the tool endpoint is how some servers report a bad argument. The benchmark shows the model `{}`.
            logger.debug("%s: HTTP %s to a call: %s", self.name, answer.status, answer.detail)
            return ToolResult(text=NO_RESULT, observation=NO_RESULT, is_error=True, latency_s=latency_s)
        if not isinstance(answer.body, Mapping):
            raise GymError(f"{self.where}: tools/call: expected a JSON-RPC object, got {str(answer.body)[:200]!r}")
        if answer.body.get("error"):
            text = json.dumps(answer.body["error"])
            return ToolResult(text=text, observation=RPC_ERROR, is_error=True, latency_s=latency_s)
        result = answer.body.get("result")
        return ToolResult(
            text=first_text(result),
            observation=json.dumps(result),
            is_error=isinstance(result, Mapping) and result.get("isError") is True,
            latency_s=latency_s,
        )

    async def _greet(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> Answer:
        return await self._post_mcp(body, headers, self._timeouts.handshake_s, attempts=_ATTEMPTS)

    async def _post_mcp(
        self, body: Mapping[str, Any], headers: Mapping[str, str], timeout_s: float, *, attempts: int = 1
    ) -> Answer:
        known = self._known.headers if self._known is not None else {}
        return await self._pool.request(
            "POST",
            f"{self.url}/mcp",
            body=body,
            headers={**_JSON_HEADERS, **known, **headers},
            timeout_s=timeout_s,
            attempts=attempts,
        )


def first_text(result: Any) -> str:
    """The first text block of a tool result; the benchmark's servers send exactly one."""
    content = result.get("content") if isinstance(result, Mapping) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") == "text":
            return str(block.get("text", ""))
    return ""
