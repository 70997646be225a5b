"""What each task of a set authorises: from its damage file, or by letting the expert solve it once in this gym."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from robustops.agent.plan import Plan
from robustops.core.errors import GymError, SnapshotUnsupported, TaskError
from robustops.core.task import Case, Task
from robustops.gym.changes import changed_rows
from robustops.rollout.damage import DamageRules, rules_from_expert, rules_from_file
from robustops.rollout.setup import Setup, play_in


@dataclass(slots=True, kw_only=True)
class TaskAuthority:
    """`setup`: the evaluation's own with the expert as its policy; `folder` holds damage files, `<task id>.json`."""

    setup: Setup
    plans: Mapping[str, Plan]
    folder: Path
    _known: dict[str, asyncio.Task[DamageRules | None]] = field(default_factory=dict)

    async def rules(self, task: Task) -> DamageRules | None:
        """None for a task without damage file and plan, and for a gym whose changes cannot be told."""
        if task.task_id not in self._known:  # one computation a task, whoever asks first
            self._known[task.task_id] = asyncio.create_task(self._find(task))
        return await self._known[task.task_id]

    async def _find(self, task: Task) -> DamageRules | None:
        path = self.folder / f"{task.task_id}.json"
        if path.is_file():
            try:
                return rules_from_file(json.loads(path.read_text()))
            except (TaskError, ValueError) as error:
                raise TaskError(f"{path}: {error}") from error
        if task.task_id not in self.plans:
            return None
        try:
            return await self._by_expert(task)
        except SnapshotUnsupported:
            return None

    async def _by_expert(self, task: Task) -> DamageRules:
        """Raises GymError where the expert does not solve the task: then its changes authorise nothing."""
        async with self.setup.gym.open(task) as session:
            before = await session.snapshot()
            episode = await play_in(session, self.setup, task, Case(task_id=task.task_id, tool_mode=task.tool_mode))
            if episode.end is None or not episode.end.strict:
                raise GymError(f"damage: the expert does not solve {task.task_id}, so what it may change is unknown")
            return rules_from_expert(changed_rows(before, await session.snapshot()))
