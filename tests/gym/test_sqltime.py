"""The present of seeds and checks is the virtual clock's."""

import sqlite3

import pytest
from small_csm import csm_task, write_seed

from robustops.gym.embedded import EmbeddedGym
from robustops.gym.sqltime import at_time

NOW = "2026-06-01 09:00:07"


def value(sql):
    return sqlite3.connect(":memory:").execute(at_time(sql, NOW)).fetchone()[0]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT datetime('now')", "2026-06-01 09:00:07"),
        ("SELECT datetime('NOW', '-5 minutes')", "2026-06-01 08:55:07"),
        ("SELECT date('now', 'start of month', '-1 day')", "2026-05-31"),
        ("SELECT current_timestamp", "2026-06-01 09:00:07"),
        ("SELECT CURRENT_DATE || ' ' || CURRENT_TIME", "2026-06-01 09:00:07"),
        ("SELECT 'it''s now'", "it's now"),
        ("SELECT 'CURRENT_DATE'", "CURRENT_DATE"),
        ('SELECT 1 AS "CURRENT_DATE" -- CURRENT_TIMESTAMP', 1),
    ],
)
def test_the_present_is_replaced_and_texts_are_not(sql, expected):
    assert value(sql) == expected


async def test_seed_and_checks_share_the_clock_of_the_session(tmp_path):
    seed = "INSERT INTO user (user_id, email, sys_created_on) VALUES (1, 'ada@desk.example', datetime('now'));"
    task = csm_task(write_seed(tmp_path, seed), context={"x-user-email": "ada@desk.example"})
    async with EmbeddedGym().open(task) as session:
        sql = "SELECT sys_created_on AS made, (julianday('now') - julianday(sys_created_on)) * 86400 AS age_s FROM user"
        before = (await session.query(sql))["data"][0]
        await session.call("add_new_user_group", {"name": "Depot", "type": "field", "active": True})
        reply = await session.query(sql)
    assert before == {"made": "2026-06-01 09:00:00", "age_s": pytest.approx(0, abs=0.01)}
    assert reply["data"][0]["age_s"] == pytest.approx(1, abs=0.01)
    assert reply["query"] == f"{sql} LIMIT 100"
