"""The HTTP gym against a small server that misbehaves on demand."""

import asyncio
import json
import re

import pytest
from fake_container import container, task
from gym_client import http_gym

from robustops.core.errors import ConfigError
from robustops.gym.client import HttpGym
from robustops.gym.context import context_headers
from robustops.gym.remote_state import new_database_id


async def test_a_session_shakes_hands_seeds_calls_queries_and_deletes(tmp_path):
    async with container() as fake, http_gym() as gym:
        async with gym.open(task(tmp_path, fake.url)) as session:
            result = await session.call("add", {"name": "ä"})
            reply = await session.query("SELECT COUNT(*) AS n FROM item")
        assert fake.routes() == [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "/api/seed-database",
            "tools/call",
            "/api/sql-runner",
            "/api/delete-database",
        ]
        assert fake.databases == {}
    assert json.loads(result.text) == ["first", "semi; colon", "ä"]
    assert json.loads(result.observation)["content"][0]["text"] == result.text
    assert (result.is_error, result.executed) == (False, True)
    assert reply["data"] == [{"n": 3}]


async def test_a_closed_gym_serves_another_event_loop(tmp_path):
    async with container() as fake:
        gym, its_task = HttpGym(), task(tmp_path, fake.url)

        async def run():
            async with gym.open(its_task) as session:
                return (await session.call("names", {})).text

        async def crowd():
            try:
                return await asyncio.gather(*(run() for _ in range(10)))
            finally:
                await gym.close()

        texts = [await asyncio.to_thread(asyncio.run, crowd()) for _ in range(2)]
        assert [list(map(json.loads, each)) for each in texts] == [[["first", "semi; colon"]] * 10] * 2


async def test_one_handshake_serves_every_session(tmp_path):
    async with container() as fake, http_gym() as gym:
        its_task = task(tmp_path, fake.url)

        async def run():
            async with gym.open(its_task) as session:
                await session.call("names", {})

        await asyncio.gather(*(run() for _ in range(10)))
        assert fake.routes().count("initialize") == fake.routes().count("tools/list") == 1
        assert fake.routes().count("/api/seed-database") == 10
        assert [body["id"] for route, _, body in fake.requests if "id" in body][:2] == [2, 3]


def test_a_database_id_is_a_millisecond_and_nine_characters():
    ids = {new_database_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"db_\d{13}_[a-z0-9]{9}", one) for one in ids)


async def test_the_database_header_goes_with_calls_and_not_with_the_handshake(tmp_path):
    async with container() as fake, http_gym() as gym:
        async with gym.open(task(tmp_path, fake.url, context={" x-user-email": "a@b.c", "user_token ": 7})) as session:
            await session.call("names", {})
        sent = {route: headers for route, headers, _ in fake.requests}
    assert sent["tools/call"]["x-user-email"] == "a@b.c"
    assert sent["tools/call"]["x-user-token"] == "7"
    assert sent["tools/call"]["x-database-id"].startswith("db_")
    for route in ("initialize", "tools/list", "/api/seed-database"):
        assert "x-database-id" not in sent[route]


def test_context_keys_become_headers():
    assert context_headers({" x-User-email ": "a", "auth_token": "b", "X-Token": 1}) == {
        "x-User-email": "a",
        "x-auth-token": "b",
        "X-Token": "1",
    }


async def test_a_4xx_on_a_call_is_shown_to_the_model_as_an_empty_object(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        result = await session.call("refuse", {})
    assert (result.text, result.observation, result.is_error) == ("{}", "{}", True)


async def test_a_json_rpc_error_is_shown_as_null(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        fake.bodies["tools/call"] = {"jsonrpc": "2.0", "id": 4, "error": {"code": -32602, "message": "bad"}}
        result = await session.call("names", {})
    assert (result.observation, result.is_error) == ("null", True)
    assert "bad" in result.text


async def test_an_error_block_is_an_error_result(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        block = {"content": [{"type": "text", "text": "API Error [add]: no"}], "isError": True}
        fake.bodies["tools/call"] = {"jsonrpc": "2.0", "id": 4, "result": block}
        result = await session.call("add", {"name": "x"})
    assert (result.text, result.is_error) == ("API Error [add]: no", True)
    assert json.loads(result.observation) == block


async def test_an_unknown_tool_is_an_error_the_model_sees_and_nothing_is_sent(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        result = await session.call("nothing_such", {})
        assert "tools/call" not in fake.routes()
    assert (result.is_error, result.executed) == (True, False)
    assert "nothing_such" in result.text


async def test_only_selected_tools_are_offered_but_others_still_run(tmp_path):
    its_tools = ("refuse", "add")
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url, tools=its_tools)) as session:
        assert [tool.name for tool in session.tools] == ["add", "refuse"]
        assert not (await session.call("names", {})).is_error


async def test_a_shared_tool_name_belongs_to_the_first_server(tmp_path):
    async with container() as one, container() as two, http_gym() as gym:
        two.tools = ("names", "extra")
        async with gym.open(task(tmp_path, one.url, two.url)) as session:
            await session.call("names", {})
            await session.query("SELECT 1", "server-1")
            await session.query("SELECT 2")
            assert {tool.name: tool.gym for tool in session.tools} == {
                "add": "server-0",
                "names": "server-0",
                "refuse": "server-0",
                "extra": "server-1",
            }
        assert (one.routes().count("tools/call"), two.routes().count("tools/call")) == (1, 0)
        assert [body["query"] for route, _, body in two.requests if route == "/api/sql-runner"] == ["SELECT 1"]
        assert one.databases == two.databases == {}


async def test_a_refused_query_is_a_reply(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        assert await session.query("SELECT other FROM item") == {"detail": "no such column: other"}


async def test_a_query_to_a_server_of_another_task_is_our_misuse(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        with pytest.raises(ValueError, match="expected one of server-0"):
            await session.query("SELECT 1", "elsewhere")


async def test_the_state_is_read_again_only_after_a_call(tmp_path):
    async with container() as fake, http_gym() as gym, gym.open(task(tmp_path, fake.url)) as session:
        await session.state_hash()
        num_queries = fake.routes().count("/api/sql-runner")
        await session.state_hash()
        await session.snapshot()
        assert fake.routes().count("/api/sql-runner") == num_queries
        await session.call("names", {})
        await session.state_hash()
        assert fake.routes().count("/api/sql-runner") == 2 * num_queries


async def test_replicas_are_used_in_turn(tmp_path):
    async with container() as one, container() as two:
        its_task = task(tmp_path, "http://elsewhere.invalid")
        async with http_gym({"server-0": f"{one.url}, {two.url}/"}) as gym:
            for _ in range(4):
                async with gym.open(its_task):
                    pass
        assert (len(one.deleted), len(two.deleted)) == (2, 2)


async def test_the_catalogue_is_what_the_server_advertises():
    async with container() as fake, http_gym({"sn-csm-server": fake.url}) as gym:
        tools = await gym.catalogue("csm")
        assert [(tool.name, tool.gym) for tool in tools] == [(name, "sn-csm-server") for name in fake.tools]
        with pytest.raises(ValueError, match="'cms'"):
            await gym.catalogue("cms")


async def test_a_server_without_a_url_is_a_mistake_that_says_what_to_set(tmp_path):
    async with http_gym() as gym:
        with pytest.raises(ConfigError, match=r"gym\.urls=\{server-0"):
            async with gym.open(task(tmp_path, "")):
                pytest.fail("opened")


def test_a_url_without_a_scheme_is_refused():
    with pytest.raises(ConfigError, match="localhost:8001"):
        HttpGym({"sn-csm-server": "localhost:8001"})
