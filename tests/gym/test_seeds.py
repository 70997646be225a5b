"""Seed SQL as the public dumps write it, and as nobody should."""

import json
import sqlite3

import pytest
from small_csm import SEED, csm_task, write_seed

from robustops.core.errors import SeedError
from robustops.gym import seeds
from robustops.gym.database import Database
from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.seed import build_seed, statements
from robustops.gym.seeds import SeedStore

CSM = load_domain("csm")
PRODUCT = "INSERT INTO product (product_id, name, category, lifecycle_state) VALUES "


def read(seed, sql):
    database = Database()
    database.load(seed.database, seed.digests)
    return database.rows(sql)


def test_a_semicolon_inside_a_literal_or_a_comment_does_not_end_a_statement():
    sql = f"-- one; two\n{PRODUCT}(1, 'a;b', 'service', 'active'), /* ; */ (2, 'it''s; c', 'service', 'active');"
    assert read(build_seed(CSM, sql), "SELECT name FROM product") == [("a;b",), ("it's; c",)]


def test_a_statement_knows_the_line_on_which_it_begins():
    sql = "-- head\n\nSELECT 1;\n/* two\nlines */ SELECT '\n';\n\n\nSELECT 3"
    assert [(line, text) for line, text in statements(sql)] == [(3, "SELECT 1"), (5, "SELECT '\n'"), (9, "SELECT 3")]


def test_a_last_statement_needs_no_semicolon_even_before_a_comment():
    assert [text for _, text in statements("SELECT 1; SELECT 2 -- done")] == ["SELECT 1", "SELECT 2"]


def test_functions_and_boolean_words_are_evaluated_by_sqlite():
    values = "(1, 'A', TRUE, datetime('2025-01-01 10:00'))"
    sql = f"INSERT INTO user_group (group_id, name, active, sys_created_on) VALUES {values};"
    assert read(build_seed(CSM, sql), "SELECT active, sys_created_on FROM user_group") == [(1, "2025-01-01 10:00:00")]


def test_the_present_of_a_seed_is_that_of_the_virtual_clock():
    values = "(1, 'A', CURRENT_TIMESTAMP, 'CURRENT_TIMESTAMP')"
    sql = f"INSERT INTO user_group (group_id, name, sys_created_on, type) VALUES {values};"
    found = read(build_seed(CSM, sql), "SELECT sys_created_on, type FROM user_group")
    assert found == [("2026-06-01 09:00:00", "CURRENT_TIMESTAMP")]


@pytest.mark.parametrize("end", ["", "COMMIT;", "END TRANSACTION;\nPRAGMA foreign_keys=ON;"])
def test_pragmas_and_a_transaction_open_or_closed_do_no_harm(end):
    sql = f"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n{PRODUCT}(1, 'a', 'service', 'active');\n{end}"
    assert read(build_seed(CSM, sql), "SELECT COUNT(*) FROM product") == [(1,)]


@pytest.mark.parametrize(
    "head",
    [
        'INSERT INTO "product" ("product_id", "name") VALUES',
        "INSERT INTO `product` (`product_id`, `name`) VALUES",
        "INSERT INTO [product] ([product_id], [name]) VALUES",
        "insert or replace into product(product_id,name)values",
        "INSERT INTO product ( -- the table\n  product_id, /* its key, */ name\n) VALUES",
        "REPLACE INTO product\r\n(product_id, name)\r\nVALUES",
    ],
)
def test_names_may_be_quoted_and_lists_may_hold_comments(head):
    seed = build_seed(CSM, f"{head}\n(1, 'a'), -- it's the first; of two\n(2, 'b') -- and the last\n;\n-- behind it\n")
    assert read(seed, "SELECT product_id, name FROM product ORDER BY 1") == [(1, "a"), (2, "b")]
    assert (seed.added_columns, seed.added_tables) == ((), ())


def test_what_looks_like_a_comment_or_an_end_inside_a_literal_is_text():
    texts = ["a -- b", "c /* d */", "e; f", "it''s (1, 2)", 'the "g"', "line\nbreak"]
    rows = ", ".join(f"({number}, '{text}')" for number, text in enumerate(texts, start=1))
    seed = build_seed(CSM, f"INSERT INTO product (product_id, name) VALUES {rows};")
    found = read(seed, "SELECT name FROM product ORDER BY product_id")
    assert [name for (name,) in found] == [text.replace("''", "'") for text in texts]


def test_a_column_that_the_seed_leaves_out_has_its_default_and_another_is_null():
    sql = "INSERT INTO hr_case (hr_case_id, short_description) VALUES (1, 'Pay');"
    found = read(build_seed(load_domain("hr"), sql), "SELECT status, priority, worknotes, opened_by FROM hr_case")
    assert found == [("draft", "planning", None, None)]


def test_a_row_without_its_key_gets_the_next_one():
    sql = "INSERT INTO user_skill (skill, user) VALUES (1, 2), (3, 4);"
    assert read(build_seed(load_domain("hr"), sql), "SELECT user_skill_id, skill FROM user_skill") == [(1, 1), (2, 3)]


def test_numbers_in_quotes_become_numbers_where_the_column_has_integer_affinity():
    sql = "INSERT INTO contact (contact_id, account_id, portal_user_id) VALUES ('7', '3', '907');"
    seed = build_seed(CSM, sql)
    assert read(seed, "SELECT contact_id, typeof(portal_user_id) FROM contact WHERE account_id = '3'") == [
        (7, "integer")
    ]


def test_a_column_that_the_schema_lacks_is_added_once_and_reported(caplog):
    rows = ["(1, 'a', 'red')", "(2, 'b', 'blue')"]
    sql = "".join(f'INSERT INTO product (product_id, name, "shelf colour") VALUES {row};' for row in rows)
    seed = build_seed(CSM, sql, source="odd.sql")
    assert seed.added_columns == ("product.shelf colour",)
    assert read(seed, 'SELECT "shelf colour" FROM product') == [("red",), ("blue",)]
    (record,) = caplog.records
    assert "odd.sql" in record.getMessage()
    assert "product.shelf colour" in record.getMessage()


def test_a_table_that_the_schema_lacks_is_added_and_reported(caplog):
    seed = build_seed(CSM, "INSERT INTO \"price list\" (code, amount) VALUES ('x', 3);", source="odd.sql")
    assert seed.added_tables == ("price list",)
    assert read(seed, 'SELECT amount FROM "price list"') == [(3,)]
    assert "odd.sql" in caplog.text


def test_the_autoincrement_goes_on_from_the_highest_seeded_id():
    seed = build_seed(CSM, f"{PRODUCT}(41, 'a', 'service', 'active');")
    database = Database()
    database.load(seed.database, seed.digests)
    assert database.next_sequence("product") == 42
    assert database.next_sequence("account") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH DATABASE '/tmp/other.db' AS other",
        "CREATE TABLE more (x)",
        "DROP TABLE product",
        "PRAGMA writable_schema=ON",
        "SELECT load_extension('x')",
        "VACUUM INTO '/tmp/copy.db'",
        "CREATE TRIGGER t AFTER INSERT ON product BEGIN DELETE FROM account; END",
    ],
)
def test_a_seed_may_only_change_rows(statement):
    with pytest.raises(SeedError, match=r"odd\.sql:1: "):
        build_seed(CSM, f"{statement};", source="odd.sql")


def test_a_wrong_statement_is_named_by_file_and_line():
    with pytest.raises(SeedError, match=r"odd\.sql:3: .*nonsense"):
        build_seed(CSM, f"-- head\n{PRODUCT}(1, 'a', 'service', 'active');\nnonsense here;", source="odd.sql")


def test_a_seed_outside_its_root_is_refused(tmp_path):
    write_seed(tmp_path, name="outside.sql")
    (tmp_path / "root").mkdir()
    for name in ("../outside.sql", str(tmp_path / "outside.sql")):
        with pytest.raises(SeedError, match="outside"):
            SeedStore().from_file(CSM, tmp_path / "root", name)


def test_a_link_out_of_the_root_is_refused(tmp_path):
    write_seed(tmp_path, name="outside.sql")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link.sql").symlink_to(tmp_path / "outside.sql")
    with pytest.raises(SeedError, match="outside"):
        SeedStore().from_file(CSM, tmp_path / "root", "link.sql")


def test_an_absent_seed_says_what_to_set(tmp_path):
    with pytest.raises(SeedError, match="seed_root"):
        SeedStore().from_file(CSM, tmp_path, "absent.sql")


def test_bytes_that_are_no_text_are_a_seed_error(tmp_path):
    (tmp_path / "seed.sql").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SeedError, match="UTF-8"):
        SeedStore().from_file(CSM, tmp_path, "seed.sql")


def test_equal_seeds_are_built_once(tmp_path):
    store = SeedStore()
    write_seed(tmp_path)
    write_seed(tmp_path, name="same.sql")
    first = store.from_file(CSM, tmp_path, "seed.sql")
    assert store.from_file(CSM, tmp_path, "seed.sql") is first
    assert store.from_file(CSM, tmp_path, "same.sql") is first


async def test_a_second_session_of_a_seed_costs_one_copy_of_its_bytes(tmp_path, monkeypatch):
    built = []
    monkeypatch.setattr(seeds, "build_seed", lambda *given, **named: built.append(named) or build_seed(*given, **named))
    gym, task = EmbeddedGym(), csm_task(write_seed(tmp_path))
    async with gym.open(task) as first, gym.open(task) as second:
        await first.call("add_new_user_group", {"name": "Night", "type": "support", "active": True})
        assert await first.state_hash() != await second.state_hash()  # a copy, not the same database
    async with gym.open(task) as third:
        assert json.loads((await third.call("list_user_groups", {"name": "Night"})).text) == []
    assert len(built) == 1


def test_an_edited_seed_file_is_built_again(tmp_path):
    store = SeedStore()
    first = store.from_file(CSM, write_seed(tmp_path), "seed.sql")
    write_seed(tmp_path, SEED.replace("'Nord'", "'North Ltd'"))
    second = store.from_file(CSM, tmp_path, "seed.sql")
    assert read(first, "SELECT name FROM account WHERE account_id = 1") == [("Nord",)]
    assert read(second, "SELECT name FROM account WHERE account_id = 1") == [("North Ltd",)]


def test_the_least_used_seed_is_dropped_when_the_store_is_full():
    store = SeedStore(max_bytes=1)
    first = store.from_sql(CSM, SEED)
    store.from_sql(CSM, f"{PRODUCT}(1, 'a', 'service', 'active');")
    again = store.from_sql(CSM, SEED)
    assert again is not first
    assert again.digests == first.digests


def test_the_digest_is_that_of_the_contents_whatever_the_order_of_the_rows():
    rows = ["(1, 'a', 'service', 'active')", "(2, 'b', 'service', 'active')"]
    one, other = (build_seed(CSM, PRODUCT + ", ".join(order)) for order in (rows, rows[::-1]))
    assert one.digests == other.digests
    changed = build_seed(CSM, PRODUCT + ", ".join(rows).replace("'b'", "'c'"))
    assert {name for name in one.digests if one.digests[name] != changed.digests[name]} == {"product"}


def test_the_seeded_bytes_are_a_database_that_any_sqlite_reads(tmp_path):
    path = tmp_path / "copy.sqlite"
    path.write_bytes(build_seed(CSM, SEED).database)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM customer_case").fetchone() == (3,)
    connection.close()
