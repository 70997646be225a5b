"""From `split` and `tool_mode` to tasks; the synthetic set is generated on first use."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from robustops.compose.catalogue import catalogues
from robustops.compose.progress import progress
from robustops.config import RunConfig
from robustops.core.errors import SplitError, TaskError
from robustops.core.listing import read_listing
from robustops.core.task import CheckGraph, Part, Task, ToolMode, ToolSchema
from robustops.data.synth.generate import generate
from robustops.data.task_set import COMMITTED_SPLIT, TaskSet, graph_of, read_graphs
from robustops.data.tasks import domains_of
from robustops.data.tool_modes import with_distractors
from robustops.gym.session import Gym


def open_task_set(config: RunConfig) -> TaskSet:
    """Load the task set of `split.root`. Raises TaskError where there is none and none can be generated."""
    root = Path(config.split.root).expanduser().absolute()
    if not (root / "split.jsonl").is_file():
        if config.split.name != "synthetic":
            raise TaskError(
                f"split.root: no task set in {root} (split.jsonl is missing); prepare the public data set there, "
                "or use split=synthetic"
            )
        make_task_set(config, root)
    refuse_other_tasks(root)
    return TaskSet.load(root)


def refuse_other_tasks(root: Path) -> None:
    """Raise SplitError for a set that claims the committed set's recipe and is not that set."""
    found, _ = read_listing(root / "split.jsonl", kind="split")
    committed, _ = read_listing(COMMITTED_SPLIT, kind="split")
    if found.source == committed.source and found.sha256 != committed.sha256:
        raise SplitError(
            f"{root}/split.jsonl: hash {found.sha256[:12]}, the committed manifest of the same recipe has "
            f"{committed.sha256[:12]}; another version generated it: remove {root}, it is generated again"
        )


def make_task_set(config: RunConfig, root: Path) -> None:
    split = config.split
    try:
        num_tasks = generate(
            root,
            domains=split.domains,
            num_train=split.num_train,
            num_val=split.num_val,
            num_test=split.num_test,
            seed=split.generator_seed,
        )
    except ValueError as error:
        raise TaskError(f"split: {error}") from error
    print(f"tasks: {num_tasks} generated in {root}", flush=True)


def select_tasks(config: RunConfig, tasks: TaskSet, part: Part, gym: Gym) -> dict[str, Task]:
    """Tasks of one part by id, in the chosen tool mode. Raises SplitError for an empty part."""
    ids = tasks.split.select(part, limit=config.split.limit, seed=config.seed)
    tasks.split.require(ids, part=part)
    with progress(f"tasks of {part}") as report:
        loaded = []
        for number, task_id in enumerate(ids, start=1):
            loaded.append(tasks.task(task_id))
            report(number, len(ids), "")
    mode = cast(ToolMode, config.tool_mode.name)
    if mode == "oracle":
        return {task.task_id: task for task in loaded}
    offered = asyncio.run(catalogues(gym, {domain for task in loaded for domain in domains_of(task)}))
    return {task.task_id: in_mode(task, mode, tasks, offered) for task in loaded}


def graphs_for(config: RunConfig, tasks: Mapping[str, Task], task_set: TaskSet) -> Mapping[str, CheckGraph]:
    """The task set's own, or those of the file `split.graphs`, which must then have one for every task."""
    if config.split.graphs is None:
        return task_set.graphs
    path = Path(config.split.graphs).expanduser().absolute()
    graphs = read_graphs(path, task_set.split)
    return {task_id: graph_of(task, graphs, path) for task_id, task in tasks.items()}


def in_mode(task: Task, mode: ToolMode, tasks: TaskSet, offered: Mapping[str, Sequence[ToolSchema]]) -> Task:
    """With the tools that the source offers in this mode, else with distractors drawn from the task's own domains."""
    own = tasks.tool_modes.get((task.task_id, mode))
    if own is not None:
        return replace(task, tools=own, tool_mode=mode)
    return with_distractors(task, mode, [tool.name for domain in domains_of(task) for tool in offered[domain]])
