"""A task set on disk in, its parts out: split manifest, tasks, check graphs, plans.

`<root>/{split.jsonl, graphs.jsonl, plans.jsonl, tasks/*.json, seeds/*.sql}`, and for public data `tool_modes.jsonl`.
Graphs and plans are kept apart from the tasks because no policy may see them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from robustops.agent.plan import Plan, load_plan
from robustops.core.errors import SplitError, TaskError
from robustops.core.listing import read_header, read_listing
from robustops.core.task import CheckGraph, Task, ToolMode
from robustops.data.splits import SplitManifest, task_sha256
from robustops.data.tasks import load_task

COMMITTED_SPLIT = Path(__file__).resolve().parents[1] / "assets" / "splits" / "synthetic.jsonl"
TOOL_MODES = "tool_modes.jsonl"
_MAKE_GRAPHS = "`python -m robustops.prepare do=graphs` makes them for this set"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """`tool_modes`: the tools that the source itself offers in a wider mode, by task and mode."""

    root: Path
    split: SplitManifest
    graphs: Mapping[str, CheckGraph]
    plans: Mapping[str, Plan]
    tool_modes: Mapping[tuple[str, ToolMode], tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path, *, split: Path | None = None) -> TaskSet:
        """`split`: another manifest than the set's own, such as the committed one.

        Raises TaskError where `root` is no task set.
        """
        if not (root / "split.jsonl").is_file():
            raise TaskError(f"{root}: no task set here (split.jsonl is missing); generate one with `prepare do=tasks`")
        return cls(
            root=root,
            split=SplitManifest.load(split or root / "split.jsonl"),
            graphs=load_graphs(root / "graphs.jsonl"),
            plans=load_plans(root / "plans.jsonl"),
            tool_modes=load_tool_modes(root / TOOL_MODES),
        )

    def task(self, task_id: str) -> Task:
        """Raises SplitError when the file is not the one that the manifest lists."""
        entry = self.split.entry(task_id)
        path = self.root / "tasks" / f"{task_id}.json"
        task = load_task(path, seed_root=self.root, template=entry.template)
        if (found := self._sha256(path, task)) != entry.sha256:
            raise SplitError(
                f"{path}: its content hashes to {found[:12]}, {self.split.name} says {entry.sha256[:12]}; "
                "it was edited or generated differently: generate the task set again"
            )
        return task

    def tasks(self, task_ids: Iterable[str]) -> tuple[Task, ...]:
        return tuple(self.task(task_id) for task_id in task_ids)

    def _sha256(self, path: Path, task: Task) -> str:
        seeds = []
        for server in task.servers:
            seed = self.root / server.seed_file
            if not seed.is_file():
                raise TaskError(f"{path}: seed_database_file: {seed} does not exist")
            seeds.append(seed.read_text(encoding="utf-8"))
        return task_sha256(json.loads(path.read_text(encoding="utf-8")), seeds)


def load_graphs(path: Path) -> dict[str, CheckGraph]:
    """Check graphs by task. Raises TaskError naming the task whose graph is broken."""
    graphs = {}
    for row in read_listing(path, kind="graphs")[1]:
        try:
            edges = tuple((int(parent), int(child)) for parent, child in row["edges"])
            graphs[row["task_id"]] = CheckGraph(num_checks=row["num_checks"], edges=edges)
        except (KeyError, TypeError, ValueError) as error:
            raise TaskError(f"{path}: graph of task {row.get('task_id')!r}: {error}") from error
    return graphs


def read_graphs(path: Path, split: SplitManifest) -> dict[str, CheckGraph]:
    """Graphs for a task set from a file beside it. Raises TaskError for a file of another set, and as `load_graphs`."""
    refuse_graphs_of_another_set(path, split.sha256)
    graphs = load_graphs(path)
    if unknown := sorted(set(graphs) - set(split.entries)):
        raise TaskError(
            f"{path}: task {unknown[0]!r} is not in {split.name} ({len(split.entries)} ids); {_MAKE_GRAPHS}"
        )
    return graphs


def refuse_graphs_of_another_set(path: Path, set_sha256: str) -> None:
    """By the header alone. Raises TaskError; a hash that is not known yet is empty and is not compared."""
    header = read_header(path, kind="graphs")
    if not header.of_set:
        raise TaskError(f"{path}: does not say which task set its graphs are of; {_MAKE_GRAPHS}")
    if header.is_of_another_set(set_sha256):
        raise TaskError(
            f"{path}: check graphs of task set {header.split!r}, but the set here is {set_sha256[:12]}; {_MAKE_GRAPHS}"
        )


def graph_of(task: Task, graphs: Mapping[str, CheckGraph], path: Path) -> CheckGraph:
    """Raises TaskError for a task that the file lacks, or whose checks it was not made for."""
    if task.task_id not in graphs:
        raise TaskError(f"{path}: no graph of task {task.task_id!r} ({len(graphs)} tasks); {_MAKE_GRAPHS}")
    graph = graphs[task.task_id]
    if graph.num_checks != len(task.checks):
        raise TaskError(
            f"{path}: the graph of task {task.task_id!r} is over {graph.num_checks} checks, the task has "
            f"{len(task.checks)}; {_MAKE_GRAPHS}"
        )
    return graph


def load_plans(path: Path) -> dict[str, Plan]:
    """Plans by task. Raises TaskError naming the task whose plan is broken."""
    plans = [load_plan(row) for row in read_listing(path, kind="plans")[1]]
    return {plan.task_id: plan for plan in plans}


def load_tool_modes(path: Path) -> dict[tuple[str, ToolMode], tuple[str, ...]]:
    """A set without the file has no modes of its own: distractors are drawn."""
    rows = read_listing(path, kind="tool_modes")[1] if path.is_file() else []
    return {(row["task_id"], row["mode"]): tuple(row["tools"]) for row in rows}
