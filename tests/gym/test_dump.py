"""A dump through read-only SQL and the seed that brings it back, against SQLite itself."""

import sqlite3

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robustops.core.errors import GymError
from robustops.gym.dump import dump, from_wire, seed_sql, to_wire
from robustops.gym.hashing import combined_digest, table_digest

SCHEMA = """
CREATE TABLE owner (owner_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, score REAL);
CREATE TABLE link (a INTEGER, b TEXT);
CREATE TABLE "order" ("from" TEXT PRIMARY KEY, note TEXT);
"""


class Runner:
    """A sql-runner over a database, with the habit of cutting queries that have no LIMIT, and one of cutting more."""

    def __init__(self, connection, most_rows=10**9):
        self.connection = connection
        self.connection.row_factory = sqlite3.Row
        self.most_rows = most_rows
        self.num_queries = 0

    async def __call__(self, sql):
        self.num_queries += 1
        if "PRAGMA" in sql.upper():
            return {"detail": "Only read-only SELECT queries are allowed"}
        if "LIMIT" not in sql.upper():
            sql += " LIMIT 100"
        rows = [dict(row) for row in self.connection.execute(sql).fetchmany(self.most_rows)]
        return {"success": True, "data": rows, "row_count": len(rows)}


def database(*statements):
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    for sql, values in statements:
        connection.execute(sql, values)
    return connection


def split_naively(sql):
    """As the calendar server does: lines joined, then cut at every semicolon."""
    lines = [line for line in sql.split("\n") if not line.startswith("--")]
    return [part for part in " ".join(lines).split(";") if part.strip()]


text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20) | st.sampled_from(
    ["a;b\n--c", "<59.0>;<59.1>\n", "<59;", "it's", "\r\n", "x\x00y", "", "'; DROP TABLE owner; --"]
)
number = st.integers(-(2**63), 2**63 - 1)
real = st.floats(allow_nan=False, allow_infinity=False)


@given(
    owners=st.lists(st.tuples(text | st.none(), real | st.none()), max_size=4),
    links=st.lists(st.tuples(number | st.none(), text), max_size=4),
)
async def test_a_database_comes_back_from_its_dump_even_through_a_naive_splitter(owners, links):
    source = database(
        *(("INSERT INTO owner (name, score) VALUES (?, ?)", row) for row in owners),
        *(("INSERT INTO link VALUES (?, ?)", row) for row in links),
    )
    dumped = await dump(Runner(source))
    copy = database()
    for statement in split_naively(seed_sql(dumped)):
        copy.execute(statement)
    again = await dump(Runner(copy))
    assert again == dumped
    assert again.digest == dumped.digest


@example(1.4796806088210293e-292)  # SQLite 3.40 reads these digits one bit off, and those of the next
@example(0.3021433647)
@example(-1e22)
@example(5e-324)
@example(1.7976931348623157e308)
@given(real)
async def test_a_number_comes_back_to_its_last_bit(score):
    dumped = await dump(Runner(database(("INSERT INTO owner (score) VALUES (?)", (score,)))))
    copy = database()
    copy.executescript(seed_sql(dumped))
    assert copy.execute("SELECT score FROM owner").fetchone()[0] == score


async def test_the_digest_is_that_of_the_database_itself():
    source = database(
        ("INSERT INTO owner (owner_id, name, score) VALUES (9, 'b', 1.0)", ()),
        ("INSERT INTO owner (owner_id, name, score) VALUES (3, 'a', NULL)", ()),
        ("INSERT INTO link VALUES (2, 'x')", ()),
        ("INSERT INTO link VALUES (1, 'y')", ()),
    )
    dumped = await dump(Runner(source))
    source.row_factory = None
    assert dumped.digest == combined_digest({name: table_digest(source, name) for name in ("owner", "link", "order")})


async def test_counters_outlive_deleted_rows():
    source = database(
        ("INSERT INTO owner (name) VALUES ('a')", ()),
        ("INSERT INTO owner (name) VALUES ('b')", ()),
        ("DELETE FROM owner WHERE name = 'b'", ()),
    )
    copy = database()
    copy.executescript(seed_sql(await dump(Runner(source))))
    assert copy.execute("INSERT INTO owner (name) VALUES ('c') RETURNING owner_id").fetchone()[0] == 3


@pytest.mark.parametrize("most_rows", [7, 10**9])
async def test_tables_are_read_past_every_row_limit(most_rows):
    source = database(*(("INSERT INTO owner (name) VALUES (?)", (str(n),)) for n in range(250)))
    dumped = await dump(Runner(source, most_rows))
    assert [row[0] for row in dumped.tables[0].rows] == list(range(1, 251))


async def test_a_table_that_cannot_be_read_to_its_end_is_refused():
    source = database(*(("INSERT INTO owner (name) VALUES (?)", (str(n),)) for n in range(9)))
    runner = Runner(source)

    async def cut(sql):
        reply = await runner(sql)
        return {**reply, "data": []} if 'FROM "owner" ORDER' in sql else reply

    with pytest.raises(GymError, match="owner: 9 rows counted, but only 0"):
        await dump(cut)


async def test_a_refused_query_is_refused_by_the_dump():
    async def refuse(sql):
        return {"detail": "no"}

    with pytest.raises(GymError, match="refuses a dump"):
        await dump(refuse)


async def test_differences_name_the_tables():
    one = await dump(Runner(database(("INSERT INTO link VALUES (1, 'x')", ()))))
    two = await dump(Runner(database(("INSERT INTO link VALUES (1, 'y')", ()))))
    assert one.differences(two) == ("link",)
    assert one.differences(one) == ()


async def test_a_dump_survives_its_wire_form():
    dumped = await dump(Runner(database(("INSERT INTO owner (name, score) VALUES ('a', 0.5)", ()))))
    assert from_wire(to_wire(dumped)) == dumped
