"""What clients and seeds could try against a server: each try is refused, changes nothing, and the server lives on."""

import json
import sqlite3
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer
from small_csm import csm_task, write_seed

from robustops.core.errors import GymError, SeedError
from robustops.gym.domains import FOLDERS, load_domain
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.memory import connect
from robustops.gym.server import DATABASES, make_app
from robustops.gym.sqlrunner import MAX_ROWS

NUMBERS = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)"
HOSTILE_QUERIES = [
    "ATTACH DATABASE '{folder}/stolen.db' AS x",
    "SELECT 1; ATTACH DATABASE '{folder}/stolen.db' AS x",
    "DETACH DATABASE main",
    "VACUUM INTO '{folder}/stolen.db'",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "SELECT * FROM pragma_query_only",
    "SELECT load_extension('libm.so')",
    "SELECT writefile('{folder}/stolen.db', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT fts3_tokenizer('x', x'00')",
    "EXPLAIN SELECT 1",
    "INSERT INTO account (name) VALUES ('x') RETURNING name",
    "WITH x AS (SELECT 1) UPDATE account SET name = 'x'",
    "select 1 union all select 1; drop table account",
    "SELECT zeroblob(2000000000)",
    "SELECT printf('%.*c', 2000000000, 'x')",
    "SELECT format('%2000000000d', 1)",
    f"SELECT COUNT(*) FROM {NUMBERS}",
    f"SELECT i FROM {NUMBERS} LIMIT {MAX_ROWS + 1}",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT name FROM account LIMIT 1 OFFSET (SELECT 1; DELETE FROM account)",
    "\x00SELECT 1",
    "SELECT 'x\x00; DELETE FROM account",
]


@asynccontextmanager
async def csm(tmp_path):
    async with TestClient(TestServer(make_app("csm"), host="127.0.0.1")) as client:
        sql = (write_seed(tmp_path) / "seed.sql").read_text()
        await client.post("/api/seed-database", json={"database_id": "db_1", "sql_content": sql})
        yield client


async def query(client, sql):
    headers = {"x-database-id": "db_1"}
    response = await client.post("/api/sql-runner", json={"query": sql, "database_id": "db_1"}, headers=headers)
    return response.status, await response.json()


@pytest.mark.parametrize("sql", HOSTILE_QUERIES, ids=lambda sql: sql[:40])
async def test_a_hostile_query_is_a_400_and_changes_nothing(tmp_path, sql):
    async with csm(tmp_path) as client:
        engine = client.app[DATABASES].engine("db_1")
        before = engine.database.dump()
        status, reply = await query(client, sql.format(folder=tmp_path))
        assert (status, reply.keys()) == (400, {"detail"})
        assert engine.database.dump() == before
        assert [path.name for path in tmp_path.iterdir()] == ["seed.sql"]
        assert (await query(client, "SELECT 1 AS n"))[1]["data"] == [{"n": 1}]


async def test_a_reply_holds_as_many_rows_as_are_allowed_and_no_more(tmp_path):
    async with EmbeddedGym().open(csm_task(write_seed(tmp_path))) as session:
        whole = await session.query(f"SELECT i FROM {NUMBERS} LIMIT {MAX_ROWS}")
        assert whole["row_count"] == MAX_ROWS
        assert "LIMIT and OFFSET" in (await session.query(f"SELECT i FROM {NUMBERS} LIMIT {MAX_ROWS + 1}"))["detail"]


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH DATABASE '{folder}/stolen.db' AS x;",
        "VACUUM INTO '{folder}/stolen.db';",
        "PRAGMA writable_schema = ON;",
        "PRAGMA max_page_count = 1000000000;",
        "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 3, 'CREATE TABLE x (y)');",
        "CREATE VIEW account AS SELECT 1;",
        "INSERT INTO account (name) SELECT load_extension('libm.so');",
        f"INSERT INTO account (name) SELECT i FROM {NUMBERS};",
        "ALTER TABLE account RENAME TO other;",
    ],
    ids=lambda sql: sql[:40],
)
async def test_a_hostile_seed_is_a_500_and_leaves_no_database(tmp_path, sql):
    async with csm(tmp_path) as client:
        body = {"database_id": "db_2", "sql_content": sql.format(folder=tmp_path)}
        response = await client.post("/api/seed-database", json=body)
        assert response.status == 500
        assert (await response.json())["detail"].startswith("Failed to seed database: db_2:1: ")
        assert len(client.app[DATABASES]) == 1
        assert [path.name for path in tmp_path.iterdir()] == ["seed.sql"]


@pytest.mark.parametrize("route", ["/api/seed-database", "/api/reset-database", "/api/delete-database", "/mcp"])
@pytest.mark.parametrize("database_id", ["../x", "/etc/passwd", "a\\..\\b", "~root", "db%2f..", "."])
async def test_a_database_id_that_could_be_a_path_is_refused_on_every_route(tmp_path, route, database_id):
    async with csm(tmp_path) as client:
        method = client.delete if "delete" in route else client.post
        params = {"name": "find_product", "arguments": {"name": "x"}}
        body = {"database_id": database_id, "sql_content": "x", "id": 1, "method": "tools/call", "params": params}
        response = await method(route, json=body, headers={"x-database-id": database_id})
        assert response.status == 400
        assert "Invalid database_id" in (await response.json())["detail"]


@pytest.mark.parametrize("name", ["../seed.sql", "/etc/passwd", "folder/../../seed.sql", "link.sql"])
async def test_a_seed_file_outside_the_task_set_is_refused(tmp_path, name):
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (write_seed(tmp_path) / "seed.sql").rename(tmp_path / "outside.sql")
    (tmp_path / "seed.sql").symlink_to(tmp_path / "outside.sql")
    (root / "link.sql").symlink_to(tmp_path / "outside.sql")
    task = csm_task(root, seed_file=name)
    with pytest.raises(SeedError, match=f"seed '{name}': lies outside"):
        async with EmbeddedGym().open(task):
            pytest.fail("opened")


@pytest.mark.parametrize("domain", FOLDERS)
async def test_without_a_database_every_server_answers_in_its_own_words(domain):
    declared = load_domain(domain)
    body = {"id": 4, "method": "tools/call", "params": {"name": next(iter(declared.tools)), "arguments": {}}}
    async with TestClient(TestServer(make_app(domain), host="127.0.0.1")) as client:
        result = (await (await client.post("/mcp", json=body)).json())["result"]
    assert result["content"][0]["text"] == declared.no_database_text
    assert result["isError"] is (declared.failures != "unflagged")
    assert ("structuredContent" in result) is (declared.reply_style == "full")


async def test_a_snapshot_file_is_not_trusted_to_be_a_database(tmp_path):
    """A checkpoint that was cut or altered on disk is an error of its own, not a crash."""
    async with EmbeddedGym().open(csm_task(write_seed(tmp_path))) as session:
        snapshot = await session.snapshot()
        head, _, body = snapshot.partition(b"\n")
        digest = await session.state_hash()
        header = json.loads(head)
        header["servers"][0]["digests"] = {}
        altered = json.dumps(header).encode() + b"\n" + b"\x00" * len(body)
        with pytest.raises(GymError, match="no SQLite database; was the snapshot altered"):
            await session.restore(altered)
        assert await session.state_hash() == digest


def test_sqlite_here_was_not_built_to_load_extensions_for_us(tmp_path: Path):
    """The connection that everything runs on refuses them before the authorizer is even asked."""
    with pytest.raises(sqlite3.OperationalError, match="not authorized"):
        connect().execute("SELECT load_extension('libm.so')")


async def test_bounded_functions_write_what_sqlite_writes(tmp_path):
    async with EmbeddedGym().open(csm_task(write_seed(tmp_path))) as session:
        reply = await session.query("SELECT printf('%05.2f|%-4s|%d%%', 3.14159, 'ab', 7) AS a, format('%s', NULL) AS b")
    assert reply["data"] == [{"a": "03.14|ab  |7%", "b": ""}]
