"""The /mcp/stream endpoint: the same tools for MCP clients that hold to the standard's streamable HTTP transport.

Stateless, as the standard allows: every answer is one JSON body, there is no session id and no stream of the server's
own, and the database and the caller are named by headers as on /mcp. Output schemas are not advertised here: clients
that hold to the standard demand an object from them, and these servers reply with arrays too.
"""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from robustops.gym.databases import Databases, Refusal
from robustops.gym.rpc import INVALID_PARAMS, ParamsError, RpcRequest, ToolCaller, rpc_answer, rpc_error

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
VERSION_HEADER = "mcp-protocol-version"
METHOD_NOT_FOUND = -32601
INVALID_REQUEST = -32600


class StreamEndpoint:
    def __init__(self, databases: Databases) -> None:
        self._caller = ToolCaller(databases)
        domain = databases.toolbox.domain
        self._server_name = domain.servers[0]
        tools = [
            {"name": schema.name, "description": schema.description, "inputSchema": schema.input_schema}
            for schema in domain.catalogue
        ]
        self._tools = json.dumps({"tools": tools})

    async def handle(self, request: web.Request) -> web.Response:
        version = request.headers.get(VERSION_HEADER, VERSIONS[0])
        if version not in VERSIONS:
            raise Refusal(400, f"{VERSION_HEADER} {version[:40]!r} is not spoken here, but {', '.join(VERSIONS)}")
        content = await request.read()
        try:
            rpc = RpcRequest.model_validate_json(content)
        except ValidationError as error:
            if _is_response(content):
                return web.Response(status=202)
            return rpc_error(None, INVALID_REQUEST, f"not a JSON-RPC request: {error.errors()[0]['msg']}")
        if rpc.id is None:  # a notification
            return web.Response(status=202)
        match rpc.method:
            case "initialize":
                return rpc_answer(rpc.id, json.dumps(self._initialized(rpc.params or {})))
            case "ping":
                return rpc_answer(rpc.id, "{}")
            case "tools/list":
                return rpc_answer(rpc.id, self._tools)
            case "tools/call":
                return self._call(rpc, request)
        return rpc_error(rpc.id, METHOD_NOT_FOUND, f"Method not found: {rpc.method}")

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": self._server_name, "version": "1.0.0"},
        }

    def _call(self, rpc: RpcRequest, request: web.Request) -> web.Response:
        try:
            answered = self._caller.call(rpc.params, request.headers)
        except (ParamsError, Refusal) as error:
            return rpc_error(rpc.id, INVALID_PARAMS, str(error))
        result = answered.result
        content = [{"type": "text", "text": result.text}]
        return rpc_answer(rpc.id, json.dumps({"content": content, "isError": result.is_error}), answered.headers)


def _is_response(content: bytes) -> bool:
    try:
        message = json.loads(content)
    except ValueError:
        return False
    return isinstance(message, dict) and ("result" in message or "error" in message)
