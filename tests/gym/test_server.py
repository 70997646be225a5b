"""The served csm domain, spoken to in raw HTTP as the benchmark's own client would."""

import json
from contextlib import asynccontextmanager

import pytest
from aiohttp.test_utils import TestClient, TestServer

from robustops.gym.server import DATABASES, make_app

USER = {"x-user-email": "ann@example.com"}
SEED = (
    "INSERT INTO user (user_id, first_name, last_name, email, role, active) "
    "VALUES (1, 'Ann', 'Lee', 'ann@example.com', 'admin', 1);\n"
    "INSERT INTO product (product_id, name, category, lifecycle_state) VALUES (7, 'Disk', 'hardware', 'active');\n"
)
MANY = "".join(f"INSERT INTO user_group (name, type, active) VALUES ('g{n}', 'support', 1);\n" for n in range(130))


@asynccontextmanager
async def csm(**options):
    async with TestClient(TestServer(make_app("csm", **options), host="127.0.0.1")) as client:
        yield client


async def seeded(client, database_id="db_1", sql=SEED):
    body = {"database_id": database_id, "name": "n", "description": "d", "sql_content": sql}
    response = await client.post("/api/seed-database", json=body)
    assert response.status == 200, await response.text()
    return await response.json()


async def rpc(client, method, params=None, *, headers=None, rpc_id=4):
    body = {"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params or {}}
    response = await client.post("/mcp", json=body, headers=headers or {})
    assert response.status == 200, await response.text()
    return await response.json()


async def call(client, name, arguments, *, database_id="db_1", headers=USER):
    params = {"name": name, "arguments": arguments}
    return (await rpc(client, "tools/call", params, headers={**headers, "x-database-id": database_id}))["result"]


async def query(client, sql, database_id="db_1"):
    headers = {"x-database-id": database_id}
    response = await client.post("/api/sql-runner", json={"query": sql, "database_id": database_id}, headers=headers)
    return response.status, await response.json()


async def test_health_and_openapi_answer():
    async with csm() as client:
        assert (await (await client.get("/health")).json())["status"] == "healthy"
        described = await (await client.get("/openapi.json")).json()
    assert described["openapi"].startswith("3.")
    assert "post" in described["paths"]["/mcp"]
    assert "delete" in described["paths"]["/api/delete-database"]


async def test_the_handshake_needs_no_database():
    async with csm() as client:
        initialized = await rpc(client, "initialize", {"protocolVersion": "2024-11-05"}, rpc_id=2)
        assert (initialized["id"], initialized["result"]["protocolVersion"]) == (2, "2024-11-05")
        note = await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})
        assert (note.status, await note.read()) == (204, b"")
        tools = (await rpc(client, "tools/list"))["result"]["tools"]
    assert len(tools) == 89
    assert {"name", "description", "inputSchema", "outputSchema"} <= tools[0].keys()


async def test_a_seeded_database_answers_calls_in_the_recorded_shape():
    async with csm() as client:
        assert await seeded(client) == {
            "success": True,
            "message": "Database seeded successfully",
            "database_id": "db_1",
            "sql_stored": True,
        }
        result = await call(client, "find_product", {"name": "Disk"})
    assert result.keys() == {"meta", "content", "structuredContent", "isError"}
    assert result["isError"] is False
    (block,) = result["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"])["product_id"] == 7


async def test_an_unknown_method_is_answered_inside_the_result():
    async with csm() as client:
        assert (await rpc(client, "prompts/list"))["result"] == {"error": "Method not found: prompts/list"}


async def test_an_unknown_tool_and_bad_params_are_answers():
    async with csm() as client:
        await seeded(client)
        result = await call(client, "no_such_tool", {})
        assert result["isError"] is True
        assert "no_such_tool" in result["content"][0]["text"]
        assert (await rpc(client, "tools/call", {"arguments": {}}))["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({"x-user-email": "ann@example.com"}, "Error: x-database-id header is required for database isolation"),
        ({"x-database-id": "db_1"}, "Error: x-user-email header is required for user identification"),
        ({"x-database-id": "db_1", "x-user-email": "x@y.z"}, "Error: User not found for given email"),
    ],
)
async def test_missing_headers_are_told_in_the_servers_words(headers, text):
    async with csm() as client:
        await seeded(client)
        params = {"name": "find_product", "arguments": {"name": "Disk"}}
        result = (await rpc(client, "tools/call", params, headers=headers))["result"]
    assert (result["content"][0]["text"], result["isError"]) == (text, True)


async def test_each_request_acts_for_its_own_caller():
    async with csm() as client:
        await seeded(client)
        ok = await call(client, "find_product", {"name": "Disk"})
        stranger = await call(client, "find_product", {"name": "Disk"}, headers={"x-user-email": "x@y.z"})
        again = await call(client, "find_product", {"name": "Disk"}, headers={"X-User-Email": "ann@example.com"})
    assert (ok["isError"], stranger["isError"], again["isError"]) == (False, True, False)


async def test_a_query_is_echoed_and_cut_at_a_hundred_rows_only_without_a_limit():
    async with csm() as client:
        await seeded(client, sql=SEED + MANY)
        status, reply = await query(client, "SELECT group_id FROM user_group;")
        assert (status, reply["row_count"], len(reply["data"])) == (200, 100, 100)
        assert reply["query"] == "SELECT group_id FROM user_group LIMIT 100"
        _, whole = await query(client, "SELECT group_id FROM user_group LIMIT 1000")
        assert whole["row_count"] == 130
        _, none = await query(client, "SELECT group_id FROM user_group WHERE group_id < 0")
        assert none["data"] == []


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM user",
        "PRAGMA table_info(user)",
        "SELECT 1; DROP TABLE user",
        "ATTACH DATABASE 'x.db' AS x",
        "WITH gone AS (SELECT 1) DELETE FROM user",
    ],
)
async def test_anything_but_a_select_is_refused(sql):
    async with csm() as client:
        await seeded(client)
        status, reply = await query(client, sql)
        assert status == 400
        assert reply.keys() == {"detail"}
        assert (await query(client, "SELECT COUNT(*) FROM user"))[1]["data"] == [{"COUNT(*)": 1}]


async def test_an_sql_error_is_a_400_with_sqlites_words():
    async with csm() as client:
        await seeded(client)
        assert await query(client, "SELECT nope FROM user") == (400, {"detail": "no such column: nope"})


async def test_a_query_without_the_database_header_is_refused():
    async with csm() as client:
        response = await client.post("/api/sql-runner", json={"query": "SELECT 1", "database_id": "db_1"})
        assert response.status == 422


async def test_databases_do_not_see_each_other():
    async with csm() as client:
        await seeded(client, "db_1")
        await seeded(client, "db_2")
        group = {"name": "New", "type": "support", "active": True}
        assert (await call(client, "add_new_user_group", group))["isError"] is False
        assert (await query(client, "SELECT COUNT(*) AS n FROM user_group", "db_1"))[1]["data"] == [{"n": 1}]
        assert (await query(client, "SELECT COUNT(*) AS n FROM user_group", "db_2"))[1]["data"] == [{"n": 0}]


async def test_a_database_is_deleted_by_delete_and_only_by_delete():
    async with csm() as client:
        await seeded(client)
        wrong = await client.post("/api/delete-database", json={"database_id": "db_1"})
        assert wrong.status == 405
        right = await client.delete("/api/delete-database", json={"database_id": "db_1"})
        assert right.status == 200
        assert (await query(client, "SELECT 1"))[0] == 404
        again = await client.delete("/api/delete-database", json={"database_id": "db_1"})
        assert again.status == 404


@pytest.mark.parametrize("missing", ["database_id", "sql_content"])
async def test_a_seed_without_its_fields_is_refused(missing):
    body = {"database_id": "db_1", "sql_content": SEED}
    del body[missing]
    async with csm() as client:
        response = await client.post("/api/seed-database", json=body)
        assert (response.status, await response.json()) == (400, {"detail": f"{missing} is required"})


async def test_bad_seed_sql_is_a_500_and_leaves_no_database():
    async with csm() as client:
        body = {"database_id": "db_1", "sql_content": "INSERT INTO user VALUES (1;"}
        response = await client.post("/api/seed-database", json=body)
        assert response.status == 500
        assert (await response.json())["detail"].startswith("Failed to seed database: ")
        assert len(client.app[DATABASES]) == 0


@pytest.mark.parametrize("database_id", ["../etc/passwd", "a/b", "a b", "x" * 129, "db\x00"])
async def test_an_id_that_could_be_a_path_is_refused(database_id):
    async with csm() as client:
        response = await client.post("/api/seed-database", json={"database_id": database_id, "sql_content": SEED})
        assert response.status == 400
        assert "Invalid database_id" in (await response.json())["detail"]


async def test_the_number_of_open_databases_is_limited_and_says_so():
    async with csm(max_databases=2) as client:
        await seeded(client, "db_1")
        await seeded(client, "db_2")
        await seeded(client, "db_2")  # making one anew takes no more room
        response = await client.post("/api/seed-database", json={"database_id": "db_3", "sql_content": SEED})
        assert response.status == 503
        assert "max_databases" in (await response.json())["detail"]
        await client.delete("/api/delete-database", json={"database_id": "db_1"})
        await seeded(client, "db_3")


async def test_a_body_beyond_the_limit_is_refused():
    async with csm(max_body_bytes=1000) as client:
        response = await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": "-" * 2000})
        assert response.status == 413


@pytest.mark.parametrize("body", ["", "nonsense", "[1]", '{"method": 5}'])
async def test_a_body_that_is_no_request_is_a_4xx_and_not_a_crash(body):
    async with csm() as client:
        assert (await client.post("/mcp", data=body)).status == 400
        assert (await client.post("/api/seed-database", data=body)).status in (400, 422)


async def test_reset_goes_back_to_the_seed_or_to_another_one():
    async with csm() as client:
        await seeded(client)
        await call(client, "add_new_user_group", {"name": "New", "type": "support", "active": True})
        assert (await client.post("/api/reset-database", json={"database_id": "db_1"})).status == 200
        assert (await query(client, "SELECT COUNT(*) AS n FROM user_group"))[1]["data"] == [{"n": 0}]
        body = {"database_id": "db_1", "sql_content": SEED + MANY}
        assert (await client.post("/api/reset-database", json=body)).status == 200
        assert (await query(client, "SELECT COUNT(*) AS n FROM user_group"))[1]["data"] == [{"n": 130}]


async def test_a_clone_has_the_present_contents_and_its_own_future():
    async with csm() as client:
        await seeded(client)
        group = {"name": "New", "type": "support", "active": True}
        await call(client, "add_new_user_group", group)
        body = {"source_database_id": "db_1", "database_id": "db_2"}
        assert (await client.post("/api/clone-database", json=body)).status == 200
        await call(client, "add_new_user_group", {**group, "name": "Newer"}, database_id="db_2")
        assert (await query(client, "SELECT name FROM user_group", "db_1"))[1]["data"] == [{"name": "New"}]
        names = [{"name": "New"}, {"name": "Newer"}]
        assert (await query(client, "SELECT name FROM user_group", "db_2"))[1]["data"] == names


async def test_the_state_counts_every_row_and_shows_a_hundred():
    async with csm() as client:
        await seeded(client, sql=SEED + MANY)
        state = await (await client.get("/api/database-state", headers={"x-database-id": "db_1"})).json()
        assert state["table_counts"]["user_group"] == 130
        assert len(state["table_data"]["user_group"]) == 100
        assert state["table_data"]["product"][0]["name"] == "Disk"
        assert state["database_info"]["total_tables"] == len(state["table_counts"]) == 17
        schema = await (await client.get("/api/schema")).json()
        assert schema["tables"].keys() == state["table_counts"].keys()
