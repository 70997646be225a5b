"""The loader reads every public task at hand, and names file and field of every mistake."""

from __future__ import annotations

import copy
import json
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustops.core.errors import TaskError
from robustops.data.tasks import DOMAIN_OF_SERVER, load_task, load_values, read_task
from tests.data.public import agentrelbench_suite, upstream_files

TASK = {
    "mcp_endpoint": "/mcp",
    "gym_servers_config": [
        {
            "mcp_server_name": "sn-csm-server",
            "mcp_server_url": "http://localhost:8001",
            "seed_database_file": "seeds/a.sql",
            "context": {" x-user-email": "ada@desk.example"},
            "user_info": "",
        }
    ],
    "system_prompt": "policy",
    "user_prompt": "request",
    "selected_tools": ["find_account", "update_account_details", "find_account"],
    "restricted_tools": [],
    "verifiers": [
        {
            "verifier_type": "database_state",
            "name": "changed",
            "gym_name": "sn-csm-server",
            "validation_config": {"query": "SELECT 1", "expected_value": 1, "comparison_type": "greater_than"},
        },
        {
            "verifier_type": "response_check",
            "name": "told",
            "validation_config": {"sql_query": "SELECT 2", "comparison_prompt": "says 2"},
        },
    ],
}


@pytest.fixture
def write(tmp_path):
    def write_task(value) -> object:
        path = tmp_path / "mine.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write_task


def changed(**fields):
    return copy.deepcopy(TASK) | fields


def test_every_public_task_loads():
    files = upstream_files()
    assert len(files) == 10
    for path in files:
        raw, task = json.loads(path.read_text()), load_task(path)
        assert task.task_id == path.stem
        assert task.domain == path.parent.name
        assert len(task.checks) == len(raw["verifiers"])
        assert [check.query for check in task.checks] == [v["validation_config"]["query"] for v in raw["verifiers"]]
        assert task.tools == tuple(dict.fromkeys(raw["selected_tools"]))


def test_every_agentrelbench_task_loads_and_is_named_after_its_folder():
    suite = agentrelbench_suite()
    files = sorted(suite.rglob("task.json"))
    assert len(files) >= 20
    for path in files:
        task = load_task(path, seed_root=suite)
        assert task.task_id == path.parent.name
        assert task.domain == path.parent.parent.name
        assert (suite / task.servers[0].seed_file).is_file()


def test_what_a_file_says_arrives_in_the_task(write):
    path = write(TASK)
    task = load_task(path, template="t1")
    assert (task.task_id, task.domain, task.policy, task.request) == ("mine", "csm", "policy", "request")
    assert (task.seed_root, task.template) == (str(path.parent), "t1")
    assert task.tools == ("find_account", "update_account_details")
    (server,) = task.servers
    assert (server.name, server.seed_file, server.url) == ("sn-csm-server", "seeds/a.sql", "http://localhost:8001")
    state, answer = task.checks
    assert (state.index, state.kind, state.name, state.gym) == (0, "database_state", "changed", "sn-csm-server")
    assert (state.query, state.expected, state.comparison) == ("SELECT 1", 1, "greater_than")
    assert (answer.index, answer.kind, answer.gym, answer.comparison) == (1, "response_check", None, "equals")
    assert answer.config == {"sql_query": "SELECT 2", "comparison_prompt": "says 2"}


def test_stray_spaces_around_context_keys_are_stripped(write):
    assert load_task(write(TASK)).servers[0].context == {"x-user-email": "ada@desk.example"}


def test_restricted_tools_are_taken_out(write):
    assert load_task(write(changed(restricted_tools=["find_account"]))).tools == ("update_account_details",)


def test_several_servers_make_a_hybrid_task(write):
    other = TASK["gym_servers_config"][0] | {"mcp_server_name": "gym-teams-mcp"}
    assert load_task(write(changed(gym_servers_config=[*TASK["gym_servers_config"], other]))).domain == "hybrid"


def test_the_seven_public_servers_have_their_domains():
    assert sorted(DOMAIN_OF_SERVER.values()) == ["calendar", "csm", "drive", "email", "hr", "itsm", "teams"]


def server(**fields):
    return [TASK["gym_servers_config"][0] | fields]


def verifier(**fields):
    return [TASK["verifiers"][0] | fields]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", r"mine\.json:1: not JSON"),
        ("[]", r"mine\.json: the task: got \[\]; expected a valid dictionary"),
        ({k: v for k, v in TASK.items() if k != "user_prompt"}, r"mine\.json: user_prompt: missing; expected a value"),
        (changed(system_prompt=7), r"mine\.json: system_prompt: got 7; expected a valid string"),
        (changed(selected_tools=[]), r"selected_tools: got \[\]; expected .*at least 1 item"),
        (changed(selected_tools=["a", 3]), r"selected_tools\.1: got 3; expected a valid string"),
        (changed(verifiers=[]), r"verifiers: got \[\]; expected .*at least 1 item"),
        (changed(verifiers="[{]"), r"verifiers: got '\[\{\]'; expected JSON text, but .* at character 2"),
        (
            changed(verifiers=verifier(verifier_type="vibes")),
            r"verifiers\.0\.verifier_type: got 'vibes'; expected 'data",
        ),
        (
            changed(verifiers=verifier(validation_config={"query": ""})),
            r"verifiers\.0: .*validation_config\.query: got ''",
        ),
        (changed(verifiers=verifier(validation_config={"query": "SELECT 1"})), r"expected_value is missing"),
        (changed(gym_servers_config=[]), r"gym_servers_config: got \[\]"),
        (changed(gym_servers_config=server(mcp_server_name="")), r"gym_servers_config\.0\.mcp_server_name: got ''"),
        (changed(gym_servers_config=server(seed_database_file="/etc/x.sql")), r"seed_database_file: got '/etc/x\.sql'"),
        (changed(gym_servers_config=server(seed_database_file="a/../../b.sql")), r"expected a path below the folder"),
        (changed(gym_servers_config=server(context={"a": "1", "a ": "2"})), r"context: .*two keys are equal but for"),
        (changed(gym_servers_config=server(context="x")), r"gym_servers_config\.0\.context: got 'x'"),
    ],
)
def test_a_mistake_is_named_by_file_and_field(write, value, message):
    with pytest.raises(TaskError, match=message) as caught:
        load_task(write(value))
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_one_that_is_no_text_are_named(tmp_path):
    with pytest.raises(TaskError, match=r"nothing\.json: no such task file"):
        load_task(tmp_path / "nothing.json")
    (tmp_path / "odd.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(TaskError, match=r"odd\.json: not UTF-8 text"):
        load_task(tmp_path / "odd.json")


def test_the_error_crosses_process_borders(write):
    with pytest.raises(TaskError) as caught:
        load_task(write("{"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def row(task_id):
    encoded = {name: json.dumps(TASK[name]) for name in ("gym_servers_config", "verifiers")}
    return TASK | encoded | {"task_id": task_id, "domain": "csm"}


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_data_set_rows_with_encoded_fields_load_like_files(tmp_path, write, suffix):
    path = tmp_path / f"oracle.{suffix}"
    rows = [row("one"), row("two")]
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(item) + "\n" for item in rows))
    one, two = (read_task(value, where=str(path), task_id="", seed_root=tmp_path) for value in load_values(path))
    assert (one.task_id, two.task_id) == ("one", "two")
    from_file = load_task(write(TASK))
    assert (one.checks, one.servers, one.tools) == (from_file.checks, from_file.servers, from_file.tools)


def test_a_row_without_an_id_is_named(tmp_path):
    with pytest.raises(TaskError, match=r"rows\.jsonl: row 1: task_id: missing"):
        read_task(row(""), where="rows.jsonl: row 1", task_id="", seed_root=tmp_path)


def test_a_data_set_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("")
    with pytest.raises(TaskError, match=r"got a \.csv file; expected \.parquet or \.jsonl"):
        load_values(tmp_path / "rows.csv")
