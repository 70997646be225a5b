"""Snapshots of `tools/list` in place of our declarations: the same prompts, to the byte; the same tools behind them."""

import json
import logging
from dataclasses import replace

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from small_csm import csm_task, write_seed

from robustops.agent.views import template_tools
from robustops.core.errors import ConfigError
from robustops.core.task import GymServer
from robustops.gym.domains import FOLDERS, load_domain
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.server import make_app
from robustops.gym.tool_snapshots import read_tool_snapshots, toolboxes

FIND = {"name": "find_account", "description": "The server's own words — é.", "inputSchema": {"type": "object"}}
LIST = {
    "name": "list_users",
    "description": "Others.",
    "inputSchema": {"type": "object", "properties": {}},
    "icons": None,
}


@pytest.fixture
def folder(tmp_path):
    write_seed(tmp_path)
    made = tmp_path / "snapshots"
    made.mkdir()
    return made


def write(folder, name, value):
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


@pytest.mark.parametrize("domain", FOLDERS)
async def test_the_public_snapshots_give_the_public_prompt_byte_for_byte(domain, shared, tmp_path):
    path = shared / "eog" / "tools" / f"{domain}.json"
    (tmp_path / path.name).write_bytes(path.read_bytes())
    tools = json.loads(path.read_text())["tools"]
    keys = {"name": "name", "description": "description", "parameters": "inputSchema"}
    original = [
        {"type": "function", "function": {ours: tool[theirs] for ours, theirs in keys.items()}} for tool in tools
    ]
    (tmp_path / "empty.sql").write_text("SELECT 1;")
    server = GymServer(name=load_domain(domain).servers[0], seed_file="empty.sql")
    task = replace(csm_task(tmp_path), servers=(server,))
    async with EmbeddedGym(toolboxes=toolboxes(read_tool_snapshots(tmp_path))).open(task) as session:
        assert json.dumps(template_tools(session.tools, "full")) == json.dumps(original)


@pytest.mark.parametrize(
    "answer",
    [
        {"gym_name": "sn-csm-server", "tools": [LIST, FIND]},
        {"tools": [LIST, FIND]},
        {"jsonrpc": "2.0", "id": 3, "result": {"tools": [LIST, FIND]}},
    ],
)
async def test_a_snapshot_is_an_answer_to_tools_list_in_the_order_of_the_answer(folder, answer):
    name = "other.json" if "gym_name" in answer else "csm.json"
    gym = EmbeddedGym(toolboxes=toolboxes(read_tool_snapshots(write(folder, name, answer))))
    shown = [(tool.name, tool.description, tool.input_schema) for tool in await gym.catalogue("csm")]
    assert shown == [(tool["name"], tool["description"], tool["inputSchema"]) for tool in (LIST, FIND)]
    assert await gym.catalogue("itsm") == load_domain("itsm").catalogue


async def test_the_tools_behind_a_snapshot_stay_ours(folder, tmp_path):
    gym = EmbeddedGym(toolboxes=toolboxes(read_tool_snapshots(write(folder, "csm.json", {"tools": [FIND]}))))
    async with gym.open(csm_task(tmp_path)) as session:
        assert [tool.name for tool in session.tools] == ["find_account"]
        assert json.loads((await session.call("find_account", {"name": "Nord"})).text)["account_id"] == 1
        assert (await session.call("find_account", {})).is_error  # what is checked does not come from the snapshot
        assert not (await session.call("list_users", {})).executed  # the server did not have it


async def test_a_tool_that_only_the_snapshot_has_is_left_out_and_named(folder, caplog):
    strange = {**FIND, "name": "brew_coffee"}
    with caplog.at_level(logging.WARNING):
        boxes = toolboxes(read_tool_snapshots(write(folder, "csm.json", {"tools": [strange, FIND]})))
    (csm,) = (box.domain for box in boxes if box.domain.name == "csm")
    assert [tool.name for tool in csm.catalogue] == ["find_account"]
    assert "brew_coffee" in caplog.text


async def test_a_served_domain_tells_of_its_tools_in_the_words_of_the_snapshot(folder):
    app = make_app("csm", snapshots=read_tool_snapshots(write(folder, "csm.json", {"tools": [FIND]})))
    async with TestServer(app, host="127.0.0.1") as server, ClientSession() as client:
        for path in ("/mcp", "/mcp/stream"):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            async with client.post(server.make_url(path), json=body) as answer:
                (tool,) = (await answer.json(content_type=None))["result"]["tools"]
            assert {name: tool[name] for name in FIND} == FIND


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("csm.json", "{", "not JSON"),
        ("csm.json", {"tools": [{"name": "find_account"}]}, "inputSchema"),
        ("csm.json", [1], "tools/list"),
        ("kitchen.json", {"tools": [FIND]}, "kitchen"),
        ("csm.json", {"gym_name": "kitchen", "tools": [FIND]}, "kitchen"),
    ],
)
def test_a_file_that_is_no_snapshot_is_named(folder, name, content, said):
    with pytest.raises(ConfigError, match=name.replace(".", r"\.")) as refused:
        read_tool_snapshots(write(folder, name, content))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_two_snapshots_of_one_server_are_refused(folder):
    write(folder, "csm.json", {"tools": [FIND]})
    write(folder, "later.json", {"gym_name": "sn-csm-server", "tools": [LIST]})
    with pytest.raises(ConfigError, match=r"later\.json: a second snapshot of csm"):
        read_tool_snapshots(folder)


def test_a_folder_without_any_is_refused(folder):
    with pytest.raises(ConfigError, match=r"no \.json file"):
        read_tool_snapshots(folder)
    with pytest.raises(ConfigError, match="no such folder"):
        read_tool_snapshots(folder / "absent")
