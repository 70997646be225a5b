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
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robustops.core.episode import ToolResult
from robustops.core.errors import GymError, GymUnavailable, SeedError
from robustops.core.task import ToolSchema
from robustops.gym.transport import Answer, Pool, Timeouts

logger = logging.getLogger(__name__)

PROTOCOL_VERSION = "2024-11-05"
_JSON_HEADERS = {"Accept": "application/json, text/event-stream"}
# What upstream shows the model where a call got no JSON-RPC result, and where it got a JSON-RPC error.
NO_RESULT = "{}"
RPC_ERROR = "null"
_NUM_SEEDS_AT_ONCE = 4


class _WireTool(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    description: str | None = None
    inputSchema: dict[str, Any] = Field(default_factory=dict)
    outputSchema: dict[str, Any] | None = None


class _ToolList(BaseModel):
    model_config = ConfigDict(extra="ignore")

    tools: list[_WireTool] = Field(min_length=1)


class RemoteServer:
    """`name`: the server's public name, which its tools and every error carry."""

    def __init__(self, *, name: str, url: str, pool: Pool, timeouts: Timeouts) -> None:
        self.name = name
        self.url = url.rstrip("/")
        self._pool = pool
        self._timeouts = timeouts
        self._ids = itertools.count(2)  # the benchmark's own client starts at 2
        self._mcp_session: dict[str, str] = {}
        self._tools: tuple[ToolSchema, ...] = ()
        self._handshake = asyncio.Lock()
        self._seeding = asyncio.Semaphore(_NUM_SEEDS_AT_ONCE)

    async def tools(self) -> tuple[ToolSchema, ...]:
        """Every advertised tool, in the server's order. One handshake, then remembered; a failed one is tried again."""
        async with self._handshake:
            if not self._tools:
                await self._initialize()
                self._tools = await self._list_tools()
        return self._tools

    async def seed(self, database_id: str, sql: str, *, description: str = "") -> None:
        """Raises SeedError when the server refuses the SQL, GymError when it does not answer."""
        body = {"database_id": database_id, "name": database_id, "description": description, "sql_content": sql}
        async with self._seeding:
            answer = await self._pool.request(
                "POST",
                f"{self.url}/api/seed-database",
                body=body,
                timeout_s=self._timeouts.seed_s,
                accepts_500=True,
            )
        if answer.status != 200:
            raise SeedError(
                f"{self.name} at {self.url}: HTTP {answer.status} to the seed {description}: {answer.detail}"
            )

    async def delete(self, database_id: str) -> None:
        """Servers without the route (404, 405) keep their databases; that is no error."""
        answer = await self._pool.request(
            "DELETE",
            f"{self.url}/api/delete-database",
            body={"database_id": database_id},
            timeout_s=self._timeouts.delete_s,
        )
        if answer.status not in (200, 204, 404, 405):
            raise GymError(f"{self.name} at {self.url}: database not deleted: HTTP {answer.status}: {answer.detail}")

    async def query(self, database_id: str, sql: str, headers: Mapping[str, str]) -> Any:
        """The sql-runner's reply object; `{"detail": ...}` where it refuses the query."""
        answer = await self._pool.request(
            "POST",
            f"{self.url}/api/sql-runner",
            body={"query": sql, "database_id": database_id},
            headers={**headers, "x-database-id": database_id},
            timeout_s=self._timeouts.query_s,
        )
        if answer.status == 200:
            return answer.body
        if answer.status in (400, 422):
            return {"detail": answer.detail}
        raise GymError(f"{self.name} at {self.url}: HTTP {answer.status} to a query: {answer.detail}")

    async def call(
        self, database_id: str, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> ToolResult:
        started = time.monotonic()
        answer = await self._rpc(
            "tools/call",
            {"name": name, "arguments": dict(arguments)},
            headers={**headers, "x-database-id": database_id},
            timeout_s=self._timeouts.call_s,
        )
        return self._result(answer, time.monotonic() - started)

    def _result(self, answer: Answer, latency_s: float) -> ToolResult:
        if answer.status != 200:
            # A 4xx on the tool endpoint is how some servers report a bad argument. The benchmark shows the model `{}`.
            logger.debug("%s: HTTP %s to a call: %s", self.name, answer.status, answer.detail)
            return ToolResult(text=NO_RESULT, observation=NO_RESULT, is_error=True, latency_s=latency_s)
        body = self._object(answer.body, "tools/call")
        if body.get("error"):
            text = json.dumps(body["error"])
            return ToolResult(text=text, observation=RPC_ERROR, is_error=True, latency_s=latency_s)
        result = body.get("result")
        return ToolResult(
            text=first_text(result),
            observation=json.dumps(result),
            is_error=isinstance(result, Mapping) and result.get("isError") is True,
            latency_s=latency_s,
        )

    async def _initialize(self) -> None:
        client = {"name": "robustops", "version": "0.1.0"}
        params = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {"tools": {}}, "clientInfo": client}
        answer = await self._rpc("initialize", params, timeout_s=self._timeouts.handshake_s)
        self._expect_result(answer, "initialize")
        for key, value in answer.headers.items():
            if key.lower() == "mcp-session-id":
                self._mcp_session = {"mcp-session-id": value}
        body = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}
        noted = await self._post_mcp(body, {}, self._timeouts.handshake_s)
        if noted.status not in (200, 202, 204):
            raise GymUnavailable(f"{self.name} at {self.url}: HTTP {noted.status} to the initialized notification")

    async def _list_tools(self) -> tuple[ToolSchema, ...]:
        result = self._expect_result(
            await self._rpc("tools/list", {}, timeout_s=self._timeouts.handshake_s), "tools/list"
        )
        try:
            listed = _ToolList.model_validate(result)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise GymError(f"{self.name} at {self.url}: tools/list: {where}: {first['msg']}") from error
        return tuple(
            ToolSchema(
                name=tool.name,
                description=tool.description or "",
                input_schema=tool.inputSchema,
                gym=self.name,
                output_schema=tool.outputSchema,
            )
            for tool in listed.tools
        )

    async def _rpc(
        self, method: str, params: Mapping[str, Any], *, timeout_s: float, headers: Mapping[str, str] | None = None
    ) -> Answer:
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        return await self._post_mcp(body, headers or {}, timeout_s)

    async def _post_mcp(self, body: Mapping[str, Any], headers: Mapping[str, str], timeout_s: float) -> Answer:
        sent = {**_JSON_HEADERS, **self._mcp_session, **headers}
        return await self._pool.request("POST", f"{self.url}/mcp", body=body, headers=sent, timeout_s=timeout_s)

    def _expect_result(self, answer: Answer, method: str) -> Mapping[str, Any]:
        """The handshake's results; anything else means that this is not the server we were promised."""
        if answer.status != 200:
            raise GymUnavailable(f"{self.name} at {self.url}: {method}: HTTP {answer.status}: {answer.detail}")
        result = self._object(answer.body, method).get("result")
        if not isinstance(result, Mapping):
            raise GymUnavailable(f"{self.name} at {self.url}: {method}: no result: {answer.detail}")
        return result

    def _object(self, body: Any, method: str) -> Mapping[str, Any]:
        if not isinstance(body, Mapping):
            shown = str(body)[:200]
            raise GymError(f"{self.name} at {self.url}: {method}: expected a JSON-RPC object, got {shown!r}")
        return body


def first_text(result: Any) -> str:
    """The first text block of a tool result; the benchmark's servers send exactly one."""
    content = result.get("content") if isinstance(result, Mapping) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, Mapping) and block.get("type") == "text":
            return str(block.get("text", ""))
    return ""
