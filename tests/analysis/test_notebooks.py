"""The notebooks: outputs stripped, thin, and each runs on a small table to its end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from analysis.notebook import FOLDER, RUNS, main
from tests.analysis.run_folders import MakeRun, faulted, outcomes
from tests.conftest import IS_FULL_SIZE

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
METRICS = "step,reward_mean\n0,0.1\n1,0.4\n"


@pytest.fixture
def runs(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    folders = []
    for stage, pattern in (("sft", "1100"), ("rl", "1110")):
        folder = make_run(stage, [*outcomes(pattern), *faulted(outcomes(pattern))])
        (folder / "metrics.csv").write_text(METRICS)
        task = {"task_id": "t000", "request": "Close it.", "policy": "", "tools": ["a"], "domain": "csm"}
        check = {"index": 0, "name": "closed", "kind": "database_state", "query": "SELECT 1", "comparison": "equals"}
        (folder / "tasks.jsonl").write_text(json.dumps({**task, "checks": [check]}) + "\n")
        folders.append(folder)
    monkeypatch.setenv(RUNS, os.pathsep.join(map(str, folders)))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    return folders


def cells(path: Path) -> list[dict]:
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def test_there_are_the_five_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["equivalence", "faults", "results", "tasks", "training"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped_and_cells_are_thin(path: Path) -> None:
    for cell in cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        assert len(cell["source"]) <= 12
        assert not any(line.startswith(("def ", "class ")) for line in cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path: Path, runs: list[Path]) -> None:
    names: dict[str, object] = {}
    for cell in cells(path):
        exec(compile("".join(cell["source"]), path.name, "exec"), names)


@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS] if IS_FULL_SIZE else ["results"])
def test_the_command_leaves_the_notebook_with_its_outputs(name: str, runs: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "executed.ipynb"
    assert main([name, *map(str, runs), "--out", str(out)]) == 0
    shown = [output for cell in cells(out) for output in cell["outputs"]]
    pages = ["".join(output["data"]["text/html"]) for output in shown if "text/html" in output.get("data", {})]
    assert pages
    if name == "results":
        assert "3 of 4" in pages[0]  # RL solves three of four clean cases
        assert "<svg" in pages[0]


def test_an_unknown_notebook_is_one_line(runs: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["result", str(runs[0])]) == 2
    assert "expected one of equivalence, faults, results, tasks, training" in capsys.readouterr().err
