"""A transaction is all or nothing: rows, autoincrement and digest."""

import pytest
from small_csm import SEED

from robustops.gym.database import Database
from robustops.gym.domains import load_domain
from robustops.gym.seed import build_seed

CSM = load_domain("csm")
GROUP = CSM.tables["user_group"]


@pytest.fixture
def database():
    seed = build_seed(CSM, SEED)
    opened = Database()
    opened.load(seed.database, seed.digests)
    yield opened
    opened.close()


def test_a_failed_transaction_takes_back_all_of_its_writes(database):
    digest, next_key = database.digest(), database.next_sequence("user_group")

    def fail_halfway():
        with database.transaction():
            database.insert(GROUP, {"group_id": next_key, "name": "Night"})
            database.update(GROUP, 1, {"name": "Day"})
            database.delete(GROUP, " WHERE group_id = ?", (2,))
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway()
    assert database.digest() == digest
    assert database.next_sequence("user_group") == next_key
    assert database.rows("SELECT group_id FROM user_group ORDER BY 1") == [(1,), (2,), (3,)]


def test_undoing_a_write_brings_the_digest_back(database):
    digest = database.digest()
    database.insert(GROUP, {"group_id": 9, "name": "Night"})
    assert database.digest() != digest
    assert database.delete(GROUP, " WHERE group_id = ?", (9,)) == [(9, "Night", None, None, None, None)]
    assert database.digest() == digest


def test_a_value_and_its_text_have_different_digests(database):
    """1 and '1' are different contents where a column keeps them apart."""
    database.update(GROUP, 1, {"name": "1"})
    as_text = database.digest()
    database.update(GROUP, 1, {"name": b"1"})
    assert database.digest() != as_text
