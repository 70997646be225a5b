"""The sql-runner: reads everything, writes nothing, answers refusals instead of raising."""

import time

import pytest
from small_csm import csm_task, write_seed

from robustops.gym.embedded import EmbeddedGym

REFUSAL = {"detail": "Only read-only SELECT queries are allowed"}


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(csm_task(write_seed(tmp_path))) as opened:
        yield opened


async def test_a_select_is_answered_with_rows_count_and_the_executed_query(session):
    assert await session.query("SELECT name FROM account WHERE account_id = '1';") == {
        "success": True,
        "message": "Query executed successfully",
        "data": [{"name": "Nord"}],
        "row_count": 1,
        "query": "SELECT name FROM account WHERE account_id = '1' LIMIT 100",
    }


async def test_a_query_with_a_limit_is_left_alone(session):
    query = "select case_id from customer_case limit 2"
    reply = await session.query(query)
    assert (reply["query"], reply["row_count"]) == (query, 2)


async def test_rows_beyond_a_hundred_need_a_limit_of_their_own(session):
    numbers = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT i FROM n)"
    assert (await session.query(f"SELECT i FROM {numbers}"))["row_count"] == 100
    assert (await session.query(f"SELECT i FROM {numbers} LIMIT 1000"))["row_count"] == 150


@pytest.mark.parametrize(
    "statement",
    [
        "PRAGMA user_version",
        "PRAGMA writable_schema = ON",
        "ATTACH DATABASE ':memory:' AS other",
        "DELETE FROM account",
        "UPDATE account SET name = 'x'",
        "INSERT INTO account (name) VALUES ('x')",
        "DROP TABLE account",
        "WITH gone AS (SELECT 1) DELETE FROM account",
        "VACUUM INTO '/tmp/copy.db'",
        "",
        "/* SELECT */ DELETE FROM account",
    ],
)
async def test_anything_but_a_select_is_refused_in_the_servers_words(session, statement):
    digest = await session.state_hash()
    assert await session.query(statement) == REFUSAL
    assert await session.state_hash() == digest


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT load_extension('libm.so')", "not authorized"),
        ("SELECT 1; DELETE FROM account", "one statement"),
        ("SELECT * FROM no_such_table", "no such table"),
        ("SELECT * FROM pragma_table_info('account')", "not authorized|prohibited"),
        ("SELECT zeroblob(900000000)", "too big"),
        ("SELECT name FROM account WHERE name = '\ud800'", "surrogates"),
    ],
)
async def test_what_sqlite_refuses_is_a_detail(session, query, reason):
    reply = await session.query(query)
    assert reply.keys() == {"detail"}
    assert any(part in reply["detail"] for part in reason.split("|")), reply


async def test_an_endless_query_is_stopped(session):
    endless = "SELECT COUNT(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)"
    began = time.monotonic()
    assert await session.query(endless) == {"detail": "interrupted"}
    assert time.monotonic() - began < 30
    assert (await session.query("SELECT 1 AS n"))["data"] == [{"n": 1}]


async def test_the_schema_table_can_be_read(session):
    query = "SELECT COUNT(*) AS n FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    assert (await session.query(query))["data"] == [{"n": 17}]


async def test_a_query_sees_every_write_before_it(session):
    count = "SELECT COUNT(*) AS n FROM user_group"
    start = await session.snapshot()
    assert (await session.query(count))["data"] == [{"n": 3}]
    await session.call("add_new_user_group", {"name": "Night", "type": "support", "active": True})
    assert (await session.query(count))["data"] == [{"n": 4}]
    await session.restore(start)
    assert (await session.query(count))["data"] == [{"n": 3}]


async def test_a_server_that_is_not_in_the_session_is_our_mistake(session):
    with pytest.raises(ValueError, match="sn-csm-server"):
        await session.query("SELECT 1", "gym-teams-mcp")


async def test_checks_over_json_tables_survive_the_writes_between_them(tmp_path):
    """SQLite keeps a pointer of such a table that a newly loaded copy leaves dangling."""
    async with EmbeddedGym().open(csm_task(write_seed(tmp_path))) as session:
        for number in range(4):
            each = await session.query("""SELECT value FROM user JOIN json_each('["a", "b"]') WHERE user_id = 1""")
            assert [row["value"] for row in each["data"]] == ["a", "b"]
            plain = await session.query("SELECT COUNT(*) AS n FROM user")
            assert plain["data"] == [{"n": 3}]
            await session.call("add_new_user_group", {"name": f"G{number}", "type": "field", "active": True})
