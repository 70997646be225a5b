"""The served databases by themselves: changes to their set are made in the order in which they were asked for."""

import asyncio

import pytest

from robustops.gym.databases import Databases, Refusal
from robustops.gym.domains import load_toolbox

SEED = "INSERT INTO user_group (name, type, active) VALUES ('g', 'support', 1);"


@pytest.fixture
def databases():
    served = Databases(load_toolbox("csm"), max_databases=2)
    yield served
    served.close()


async def test_a_deletion_that_arrives_during_the_seed_still_deletes(databases):
    seeding = asyncio.create_task(databases.seed("db_1", SEED))
    await asyncio.sleep(0)  # the seed is on its way
    await databases.delete("db_1")
    await seeding
    assert len(databases) == 0


async def test_a_failed_seed_keeps_the_database_there_was(databases):
    await databases.seed("db_1", SEED)
    with pytest.raises(Refusal, match="Failed to seed"):
        await databases.seed("db_1", "nonsense")
    assert databases.engine("db_1").sql_runner.run("SELECT name FROM user_group")["data"] == [{"name": "g"}]


async def test_seeds_in_flight_do_not_exceed_the_limit(databases):
    outcomes = await asyncio.gather(
        *(databases.seed(f"db_{number}", SEED) for number in range(5)), return_exceptions=True
    )
    assert len(databases) == 2
    assert sum(isinstance(outcome, Refusal) and outcome.status == 503 for outcome in outcomes) == 3
