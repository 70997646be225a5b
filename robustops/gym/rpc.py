"""The /mcp endpoint: one JSON-RPC request with its headers in, one HTTP answer out. Tool replies pass unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from robustops.core.episode import ToolResult
from robustops.core.task import ToolSchema
from robustops.gym.databases import Databases, Refusal
from robustops.gym.engine import enveloped
from robustops.gym.refusals import HttpRefusal, http_refusal
from robustops.gym.wire import CLOCK_HEADER, DATABASE_HEADER, PROTOCOL_VERSION

INVALID_PARAMS = -32602


class RpcRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    method: str
    id: int | str | None = None
    params: dict[str, Any] | None = None


class RpcCall(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: dict[str, Any] | None = None


class ParamsError(Exception):
    """A call without the fields that a call has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """`headers` go back with the result. `refusal`: the answer of a server that refuses by HTTP status."""

    result: ToolResult
    headers: Mapping[str, str] = field(default_factory=dict)
    refusal: HttpRefusal | None = None


class ToolCaller:
    """Runs tools for whoever a request's headers name, on the database that they name."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._domain = databases.toolbox.domain

    def call(self, params: Mapping[str, Any] | None, headers: Mapping[str, str]) -> Answered:
        """Raises ParamsError, and Refusal for an absent database."""
        try:
            call = RpcCall.model_validate(params or {})
        except ValidationError as error:
            fault = error.errors()[0]
            raise ParamsError(f"Invalid params: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error
        database_id = headers.get(DATABASE_HEADER, "")
        if not database_id:
            return self._refused(self._domain.no_database_text)
        opened = self._databases.opened(database_id)
        if call.name not in opened.engine.toolbox:
            return self._refused(f"Unknown tool: {call.name}")
        if sent := headers.get(CLOCK_HEADER, ""):
            opened.clock.num_writes = _num_writes(sent)
        opened.engine.act_for(context_of(headers))
        result = opened.engine.call(call.name, call.arguments or {})
        refusal = None
        if self._domain.failures == "http" and opened.engine.refusal is not None:
            refusal = http_refusal(opened.engine.refusal, opened.clock.now("%Y-%m-%dT%H:%M:%S.%f"))
        return Answered(result=result, headers={CLOCK_HEADER: str(opened.clock.num_writes)}, refusal=refusal)

    def _refused(self, text: str) -> Answered:
        is_flagged = self._domain.failures != "unflagged"
        observation = enveloped(self._domain, text, is_error=True)
        result = ToolResult(text=text, observation=observation, is_error=is_flagged, executed=False)
        return Answered(result=result)


def _num_writes(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refusal(400, f"{CLOCK_HEADER}: got {text[:40]!r}, expected a number of writes")
    return int(text)


class RpcEndpoint:
    """`experimental`: what the handshake tells of abilities beyond the protocol."""

    def __init__(self, databases: Databases, experimental: Mapping[str, Any]) -> None:
        self._experimental = dict(experimental)
        self._caller = ToolCaller(databases)
        domain = databases.toolbox.domain
        self._server_name = domain.servers[0]
        self._tools = json.dumps({"tools": [_advertised(schema) for schema in domain.catalogue]})

    async def handle(self, request: web.Request) -> web.Response:
        try:
            rpc = RpcRequest.model_validate_json(await request.read())
        except ValidationError as error:
            return web.json_response({"detail": f"not a JSON-RPC request: {error.errors()[0]['msg']}"}, status=400)
        if rpc.method.startswith("notifications/"):
            return web.Response(status=204)
        match rpc.method:
            case "initialize":
                return rpc_answer(rpc.id, json.dumps(self._initialized()))
            case "tools/list":
                return rpc_answer(rpc.id, self._tools)
            case "tools/call":
                return self._call(rpc, request.headers)
        return rpc_answer(rpc.id, json.dumps({"error": f"Method not found: {rpc.method}"}))

    def _initialized(self) -> dict[str, Any]:
        capabilities: dict[str, Any] = {"tools": {}, "logging": {}, "prompts": {}, "resources": {}}
        if self._experimental:
            capabilities["experimental"] = self._experimental
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": capabilities,
            "serverInfo": {"name": self._server_name, "version": "1.0.0"},
        }

    def _call(self, rpc: RpcRequest, headers: Mapping[str, str]) -> web.Response:
        """Raises Refusal for a database that is not there."""
        try:
            answered = self._caller.call(rpc.params, headers)
        except ParamsError as error:
            return rpc_error(rpc.id, INVALID_PARAMS, str(error))
        if (refusal := answered.refusal) is not None:
            return web.json_response(refusal.body, status=refusal.status, headers=answered.headers)
        return rpc_answer(rpc.id, answered.result.observation, answered.headers)


def context_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that say who calls."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower().startswith("x-") and name.lower() != DATABASE_HEADER
    }


def rpc_answer(rpc_id: int | str | None, result: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """`result` is JSON text already: the model's observation is that text, so it is not written anew here."""
    body = f'{{"jsonrpc": "2.0", "id": {json.dumps(rpc_id)}, "result": {result}}}'
    return web.Response(text=body, content_type="application/json", headers=headers)


def rpc_error(rpc_id: int | str | None, code: int, message: str) -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": rpc_id, "error": {"code": code, "message": message}})


def _advertised(schema: ToolSchema) -> dict[str, Any]:
    tool: dict[str, Any] = {"name": schema.name, "description": schema.description, "inputSchema": schema.input_schema}
    return tool if schema.output_schema is None else {**tool, "outputSchema": schema.output_schema}
