"""`prepare source=...` through its own command: agentrelbench, a pinned hub with archive and snapshots, rows out."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from robustops.cli import run
from robustops.core.files import read_json
from robustops.core.json_lines import read_lines
from robustops.data.task_set import TaskSet
from tests.data.local_hub import local_hub
from tests.data.test_public_sources import SEED, encoded, task


@pytest.fixture
def prepare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROBUSTOPS_DATA", str(tmp_path / "data"))

    def command(*overrides: str) -> int:
        monkeypatch.setattr("sys.argv", ["prepare", f"run.dir={tmp_path / 'run'}", *overrides])
        return run("prepare", "robustops.compose.prepare:run", needs_torch=False)

    return command


def test_agentrelbench_becomes_a_task_set_that_runs_whole(prepare, tmp_path, capsys) -> None:
    pytest.importorskip("agentrelbench")
    assert prepare("source=agentrelbench") == 0
    tasks = TaskSet.load(tmp_path / "data" / "eog")
    assert len(tasks.split.select("test")) == 20  # 12 csm and 8 itsm tasks, by the package's own listing
    assert len(tasks.tool_modes) == 13
    assert "not runnable" not in capsys.readouterr().out
    assert prepare("do=export", "split=eog", "split.part=test", "tool_mode=plus10") == 0
    rows = {row["verifier_metadata"]["task_id"]: row for row in read_lines(tmp_path / "run" / "tasks.nemo_gym.jsonl")}
    assert len(rows) == 20
    for (task_id, _), names in tasks.tool_modes.items():
        offered = [tool["name"] for tool in rows[task_id]["responses_create_params"]["tools"]]
        assert offered == list(names)


def hub_files() -> tuple[dict[str, bytes], str]:
    snapshot = json.dumps({"gym_name": "sn-csm-server", "tools": [{"name": "find_account"}]}).encode()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr(SEED, "INSERT INTO account (account_id, name) VALUES (1, 'Jade Works');")
    files = {
        "public/tasks@rev1/oracle/csm.jsonl": (json.dumps(encoded(task(), "one")) + "\n").encode(),
        "public/tools@rev2/snapshots/csm.json": snapshot,
        "gym_dbs.zip": archive.getvalue(),
    }
    return files, hashlib.sha256(b"csm.json\x00" + snapshot).hexdigest()


def test_pinned_revisions_become_a_task_set(prepare, tmp_path, capsys) -> None:
    files, tree = hub_files()
    with local_hub(files) as hub:
        pins = ["source=hub", f"source.endpoint={hub.url}", "source.repo=public/tasks", "source.revision=rev1"]
        pins += [f"source.databases_url={hub.url}/gym_dbs.zip", "source.tools_repo=public/tools"]
        pins += ["source.tools_revision=rev2", "source.tools_under=snapshots", "source.tools_files=1"]
        assert prepare(*pins, f"source.tools_sha256={'0' * 64}") == 2
        assert f"hashes to {tree[:12]}, expected 000000000000" in capsys.readouterr().err
        assert not (tmp_path / "data" / "eog").exists()
        assert prepare(*pins, f"source.tools_sha256={tree}") == 0
    tasks = TaskSet.load(tmp_path / "data" / "eog")
    assert tasks.split.entry("one").runnable
    missing = read_json(tmp_path / "data" / "eog" / "missing.json")
    assert (missing["missing_seeds"], missing["missing_snapshots"]) == ([], [])


def test_a_public_split_without_a_source_says_where_tasks_come_from(prepare, capsys) -> None:
    assert prepare("split=eog") == 2
    assert "source=local source.path=FOLDER" in capsys.readouterr().err
