"""Synthetic databases against the domains that serve them: their columns, values, references and uniqueness."""

from random import Random

import pytest

from robustops.data.synth.generate import DOMAINS
from robustops.data.synth.world import sql_of
from robustops.gym.database import Database
from robustops.gym.domains import load_domain
from robustops.gym.seed import build_seed

# Tables that no task can be about, and may stay empty: who may do what, and links that a task adds.
WITHOUT_ROWS: dict[str, set[str]] = {
    "itsm": {"role", "permission", "role_permission", "user_role"},
    "hr": {"role", "permission", "role_permission", "user_role"},
    "calendar": set(),
    "email": set(),
    "teams": set(),
    "drive": {"blobs", "uploads", "thumbnails", "share_links", "trash_log", "id_pool"}
    | {"drive_channels", "subscriptions", "webhook_deliveries"},
}
BUILDERS = {name: domain.build for name, domain in DOMAINS.items()}


def build(name, part="train", num_rows=24):
    return BUILDERS[name](part, Random(f"{name}/{part}"), num_rows)


@pytest.fixture(params=BUILDERS)
def name(request):
    return request.param


@pytest.fixture
def database(name):
    loaded = Database()
    seed = build_seed(load_domain(name), sql_of(build(name)))
    loaded.load(seed.database, seed.digests)
    yield loaded
    loaded.close()


@pytest.mark.parametrize("part", ["train", "val", "test"])
def test_a_database_fits_the_declared_tables(name, part):
    seed = build_seed(load_domain(name), sql_of(build(name, part)))
    assert (seed.added_columns, seed.added_tables) == ((), ())


@pytest.mark.parametrize("name", WITHOUT_ROWS)
def test_every_table_that_a_tool_can_change_has_rows(name):
    """Enough to build tasks on, for whatever tool."""
    world = build(name)
    assert load_domain(name).tables.keys() - world.tables.keys() == WITHOUT_ROWS[name]
    assert all(len(rows) >= 1 for rows in world.tables.values())


def test_every_reference_leads_to_a_row(name, database):
    domain = load_domain(name)
    checked = 0
    for table in domain.tables.values():
        for column in table.columns:
            if column.references:
                key = domain.tables[column.references].key
                dangling = database.rows(
                    f'SELECT "{column.name}" FROM "{table.name}" WHERE "{column.name}" IS NOT NULL '
                    f'AND "{column.name}" NOT IN (SELECT "{key}" FROM "{column.references}")'
                )
                assert (table.name, column.name, dangling) == (table.name, column.name, [])
                checked += 1
    assert checked > 10


def test_values_are_those_that_the_columns_list(name, database):
    for table in load_domain(name).tables.values():
        for column in table.columns:
            if column.values:
                found = {value for (value,) in database.rows(f'SELECT DISTINCT "{column.name}" FROM "{table.name}"')}
                assert (table.name, column.name, found - {None, *column.values}) == (table.name, column.name, set())


def test_what_must_be_unique_is(name, database):
    for table in load_domain(name).tables.values():
        for columns in table.unique:
            known = " AND ".join(f'"{column}" IS NOT NULL' for column in columns)
            listed = ", ".join(f'"{column}"' for column in columns)
            twice = database.rows(
                f'SELECT {listed} FROM "{table.name}" WHERE {known} GROUP BY {listed} HAVING COUNT(*) > 1'
            )
            assert (table.name, columns, twice) == (table.name, columns, [])


def test_the_size_is_a_parameter(name):
    small, large = (sum(map(len, build(name, num_rows=size).tables.values())) for size in (12, 60))
    assert large > 2 * small
