"""The csm cases to the letter: whole rows, the order of keys, reports of arguments. test_coverage.py counts them."""

import ast
import json

import pytest
from csm_case_writes import CASE_WRITES
from csm_errors import ERRORS
from csm_reads import READS, ROWS
from csm_writes import WRITES as OTHER_WRITES
from small_csm import csm_task, differences, table_rows, write_seed

from robustops.gym.domains import load_domain
from robustops.gym.embedded import EmbeddedGym

CSM = load_domain("csm")
WRITES = {**OTHER_WRITES, **CASE_WRITES}


@pytest.fixture
async def session(tmp_path):
    async with EmbeddedGym().open(csm_task(write_seed(tmp_path))) as opened:
        yield opened


async def every_table(session):
    return {name: await table_rows(session, name, table.key) for name, table in CSM.tables.items()}


@pytest.mark.parametrize("name", READS)
async def test_a_read_gives_the_stated_reply_and_changes_nothing(session, name):
    arguments, expected = READS[name]
    before, digest = await every_table(session), await session.state_hash()
    result = await session.call(name, arguments)
    assert not result.is_error
    reply = json.loads(result.text)
    if isinstance(expected, tuple):
        key = CSM.tools[name].table.key
        assert (ROWS, *(row[key] for row in reply)) == expected
    else:
        assert reply == expected
        assert json.dumps(reply) == json.dumps(expected)  # the order of the keys, and 2 is not 2.0
    assert await session.state_hash() == digest
    assert await every_table(session) == before


@pytest.mark.parametrize("name", WRITES)
async def test_a_write_changes_the_stated_rows_and_no_others(session, name):
    arguments, table, expected = WRITES[name]
    before, digest = await every_table(session), await session.state_hash()
    result = await session.call(name, arguments)
    assert not result.is_error, result.text
    after = await every_table(session)
    changes = {other: found for other in after if (found := differences(before[other], after[other]))}
    assert changes == {table: expected}
    assert await session.state_hash() != digest


@pytest.mark.parametrize("name", [name for name in WRITES if CSM.tools[name].does in ("create", "update")])
async def test_a_create_or_update_replies_with_the_stored_row(session, name):
    arguments, table, expected = WRITES[name]
    (key,) = expected
    reply = json.loads((await session.call(name, arguments)).text)
    stored = (await table_rows(session, table, CSM.tables[table].key))[key]
    assert reply == {column: stored[column] for column in reply}


@pytest.mark.parametrize("name", [name for name in WRITES if CSM.tools[name].does == "delete"])
async def test_a_delete_replies_with_the_number_of_rows(session, name):
    arguments, _, expected = WRITES[name]
    assert json.loads((await session.call(name, arguments)).text) == {"deleted": len(expected)}


async def test_assignments_reply_with_what_was_set_and_when(session):
    to_user = await session.call("assign_case_to_user", {"case_id": 2, "assigned_to_user_id": 3})
    to_group = await session.call("set_case_assignment_group", {"case_id": 2, "assignment_group_id": 2})
    assert json.loads(to_user.text) == {
        "assignment_status": "success",
        "assigned_to": 3,
        "assigned_at": "2026-06-01 09:00:01",
    }
    assert json.loads(to_group.text) == {
        "status": "success",
        "assignment_group_id": 2,
        "set_at": "2026-06-01 09:00:02",
    }


@pytest.mark.parametrize("name", ERRORS)
async def test_a_mistake_is_an_error_reply_and_changes_nothing(session, name):
    arguments, expected = ERRORS[name]
    before, digest = await every_table(session), await session.state_hash()
    result = await session.call(name, arguments)
    assert result.is_error
    head = f"API Error [{name}]: "
    assert result.text.startswith(head)
    detail = result.text.removeprefix(head)
    if isinstance(expected, tuple):
        kind, place, field = expected
        first = ast.literal_eval(detail)[0]
        assert (first["type"], first["loc"]) == (kind, [place, field])
        assert {"type", "loc", "msg", "input"} <= first.keys() <= {"type", "loc", "msg", "input", "ctx"}
    else:
        assert detail == expected
    assert json.loads(result.observation)["isError"] is True
    assert await session.state_hash() == digest
    assert await every_table(session) == before
