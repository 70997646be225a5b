"""What a session of the embedded gym promises, whatever the domain."""

import json
from dataclasses import replace

import pytest
from small_csm import SERVER, csm_task, write_seed

from robustops.core.errors import GymError, SeedError, TaskError
from robustops.core.task import GymServer
from robustops.gym.clock import VirtualClock
from robustops.gym.domain import Domain
from robustops.gym.domains import load_domain, load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.operations import KINDS
from robustops.gym.toolbox import Toolbox

NEW_GROUP = {"name": "Night", "type": "support", "active": True}


@pytest.fixture
def task(tmp_path):
    return csm_task(write_seed(tmp_path))


@pytest.fixture
async def session(task):
    async with EmbeddedGym().open(task) as opened:
        yield opened


async def test_tools_are_the_selected_ones_in_the_order_of_the_server(task):
    chosen = replace(task, tools=("update_case", "find_user", "no_such_tool"))
    async with EmbeddedGym().open(chosen) as session:
        assert [tool.name for tool in session.tools] == ["find_user", "update_case"]
        assert {tool.gym for tool in session.tools} == {SERVER}


async def test_without_a_selection_every_tool_is_shown(session):
    assert len(session.tools) == 89


async def test_an_advertised_tool_runs_though_it_was_not_selected(task):
    async with EmbeddedGym().open(replace(task, tools=("find_user",))) as session:
        assert not (await session.call("find_account", {"name": "Nord"})).is_error


async def test_an_unknown_tool_is_an_error_reply_and_not_executed(session):
    result = await session.call("drop_everything", {})
    assert (result.is_error, result.executed) == (True, False)
    assert "drop_everything" in result.text
    assert json.loads(result.observation)["isError"] is True


async def test_the_caller_header_is_mandatory(task):
    server = replace(task.servers[0], context={})
    async with EmbeddedGym().open(replace(task, servers=(server,))) as session:
        result = await session.call("find_user", {"name": "Ada Stone"})
        assert result.text == "Error: x-user-email header is required for user identification"
        assert result.is_error


async def test_an_unknown_caller_is_refused(task):
    server = replace(task.servers[0], context={"x-user-email": "who@desk.example"})
    async with EmbeddedGym().open(replace(task, servers=(server,))) as session:
        result = await session.call("find_user", {"name": "Ada Stone"})
        assert (result.text, result.is_error) == ("Error: User not found for given email", True)


async def test_a_caller_whose_address_changes_is_no_longer_known(session):
    assert not (await session.call("update_user_details", {"user_id": 1, "email": "new@desk.example"})).is_error
    assert (await session.call("find_user", {"name": "Ada Stone"})).text == "Error: User not found for given email"


@pytest.mark.parametrize("key", ["x-user-email", "x-user-email ", " X-User-Email", "user_email"])
async def test_context_keys_become_headers_without_stray_spaces(task, key):
    (address,) = task.servers[0].context.values()
    server = replace(task.servers[0], context={key: f" {address}"})
    async with EmbeddedGym().open(replace(task, servers=(server,))) as session:
        assert not (await session.call("find_user", {"name": "Ada Stone"})).is_error


async def test_arguments_that_the_tool_does_not_have_are_dropped(session):
    result = await session.call("find_account", {"name": "Nord", "verbose": True})
    assert json.loads(result.text)["account_id"] == 1


async def test_a_null_argument_counts_as_not_sent(session):
    everything = await session.call("find_contracts", {})
    assert (await session.call("find_contracts", {"account_id": None})).text == everything.text


async def test_digits_in_quotes_pass_for_a_number(session):
    assert json.loads((await session.call("find_product_by_id", {"product_id": "2"})).text)["product_id"] == 2


@pytest.mark.parametrize("name", ["find_user_by_email", "find_user"])
async def test_text_that_is_no_unicode_is_an_argument_report(session, name):
    (field,) = load_domain("csm").tools[name].input_schema["required"]
    result = await session.call(name, {field: "Ada \ud800"})
    assert result.is_error
    assert f"'type': 'string_unicode', 'loc': ['query', '{field}']" in result.text


async def test_what_is_not_found_is_an_empty_reply_and_no_error(session):
    one = await session.call("find_account", {"name": "Nor"})
    many = await session.call("find_contracts", {"contract_id": 99})
    assert [(one.text, one.is_error), (many.text, many.is_error)] == [("{}", False), ("[]", False)]


async def test_a_name_with_wildcards_is_taken_literally(session):
    assert (await session.call("find_products", {"name": "%"})).text == "[]"


async def test_a_unique_field_may_be_set_to_the_value_it_has(session):
    result = await session.call("update_account_details", {"account_id": 1, "name": "Nord", "active": False})
    assert json.loads(result.text)["active"] == 0


async def test_ids_are_not_used_again_after_a_delete(session):
    first = json.loads((await session.call("add_new_user_group", NEW_GROUP)).text)["group_id"]
    member = json.loads((await session.call("add_new_group_member", {"group_id": first, "user_id": 1})).text)[
        "member_id"
    ]
    await session.call("remove_group_membership", {"member_id": member})
    again = json.loads((await session.call("add_new_group_member", {"group_id": first, "user_id": 1})).text)
    assert again["member_id"] == member + 1


async def test_each_write_takes_one_second_and_a_refused_one_none(session):
    stamps = []
    for name in ("A", "A", "B"):  # the second is refused: the name is taken
        result = await session.call("add_new_user_group", {**NEW_GROUP, "name": name})
        stamps.append(None if result.is_error else json.loads(result.text)["sys_created_on"])
    assert stamps == ["2026-06-01 09:00:01", None, "2026-06-01 09:00:02"]


async def test_sessions_of_one_task_do_not_see_each_other(task):
    gym = EmbeddedGym()
    async with gym.open(task) as one, gym.open(task) as other:
        await one.call("add_new_user_group", NEW_GROUP)
        assert (await other.call("find_user_group", {"name": "Night"})).text == "{}"
        assert await one.state_hash() != await other.state_hash()


async def test_a_restored_session_has_the_clock_of_the_snapshot(session):
    start = await session.snapshot()
    first = await session.call("add_new_user_group", NEW_GROUP)
    await session.restore(start)
    assert (await session.call("add_new_user_group", NEW_GROUP)).text == first.text


async def test_a_snapshot_of_one_session_continues_in_another(task):
    gym = EmbeddedGym()
    async with gym.open(task) as one:
        await one.call("add_new_user_group", NEW_GROUP)
        snapshot, digest = await one.snapshot(), await one.state_hash()
    async with gym.open(task) as other:
        await other.restore(snapshot)
        assert await other.state_hash() == digest
        assert json.loads((await other.call("find_user_group", {"name": "Night"})).text)["group_id"] == 4


@pytest.mark.parametrize("cut", [b"", b"{}\n", b"not json\nrest"])
async def test_bytes_that_are_no_snapshot_are_refused_and_change_nothing(session, cut):
    digest = await session.state_hash()
    with pytest.raises(GymError, match="snapshot"):
        await session.restore(cut)
    assert await session.state_hash() == digest


async def test_a_cut_snapshot_is_refused(session):
    with pytest.raises(GymError, match="bytes"):
        await session.restore((await session.snapshot())[:-1])


async def test_the_first_server_owns_a_tool_that_two_servers_have(task, tmp_path):
    """The benchmark merges tools in the order of the task's servers; the first of a name stays."""
    csm = load_domain("csm")
    twin = Domain(
        name="twin",
        servers=("twin-server",),
        tables=csm.tables,
        tools={name: csm.tools[name] for name in ("find_user_group", "add_new_user_group")},
        caller=csm.caller,
    )
    gym = EmbeddedGym(toolboxes=(load_toolbox("csm"), Toolbox(twin, KINDS)))
    second = GymServer(name="twin-server", seed_file="seed.sql", context=task.servers[0].context)
    async with gym.open(replace(task, servers=(*task.servers, second))) as session:
        assert len(session.tools) == 89
        await session.call("add_new_user_group", NEW_GROUP)
        counts = [
            (await session.query("SELECT COUNT(*) AS n FROM user_group", name))["data"]
            for name in (SERVER, "twin-server")
        ]
        assert counts == [[{"n": 4}], [{"n": 3}]]
    async with gym.open(replace(task, servers=(second, *task.servers))) as session:
        await session.call("add_new_user_group", NEW_GROUP)
        assert (await session.query("SELECT COUNT(*) AS n FROM user_group"))["data"] == [{"n": 4}]
        assert session.tools[0].gym == "twin-server"
        snapshot = await session.snapshot()
    async with gym.open(task) as session:
        with pytest.raises(GymError, match="twin-server"):
            await session.restore(snapshot)


async def test_a_server_that_is_not_embedded_names_those_that_are(task):
    with pytest.raises(TaskError, match="sn-csm-server"):
        async with EmbeddedGym().open(
            replace(task, servers=(GymServer(name="gym-payroll-mcp", seed_file="seed.sql"),))
        ):
            pass


async def test_a_missing_seed_is_the_users_mistake(task):
    with pytest.raises(SeedError):
        async with EmbeddedGym().open(replace(task, servers=(replace(task.servers[0], seed_file="none.sql"),))):
            pass


async def test_the_catalogue_holds_every_tool_of_a_domain():
    assert len(await EmbeddedGym().catalogue("csm")) == 89
    with pytest.raises(ValueError, match="csm"):
        await EmbeddedGym().catalogue("payroll")


def test_the_virtual_clock_counts_seconds_from_a_fixed_start():
    clock = VirtualClock(num_writes=61)
    assert clock.now("%Y-%m-%d %H:%M:%S") == "2026-06-01 09:01:01"
