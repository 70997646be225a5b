"""Check graphs from a file: the shipped ones are what the rules find today, and `split.graphs` takes no others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from robustops.compose.graphs import declared_domain
from robustops.compose.scene import Scene, build_scene
from robustops.compose.show.options import TINY_BASE
from robustops.config.preflight import before_evaluation
from robustops.config.tree import GrpoConfig, ModelConfig, RunConfig, SplitConfig
from robustops.core.errors import TableError, TaskError
from robustops.core.listing import read_listing, set_name, write_listing
from robustops.core.task import CheckGraph, Part
from robustops.data.graphs.found import checked
from robustops.data.graphs.rules import rule_edges
from robustops.data.graphs.source import source_of
from robustops.data.splits import SplitManifest
from robustops.data.synth.generate import generate
from robustops.data.task_set import COMMITTED_SPLIT, TaskSet, load_graphs, read_graphs
from robustops.show import main

SHIPPED = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "graphs" / "synthetic.jsonl"
COMMITTED = SplitManifest.load(COMMITTED_SPLIT)
NUM_TASKS = 14  # enough for every template of a part


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> TaskSet:
    """The beginning of each part, as the default recipe draws it."""
    root = tmp_path_factory.mktemp("graphs") / "set"
    generate(root, domains=["csm"], num_train=NUM_TASKS, num_val=NUM_TASKS, num_test=NUM_TASKS, seed=7)
    return TaskSet.load(root)


def test_the_rules_find_the_shipped_rows_again_byte_for_byte(tasks: TaskSet) -> None:
    lines = {json.loads(line).get("task_id"): line for line in SHIPPED.read_text().splitlines()}
    for part in get_args(Part):
        for task_id in tasks.split.select(part):
            source = source_of(tasks.task(task_id), declared_domain)
            row = checked(task_id, len(source.checks), rule_edges(source)).row()
            assert json.dumps(row, ensure_ascii=False, sort_keys=True) == lines[task_id]


def test_the_shipped_graphs_are_those_of_the_templates(tasks: TaskSet) -> None:
    """The task set's own graphs, which a run reads where no file is named, come from the templates themselves."""
    shipped = read_graphs(SHIPPED, COMMITTED)
    assert {task_id: shipped[task_id] for task_id in tasks.graphs} == dict(tasks.graphs)
    assert any(graph.edges for graph in tasks.graphs.values())


def test_every_task_of_the_shipped_set_has_a_graph_and_every_edge_its_evidence() -> None:
    header, rows = read_listing(SHIPPED, kind="graphs")
    assert header.split == set_name("synthetic", COMMITTED.sha256)
    assert [row["task_id"] for row in rows] == list(COMMITTED.entries)
    for row in rows:
        assert [item["edge"] for item in row["evidence"]] == row["edges"]
        assert all(item["rule"] in ("lookup", "foreign key") and item["why"] for item in row["evidence"])
    assert not any(row["refused"] for row in rows)


def configured(tasks: TaskSet, graphs: Path | None, **changes: object) -> RunConfig:
    split = SplitConfig(root=str(tasks.root), part="val", graphs=str(graphs) if graphs else None)
    model = ModelConfig(name="tiny", path=str(TINY_BASE), tool_schema="compact")
    return RunConfig(algorithm=GrpoConfig(), model=model, split=replace(split, **changes))


def played(config: RunConfig) -> Scene:
    return build_scene(config, "val")


def written(tasks: TaskSet, path: Path, *, of: str | None = None, **changed: object) -> Path:
    """The set's own graphs as a file beside it; `changed`: in the row of the first task of val."""
    first = tasks.split.select("val")[0]
    rows = [row | (changed if row["task_id"] == first else {}) for row in read_listing(own(tasks), kind="graphs")[1]]
    split = set_name("synthetic", tasks.split.sha256) if of is None else of
    write_listing(path, rows, kind="graphs", split=split, source="by hand")
    return path


def own(tasks: TaskSet) -> Path:
    return tasks.root / "graphs.jsonl"


def test_a_run_takes_its_graphs_from_the_file_it_names(tasks: TaskSet, tmp_path: Path) -> None:
    first = tasks.split.select("val")[0]
    file = written(tasks, tmp_path / "g.jsonl", edges=[[0, 1], [1, 2]])
    config = configured(tasks, file)
    before_evaluation(config)
    graph = CheckGraph(num_checks=tasks.graphs[first].num_checks, edges=((0, 1), (1, 2)))
    assert tasks.graphs[first] != graph
    scene = played(config)
    assert set(scene.task_set.graphs) == set(tasks.split.select("val"))
    assert scene.task_set.graphs[first] == graph
    assert played(configured(tasks, None)).task_set.graphs == tasks.graphs


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"edges": [[0, 99]]}, "graph of task '{first}': check graph: unknown check 99"),
        ({"edges": [[1, 1]]}, "graph of task '{first}': check graph: self-edge at check 1"),
        ({"edges": [[0, 1], [1, 0]]}, "graph of task '{first}': check graph: cycle through check 0"),
        ({"num_checks": 9}, "the graph of task '{first}' is over 9 checks, the task has"),
        ({"task_id": "csm-val-99999"}, "task 'csm-val-99999' is not in split.jsonl"),
        ({"task_id": "csm-val-00001"}, "no graph of task '{first}'"),
    ],
)
def test_a_graph_that_cannot_be_is_refused_by_name(tasks: TaskSet, tmp_path: Path, changed, message: str) -> None:
    first = tasks.split.select("val")[0]
    file = written(tasks, tmp_path / "g.jsonl", **changed)
    with pytest.raises(TaskError) as refused:
        played(configured(tasks, file))
    assert str(refused.value).startswith(str(file))
    assert message.format(first=first) in str(refused.value)


@pytest.mark.parametrize(
    ("of", "message"),
    [("synthetic@0123456789ab", "check graphs of task set 'synthetic@0123456789ab'"), ("synthetic", "does not say")],
)
def test_graphs_of_another_task_set_are_refused_early_and_late(tasks: TaskSet, tmp_path: Path, of, message) -> None:
    config = configured(tasks, written(tasks, tmp_path / "g.jsonl", of=of))
    for refusing in (before_evaluation, played):
        with pytest.raises(TaskError, match=message):
            refusing(config)


def test_a_file_that_is_not_there_or_holds_something_else_is_refused_early(tasks: TaskSet, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no such file; expected a graphs file"):
        before_evaluation(configured(tasks, tmp_path / "nowhere.jsonl"))
    with pytest.raises(TableError, match="holds 'split', expected 'graphs'"):
        before_evaluation(configured(tasks, COMMITTED_SPLIT))


def test_the_view_draws_the_file_s_graph_and_refuses_what_a_run_refuses(tasks: TaskSet, tmp_path: Path, capsys) -> None:
    first = tasks.split.select("val")[0]
    command = ["graph", first, "--tasks", str(tasks.root), "--graphs"]
    why = [{"edge": [0, 1], "rule": "model", "why": "because"}]
    file = written(tasks, tmp_path / "g.jsonl", edges=[[0, 1]], evidence=why)
    assert main([*command, str(file)]) == 0
    assert "because" in capsys.readouterr().out
    assert load_graphs(file)[first].edges == ((0, 1),)
    assert main([*command, str(SHIPPED)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "check graphs of task set 'synthetic@" in line
