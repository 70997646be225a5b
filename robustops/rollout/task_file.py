"""What the episodes of a run folder were about: tasks in, `tasks.jsonl` out, one task a line.

Trajectories hold token ids and no request; readers of a run folder find it here, beside what each check asks.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from robustops.core.json_lines import write_lines
from robustops.core.task import Task

TASKS = "tasks.jsonl"


def write_tasks(folder: Path, tasks: Iterable[Task]) -> None:
    write_lines(folder / TASKS, map(_line, tasks))


def _line(task: Task) -> dict[str, Any]:
    checks = ("index", "name", "kind", "gym", "query", "expected", "comparison")
    return {
        "task_id": task.task_id,
        "domain": task.domain,
        "template": task.template,
        "tool_mode": task.tool_mode,
        "request": task.request,
        "policy": task.policy,
        "tools": list(task.tools),
        "checks": [{name: getattr(check, name) for name in checks} for check in task.checks],
    }
