"""What training sampled, in the same files as an evaluation: groups in as they finish, rows and trajectories out.

A line per episode, named by its step, slot and member. A group that a resumed run adds again stands there once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robustops.core.episode import EpisodeGroup
from robustops.core.episode_row import EpisodeRow, write_episodes
from robustops.core.errors import TableError
from robustops.core.files import SCHEMA_VERSION, write_json
from robustops.core.json_lines import append_lines, read_lines
from robustops.core.task import Task
from robustops.rollout.rows import RunIdentity, row_of
from robustops.rollout.run_folder import ROWS, RUN, TRAJECTORIES
from robustops.rollout.task_file import write_tasks
from robustops.rollout.trajectory import dump_episode, read_trajectories


class TrainingLog:
    """Appends to `<folder>/trajectories.jsonl`; `finish` writes the rows, the tasks and run.json beside it."""

    def __init__(self, folder: Path, identity: RunIdentity) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._identity = identity
        self._path = folder / TRAJECTORIES
        self._is_begun = False

    def add(self, step: int, slot_id: str, group: EpisodeGroup) -> None:
        """Steps come in order. The first one that a process adds to is where it goes on."""
        if not self._is_begun:
            self._cut_from(step)
        self._is_begun = True
        source = {"step": step, "slot": slot_id, "group": group.group_id, "run": self._identity.run}
        append_lines(
            self._path,
            (
                dump_episode(episode, source=source | {"member": member})
                for member, episode in enumerate(group.episodes)
            ),
        )

    def _cut_from(self, step: int) -> None:
        """Drop this step's lines and later ones: a resumed run adds all these groups again, those of its journal and
        those that it plays anew, perhaps with other weights. Raises TableError for lines that do not say their step.
        """
        if not self._path.is_file():
            return
        end = 0
        with self._path.open("rb") as file:
            for line, value in zip(file, read_lines(self._path), strict=False):  # a line cut by a kill is left out
                found = value["source"].get("step")
                if found is None:
                    raise TableError(f"{self._path}: of an earlier build, without steps; begin anew in another run.dir")
                if found >= step:
                    break
                end += len(line)
        os.truncate(self._path, end)

    def finish(self, tasks: Mapping[str, Task], *, about: Mapping[str, Any]) -> list[EpisodeRow]:
        episodes = read_trajectories(self._path)
        rows = [row_of(episode, tasks[episode.case.task_id], self._identity) for episode in episodes]
        write_episodes(self._folder / ROWS, rows)
        write_tasks(self._folder, (tasks[task_id] for task_id in dict.fromkeys(row.task_id for row in rows)))
        identity = asdict(self._identity)
        facts = {name: identity[name] for name in ("run", "model", "stage", "split", "seed", "policy_mode")}
        write_json(self._folder / RUN, {**about, "schema_version": SCHEMA_VERSION, **facts, "num_episodes": len(rows)})
        return rows
