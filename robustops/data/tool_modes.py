"""Distractors for the modes plus5, plus10 and plus15: a task and its domain's tool names in, the wider task out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from robustops.core.errors import TaskError
from robustops.core.task import Task, ToolMode

NUM_DISTRACTORS: Mapping[ToolMode, int] = {"oracle": 0, "plus5": 5, "plus10": 10, "plus15": 15}


def with_distractors(task: Task, mode: ToolMode, catalogue: Sequence[str]) -> Task:
    """The task with unselected tools of its own domain mixed in, seeded by its id; a wider mode contains the narrower.

    `catalogue`: every tool name of the domain, in any order. Raises TaskError where it holds too few.
    """
    pool = sorted(set(catalogue) - set(task.tools))
    wanted = NUM_DISTRACTORS[mode]
    if len(pool) < wanted:
        raise TaskError(f"task {task.task_id}: tool_mode: {mode} needs {wanted} unselected tools, found {len(pool)}")
    if not wanted:
        return replace(task, tool_mode=mode)
    Random(f"distractors/{task.task_id}").shuffle(pool)
    tools = [*task.tools, *pool[:wanted]]
    Random(f"order/{task.task_id}/{mode}").shuffle(tools)
    return replace(task, tools=tuple(tools), tool_mode=mode)
