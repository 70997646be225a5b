"""The naive client that the gym's benchmark is measured against. Tasks in, numbers of passed checks out.

Its rules: a new connection for every request, a handshake and the list of tools for every task, a seed that blocks the
event loop, and checks one after another. It is written here from these rules; no harness is installed.
"""

from __future__ import annotations

import http.client
import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from robustops.core.task import Task
from robustops.gym.comparison import compare, extract_value

_IDS = itertools.count()


class NaiveClient:
    def __init__(self, url: str) -> None:
        self._url = url

    async def run(self, task: Task, call: tuple[str, Mapping[str, Any]]) -> int:
        """Play one call of one task and delete its database; returns how many checks passed."""
        (server,) = task.servers
        context = {key: str(value) for key, value in server.context.items()}
        await self._rpc({"id": 2, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}, context)
        await self._rpc({"method": "notifications/initialized", "params": {}}, context)
        await self._rpc({"id": 3, "method": "tools/list", "params": {}}, context)
        database_id = f"db_{time.time_ns() // 1_000_000}_naive{next(_IDS)}"
        sql = (Path(task.seed_root) / server.seed_file).read_text(encoding="utf-8")
        self._seed({"database_id": database_id, "sql_content": sql})
        headers = {**context, "x-database-id": database_id}
        params = {"name": call[0], "arguments": dict(call[1])}
        answer = await self._rpc({"id": 4, "method": "tools/call", "params": params}, headers)
        if answer["result"]["isError"]:
            raise RuntimeError(str(answer))
        num_passed = 0
        for check in task.checks:
            body = {"query": check.query, "database_id": database_id}
            value = extract_value(await self._send("POST", "/api/sql-runner", body, headers))
            num_passed += compare(value, check.expected, check.comparison).passed
        await self._send("DELETE", "/api/delete-database", {"database_id": database_id}, {})
        return num_passed

    def _seed(self, body: Mapping[str, Any]) -> None:
        parts = urlsplit(self._url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
        try:
            connection.request("POST", "/api/seed-database", json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise RuntimeError(f"seed: HTTP {response.status}: {content[:200]!r}")

    async def _rpc(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        return await self._send("POST", "/mcp", {"jsonrpc": "2.0", **message}, headers)

    async def _send(self, method: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self._url + path, json=body, headers=headers) as response,
        ):
            content = await response.read()
            response.raise_for_status()
            return json.loads(content) if content else None
