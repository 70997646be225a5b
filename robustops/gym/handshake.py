"""The first words with a tool server: initialize, a note that it was heard, the tools. Replies in, facts out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robustops.core.errors import GymError, GymUnavailable
from robustops.core.task import ToolSchema
from robustops.gym.transport import Answer
from robustops.gym.wire import EXTENSION_VERSION, PROTOCOL_VERSION

_SESSION_HEADER = "mcp-session-id"
# (JSON-RPC body, headers) -> the server's answer
Post = Callable[[Mapping[str, Any], Mapping[str, str]], Awaitable[Answer]]


class _WireTool(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str
    description: str | None = None
    inputSchema: dict[str, Any] = Field(default_factory=dict)
    outputSchema: dict[str, Any] | None = None


class _ToolList(BaseModel):
    model_config = ConfigDict(extra="ignore")

    tools: list[_WireTool] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """`headers` go with every later request. `is_extended`: the server gives bytes, hashes and its clock away."""

    tools: tuple[ToolSchema, ...]
    headers: Mapping[str, str]
    is_extended: bool


async def shake_hands(post: Post, *, gym: str, where: str, ids: Callable[[], int]) -> Handshake:
    """`where` heads every error; the tools carry the name `gym`.

    Raises GymUnavailable where this is no tool server, GymError for a list of tools that cannot be read.
    """
    client = {"name": "robustops", "version": "0.1.0"}
    params = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {"tools": {}}, "clientInfo": client}
    answer = await post({"jsonrpc": "2.0", "id": ids(), "method": "initialize", "params": params}, {})
    result = _result(answer, where, "initialize")
    session_id = next((value for key, value in answer.headers.items() if key.lower() == _SESSION_HEADER), "")
    headers = {_SESSION_HEADER: session_id} if session_id else {}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}
    noted = await post(note, headers)
    if noted.status not in (200, 202, 204):
        raise GymUnavailable(f"{where}: HTTP {noted.status} to the initialized notification")
    listed = await post({"jsonrpc": "2.0", "id": ids(), "method": "tools/list", "params": {}}, headers)
    tools = _tools(_result(listed, where, "tools/list"), gym, where)
    return Handshake(tools=tools, headers=headers, is_extended=_is_extended(result))


def _result(answer: Answer, where: str, method: str) -> Mapping[str, Any]:
    """Anything but a result means that this is not the server we were promised."""
    if answer.status != 200:
        raise GymUnavailable(f"{where}: {method}: HTTP {answer.status}: {answer.detail}")
    result = answer.body.get("result") if isinstance(answer.body, Mapping) else None
    if not isinstance(result, Mapping):
        raise GymUnavailable(f"{where}: {method}: no result: {answer.detail}")
    return result


def _is_extended(initialized: Mapping[str, Any]) -> bool:
    capabilities = initialized.get("capabilities")
    experimental = capabilities.get("experimental") if isinstance(capabilities, Mapping) else None
    own = experimental.get("robustops") if isinstance(experimental, Mapping) else None
    return isinstance(own, Mapping) and own.get("version") == EXTENSION_VERSION


def _tools(result: Mapping[str, Any], gym: str, where: str) -> tuple[ToolSchema, ...]:
    try:
        listed = _ToolList.model_validate(result)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        raise GymError(f"{where}: tools/list: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return tuple(
        ToolSchema(
            name=tool.name,
            description=tool.description or "",
            input_schema=tool.inputSchema,
            gym=gym,
            output_schema=tool.outputSchema,
        )
        for tool in listed.tools
    )
