"""Connections that take one database after another, and when they must not."""

import sqlite3

import pytest

from robustops.gym.database import Database
from robustops.gym.memory import Idle, Memory, connect


def content(*statements):
    connection = connect()
    for statement in statements:
        connection.execute(statement)
    try:
        return connection.serialize()
    finally:
        connection.close()


XY = ("CREATE TABLE x (v)", "CREATE TABLE y (v)")
ONE = content(*XY, "INSERT INTO x VALUES ('x')", "INSERT INTO y VALUES ('y')")
SAME_LAYOUT = content(*XY, "INSERT INTO x VALUES ('other x')")
SWAPPED = content(*reversed(XY), "INSERT INTO x VALUES ('x')", "INSERT INTO y VALUES ('y')")


def test_sqlite_itself_reads_the_wrong_table_after_another_layout_is_loaded():
    """Why layouts are compared: both databases had as many schema changes, and SQLite looks at nothing else."""
    connection = connect()
    connection.deserialize(ONE)
    assert connection.execute("SELECT v FROM x").fetchall() == [("x",)]
    connection.deserialize(SWAPPED)
    assert connection.execute("SELECT v FROM x").fetchall() == [("y",)]
    connection.close()


@pytest.mark.parametrize(("second", "value"), [(SAME_LAYOUT, "other x"), (SWAPPED, "x")])
def test_a_database_reads_what_was_loaded_last_whatever_its_layout(second, value):
    database = Database()
    database.load(ONE, {})
    assert database.rows("SELECT v FROM x") == [("x",)]
    database.load(second, {})
    assert database.rows("SELECT v FROM x") == [(value,)]
    database.close()


def test_a_connection_takes_another_database_of_its_layout_and_no_other():
    memory = Memory()
    assert memory.load(ONE)
    assert memory.load(SAME_LAYOUT)
    assert not memory.load(SWAPPED)
    memory.close()


def test_a_connection_that_used_a_table_function_takes_no_other_database():
    database = Database()
    database.load(ONE, {})
    assert database.rows("SELECT value FROM json_each('[1]')") == [(1,)]
    for _ in range(50):
        database.load(SAME_LAYOUT, {})
        assert database.rows("SELECT v FROM x WHERE v IN (SELECT value FROM JSON_EACH('[\"other x\"]'))") == [
            ("other x",)
        ]
    database.close()


def test_a_closed_database_cannot_be_used_and_closing_twice_gives_nothing_twice():
    first = Database()
    first.load(ONE, {})
    first.close()
    first.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        first.rows("SELECT 1")
    second, third = Database(layout_of(ONE)), Database(layout_of(ONE))
    second.load(ONE, {})
    third.load(SAME_LAYOUT, {})
    assert (second.rows("SELECT v FROM x"), third.rows("SELECT v FROM x")) == ([("x",)], [("other x",)])
    second.close()
    third.close()


def layout_of(content):
    memory = Memory()
    memory.load(content)
    memory.close()
    return memory.layout


def test_idle_connections_are_found_by_layout_and_the_oldest_goes_when_there_are_too_many():
    idle = Idle(max_idle=2)
    kept = [Memory() for _ in range(3)]
    for memory, loaded in zip(kept, (ONE, SWAPPED, ONE), strict=True):
        memory.load(loaded)
        idle.give(memory)
    assert idle.take(layout_of(ONE)) is kept[2]
    assert idle.take(layout_of(ONE)) is None  # the first was closed to make room
    assert idle.take(layout_of(SWAPPED)) is kept[1]


def test_a_connection_in_the_middle_of_a_transaction_is_not_kept():
    idle, memory = Idle(), Memory()
    memory.load(ONE)
    memory.connection.execute("BEGIN")
    idle.give(memory)
    assert idle.take(layout_of(ONE)) is None
