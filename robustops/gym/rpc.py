"""The /mcp endpoint: one JSON-RPC request with its headers in, one HTTP answer out. Tool replies pass unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from robustops.core.task import ToolSchema
from robustops.gym.databases import Databases
from robustops.gym.engine import NOTHING_SHOWN, envelope

PROTOCOL_VERSION = "2024-11-05"
DATABASE_HEADER = "x-database-id"
_INVALID_PARAMS = -32602


class _Request(BaseModel):
    model_config = ConfigDict(extra="ignore")

    method: str
    id: int | str | None = None
    params: dict[str, Any] | None = None


class _ToolCall(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: dict[str, Any] | None = None


class RpcEndpoint:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._domain = databases.toolbox.domain
        self._tools = json.dumps({"tools": [_advertised(schema) for schema in self._domain.catalogue]})

    async def handle(self, request: web.Request) -> web.Response:
        try:
            rpc = _Request.model_validate_json(await request.read())
        except ValidationError as error:
            return web.json_response({"detail": f"not a JSON-RPC request: {error.errors()[0]['msg']}"}, status=400)
        if rpc.method.startswith("notifications/"):
            return web.Response(status=204)
        match rpc.method:
            case "initialize":
                return _answer(rpc.id, json.dumps(self._initialized()))
            case "tools/list":
                return _answer(rpc.id, self._tools)
            case "tools/call":
                return self._call(rpc, request.headers)
        return _answer(rpc.id, json.dumps({"error": f"Method not found: {rpc.method}"}))

    def _initialized(self) -> dict[str, Any]:
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {"tools": {}, "logging": {}, "prompts": {}, "resources": {}},
            "serverInfo": {"name": self._domain.servers[0], "version": "1.0.0"},
        }

    def _call(self, rpc: _Request, headers: Mapping[str, str]) -> web.Response:
        """Raises Refusal for a database that is not there."""
        try:
            call = _ToolCall.model_validate(rpc.params or {})
        except ValidationError as error:
            fault = error.errors()[0]
            message = f"Invalid params: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            body = {"jsonrpc": "2.0", "id": rpc.id, "error": {"code": _INVALID_PARAMS, "message": message}}
            return web.json_response(body)
        database_id = headers.get(DATABASE_HEADER, "")
        if not database_id:
            return _answer(rpc.id, envelope(self._domain.no_database_text, is_error=True))
        engine = self._databases.engine(database_id)
        if call.name not in engine.toolbox:
            return _answer(rpc.id, engine.enveloped(f"Unknown tool: {call.name}", is_error=True))
        engine.act_for(context_of(headers))
        result = engine.call(call.name, call.arguments or {})
        if result.observation == NOTHING_SHOWN:  # a domain whose server answers mistakes with a 4xx
            detail = {"error": True, "error_code": "VALIDATION_ERROR", "message": f"{call.name} was refused"}
            return web.json_response({"detail": detail}, status=400)
        return _answer(rpc.id, result.observation)


def context_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that say who calls."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower().startswith("x-") and name.lower() != DATABASE_HEADER
    }


def _answer(rpc_id: int | str | None, result: str) -> web.Response:
    """`result` is JSON text already: the model's observation is that text, so it is not written anew here."""
    body = f'{{"jsonrpc": "2.0", "id": {json.dumps(rpc_id)}, "result": {result}}}'
    return web.Response(text=body, content_type="application/json")


def _advertised(schema: ToolSchema) -> dict[str, Any]:
    tool: dict[str, Any] = {"name": schema.name, "description": schema.description, "inputSchema": schema.input_schema}
    return tool if schema.output_schema is None else {**tool, "outputSchema": schema.output_schema}
