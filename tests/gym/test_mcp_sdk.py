"""The official MCP client against a served domain, over the standard's streamable HTTP."""

import json
from contextlib import asynccontextmanager

import httpx2
import mcp
import pytest
from aiohttp.test_utils import TestServer
from mcp.client.streamable_http import streamable_http_client

from robustops.gym.server import make_app

SEED = (
    "INSERT INTO user (user_id, first_name, last_name, email, role, active) "
    "VALUES (1, 'Ann', 'Lee', 'ann@example.com', 'admin', 1);\n"
    "INSERT INTO product (product_id, name, category, lifecycle_state) VALUES (7, 'Disk', 'hardware', 'active');\n"
)
HEADERS = {"x-database-id": "db_1", "x-user-email": "ann@example.com"}


@asynccontextmanager
async def connected(*, headers=HEADERS, token=None, mode="auto"):
    async with TestServer(make_app("csm", token=token), host="127.0.0.1") as server:
        own = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers={**headers, **own}) as http:
            body = {"database_id": "db_1", "sql_content": SEED}
            (await http.post(str(server.make_url("/api/seed-database")), json=body)).raise_for_status()
            url = str(server.make_url("/mcp/stream"))
            async with mcp.Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_shakes_hands_lists_and_calls(mode):
    async with connected(mode=mode) as client:
        assert client.server_info.name == "sn-csm-server"
        assert client.protocol_version == "2025-11-25"
        tools = (await client.list_tools()).tools
        assert len(tools) == 89
        assert next(tool for tool in tools if tool.name == "find_product").input_schema["required"] == ["name"]
        result = await client.call_tool("find_product", {"name": "Disk"})
        assert result.is_error is False
        assert json.loads(result.content[0].text)["product_id"] == 7
        await client.call_tool("add_new_user_group", {"name": "New", "type": "support", "active": True})
        (group,) = json.loads((await client.call_tool("list_user_groups", {})).content[0].text)
        assert group["name"] == "New"


async def test_mistakes_of_a_model_are_error_results_for_the_official_client():
    async with connected() as client:
        wrong = await client.call_tool("add_new_user_group", {"name": "x", "type": "nothing", "active": True})
        absent = await client.call_tool("no_such_tool", {})
    assert wrong.is_error
    assert "API Error [add_new_user_group]" in wrong.content[0].text
    assert (absent.is_error, absent.content[0].text) == (True, "Unknown tool: no_such_tool")


async def test_an_absent_database_is_a_protocol_error_for_the_official_client():
    async with connected(headers={**HEADERS, "x-database-id": "db_2"}) as client:
        with pytest.raises(mcp.MCPError, match="Database not found: db_2"):
            await client.call_tool("find_product", {"name": "Disk"})


async def test_the_official_client_gets_in_with_the_token():
    async with connected(token="secret") as client:
        assert (await client.call_tool("find_product", {"name": "Disk"})).is_error is False
