"""Public data from a folder, an archive or a pinned revision becomes a task set, or nothing changes."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustops.core.errors import SplitError, TaskError
from robustops.core.files import read_json
from robustops.core.folders import finish_replacing
from robustops.core.task import ToolSchema
from robustops.data.public.build import build
from robustops.data.public.fetch import fetch_file, fetch_revision, tree_sha256
from robustops.data.public.inventory import take_inventory
from robustops.data.public.nemo import from_row, to_row
from robustops.data.public.parts import part_of
from robustops.data.public.unpack import unpack
from robustops.data.task_set import TaskSet
from tests.data.local_hub import local_hub

SEED = "Domain DBs/csm/dbs/a.sql"
CATALOGUES = {"sn-csm-server": frozenset({"find_account", "update_account"})}
MIB = 1 << 20


def task(request: str = "Set it.", tools: tuple[str, ...] = ("find_account",), seed: str = SEED) -> dict:
    return {
        "gym_servers_config": [{"mcp_server_name": "sn-csm-server", "seed_database_file": seed, "context": {}}],
        "system_prompt": "policy",
        "user_prompt": request,
        "selected_tools": list(tools),
        "verifiers": [
            {
                "verifier_type": "database_state",
                "name": "set",
                "validation_config": {"query": "SELECT 1", "expected_value": 1, "comparison_type": "equals"},
            }
        ],
    }


def encoded(value: dict, task_id: str) -> dict:
    """As the public data set holds it: servers and checks as JSON text."""
    texts = {name: json.dumps(value[name]) for name in ("gym_servers_config", "verifiers")}
    return {"task_id": task_id, "domain": "csm", **value, **texts}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with three rows, one of them also in a wider mode, and one seed database."""
    folder = tmp_path / "copy"
    (folder / "oracle").mkdir(parents=True)
    (folder / "plus_5_tools").mkdir()
    rows = [
        encoded(task("Set one."), "one"),
        encoded(task("Set two.", seed="Domain DBs/csm/dbs/gone.sql"), "two"),
        encoded(task("Set three.", tools=("find_account", "brew_coffee")), "three"),
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "oracle" / "csm.parquet")
    wide = encoded(task("Set one.", tools=("find_account", "update_account")), "one")
    pq.write_table(pa.Table.from_pylist([wide]), folder / "plus_5_tools" / "csm.parquet")
    (folder / SEED).parent.mkdir(parents=True)
    (folder / SEED).write_text("INSERT INTO account VALUES (1);")
    return folder


def build_from(folder: Path, root: Path, *, allocation="by_request"):
    return build(root, take_inventory([folder]), source="copy", allocation=allocation, catalogues=CATALOGUES)


def test_rows_become_a_task_set(copy: Path, tmp_path: Path) -> None:
    built = build_from(copy, tmp_path / "eog", allocation="test")
    tasks = TaskSet.load(tmp_path / "eog")
    assert tasks.split.select("test") == ("one",)
    assert tasks.task("one").request == "Set one."
    assert built.parts == {"test": 3}
    assert (tmp_path / "eog" / SEED).read_text() == "INSERT INTO account VALUES (1);"


def test_what_is_missing_is_listed_by_name(copy: Path, tmp_path: Path) -> None:
    built = build_from(copy, tmp_path / "eog")
    assert built.not_runnable == {
        "three": "no server of it offers brew_coffee",
        "two": "seed database Domain DBs/csm/dbs/gone.sql is missing",
    }
    assert built.missing_seeds == ("Domain DBs/csm/dbs/gone.sql",)
    assert built.missing_snapshots == ("sn-csm-server",)
    assert built.missing_modes == {"plus5": 2, "plus10": 3, "plus15": 3}
    assert read_json(tmp_path / "eog" / "missing.json")["missing_seeds"] == ["Domain DBs/csm/dbs/gone.sql"]


def test_a_task_that_cannot_run_is_refused_with_its_reason(copy: Path, tmp_path: Path) -> None:
    build_from(copy, tmp_path / "eog", allocation="test")
    with pytest.raises(SplitError, match="brew_coffee"):
        TaskSet.load(tmp_path / "eog").split.require(["three"], part="test")


def test_the_tools_of_a_wider_mode_are_kept(copy: Path, tmp_path: Path) -> None:
    build_from(copy, tmp_path / "eog")
    assert TaskSet.load(tmp_path / "eog").tool_modes == {("one", "plus5"): ("find_account", "update_account")}


def test_snapshots_are_kept_by_domain(copy: Path, tmp_path: Path) -> None:
    (copy / "csm_tools.json").write_text(json.dumps({"gym_name": "sn-csm-server", "tools": [{"name": "find_account"}]}))
    assert build_from(copy, tmp_path / "eog").missing_snapshots == ()
    assert read_json(tmp_path / "eog" / "tools" / "csm.json")["tools"] == [{"name": "find_account"}]


def test_the_part_depends_on_the_request_alone() -> None:
    assert part_of("Set  it.\n", "by_request") == part_of("set it.", "by_request")
    parts = [part_of(f"request {number}", "by_request") for number in range(4000)]
    assert 0.67 < parts.count("train") / 4000 < 0.73
    assert 0.08 < parts.count("val") / 4000 < 0.12


def test_a_failed_run_leaves_the_set_that_was_there(copy: Path, tmp_path: Path) -> None:
    build_from(copy, tmp_path / "eog")
    before = (tmp_path / "eog" / "split.jsonl").read_bytes()
    broken = encoded(task(), "four") | {"verifiers": "[]"}
    pq.write_table(pa.Table.from_pylist([broken]), copy / "oracle" / "more.parquet")
    with pytest.raises(TaskError, match=r"more.parquet: row 1: verifiers"):
        build_from(copy, tmp_path / "eog")
    assert (tmp_path / "eog" / "split.jsonl").read_bytes() == before


def test_a_kill_between_the_two_moves_loses_nothing(copy: Path, tmp_path: Path) -> None:
    build_from(copy, tmp_path / "eog")
    (tmp_path / "eog").rename(tmp_path / ".eog.old")
    finish_replacing(tmp_path / "eog")
    assert TaskSet.load(tmp_path / "eog").split.entries


@pytest.mark.parametrize("task_id", ["../out", "a/b", "a|b", ".hidden"])
def test_an_id_that_is_no_file_name_is_refused(task_id: str, copy: Path, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([encoded(task(), task_id)]), copy / "oracle" / "more.parquet")
    with pytest.raises(TaskError, match="task_id: got"):
        build_from(copy, tmp_path / "eog")


def test_a_seed_behind_a_link_out_of_the_folder_is_missing(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.sql").write_text("SELECT 1;")
    (copy / SEED).unlink()
    (copy / SEED).symlink_to(tmp_path / "secret.sql")
    assert SEED in build_from(copy, tmp_path / "eog").missing_seeds


def test_two_tasks_of_one_id_are_refused(copy: Path) -> None:
    (copy / "one.json").write_text(json.dumps(task("Something else.")))
    with pytest.raises(TaskError, match="'one' in mode oracle differs"):
        take_inventory([copy])


def zipped(members: dict[str, str], *, link: str | None = None) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
        if link:
            member = zipfile.ZipInfo("link.sql")
            member.external_attr = 0o120777 << 16
            archive.writestr(member, link)
    return data.getvalue()


@pytest.mark.parametrize("name", ["../out.sql", "/etc/out.sql", "a/../../out.sql", "..\\out.sql", "C:/out.sql"])
def test_an_archive_that_points_outside_is_refused_whole(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"fine.sql": "x", name: "x"}))
    with pytest.raises(TaskError, match="outside the folder; nothing was unpacked"):
        unpack(tmp_path / "a.zip", tmp_path / "into", max_bytes=MIB)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"fine.sql": "x"}, link="/etc/passwd"))
    with pytest.raises(TaskError, match=r"'link.sql' is a link"):
        unpack(tmp_path / "a.zip", tmp_path / "into", max_bytes=MIB)


def test_an_archive_that_grows_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"zeros.sql": "0" * 3 * MIB}))
    with pytest.raises(TaskError, match=r"unpacks to 3 MiB, more than source.max_mib allows \(2\)"):
        unpack(tmp_path / "a.zip", tmp_path / "into", max_bytes=2 * MIB)


def test_a_broken_archive_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"fine.sql": "x"})[:-10])
    with pytest.raises(TaskError, match=r"a.zip: not a whole zip archive"):
        unpack(tmp_path / "a.zip", tmp_path / "into", max_bytes=MIB)


def test_a_revision_is_fetched_once(tmp_path: Path) -> None:
    files = {"some/tasks@rev1/oracle/csm.jsonl": b"{}\n", "some/tasks@rev1/README.md": b"hello"}
    with local_hub(files) as hub:
        for _ in range(2):
            folder = fetch_revision("some/tasks", "rev1", tmp_path / "tasks", endpoint=hub.url)
        assert (folder / "oracle" / "csm.jsonl").read_bytes() == b"{}\n"
        assert len(hub.fetched) == 2


def test_only_the_named_folder_of_a_revision_is_fetched(tmp_path: Path) -> None:
    files = {"some/assets@rev1/gym/tools/csm.json": b"{}", "some/assets@rev1/huge.bin": b"0"}
    with local_hub(files) as hub:
        folder = fetch_revision("some/assets", "rev1", tmp_path / "tools", under="gym/tools", endpoint=hub.url)
        assert [path.name for path in folder.iterdir()] == ["csm.json"]
        assert [path for path, _ in hub.fetched] == ["some/assets@rev1/gym/tools/csm.json"]


def test_an_unknown_revision_says_what_to_do(tmp_path: Path) -> None:
    with (
        local_hub({"some/tasks@rev1/a": b""}) as hub,
        pytest.raises(TaskError, match=r"source=local source\.path=FOLDER"),
    ):
        fetch_revision("some/tasks", "rev2", tmp_path / "tasks", endpoint=hub.url)


def test_a_broken_download_goes_on_where_it_stopped(tmp_path: Path) -> None:
    content = bytes(range(256)) * 40
    with local_hub({"gym_dbs.zip": content}) as hub:
        hub.cut["gym_dbs.zip"] = 4000
        with pytest.raises(TaskError, match="run it again to go on"):
            fetch_file(f"{hub.url}/gym_dbs.zip", tmp_path / "a.zip", sha256=None, max_bytes=MIB)
        assert not (tmp_path / "a.zip").exists()
        fetch_file(
            f"{hub.url}/gym_dbs.zip", tmp_path / "a.zip", sha256=hashlib.sha256(content).hexdigest(), max_bytes=MIB
        )
        assert [wanted for _, wanted in hub.fetched] == ["", "bytes=4000-"]
    assert (tmp_path / "a.zip").read_bytes() == content


def test_another_hash_is_refused_and_not_kept(tmp_path: Path) -> None:
    with local_hub({"a": b"other"}) as hub, pytest.raises(TaskError, match="expected 000000000000"):
        fetch_file(f"{hub.url}/a", tmp_path / "a", sha256="0" * 64, max_bytes=MIB)
    assert list(tmp_path.iterdir()) == []


def test_a_download_over_the_limit_is_refused(tmp_path: Path) -> None:
    with local_hub({"a": b"0" * (2 * MIB)}) as hub, pytest.raises(TaskError, match="larger than 1 MiB"):
        fetch_file(f"{hub.url}/a", tmp_path / "a", sha256=None, max_bytes=MIB)


def test_the_tree_hash_is_over_sorted_names_and_contents(tmp_path: Path) -> None:
    for name, text in (("b", "2"), ("a", "1")):
        (tmp_path / name).write_text(text)
    expected = hashlib.sha256(b"a\x001" + b"b\x002").hexdigest()
    assert tree_sha256(list(tmp_path.iterdir()), tmp_path) == expected


def test_a_nemo_gym_row_gives_the_task_back() -> None:
    value = {"task_id": "one", "domain": "csm", "restricted_tools": [], **task()}
    schema = ToolSchema(name="find_account", description="Find.", input_schema={"type": "object"}, gym="sn-csm-server")
    row = json.loads(json.dumps(to_row(value, mode="plus5", tools=[schema])))
    assert row["responses_create_params"]["tools"][0]["parameters"] == {"type": "object"}
    assert row["verifier_metadata"]["tool_to_gym"] == {"find_account": "sn-csm-server"}
    assert from_row(row, where="row") == {**value, "mode": "plus_5_tools"}


def test_nemo_gym_rows_are_read_beside_others(copy: Path) -> None:
    row = to_row({"task_id": "nemo", "domain": "csm", **task()}, mode="oracle", tools=[])
    (copy / "rows.jsonl").write_text(json.dumps(row) + "\n")
    assert {found.task_id for found in take_inventory([copy]).tasks} == {"one", "two", "three", "nemo"}


def test_a_nemo_gym_row_without_a_request_is_named() -> None:
    with pytest.raises(TaskError, match=r"row 7: responses_create_params.input"):
        from_row({"verifier_metadata": {}, "responses_create_params": {"input": []}}, where="row 7")
