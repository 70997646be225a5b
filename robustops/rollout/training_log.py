"""What training sampled, in the same files as an evaluation: groups in as they finish, rows and trajectories out.

A line per episode, named by its slot and member, so that a group which a resumed run hands over again is written once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robustops.core.episode import EpisodeGroup
from robustops.core.episode_row import EpisodeRow, write_episodes
from robustops.core.files import SCHEMA_VERSION, cut_unfinished_line, write_json
from robustops.core.json_lines import append_line, read_lines
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
        self._written: set[tuple[str, int]] = set()
        if self._path.is_file():
            cut_unfinished_line(self._path)
            self._written = {_key(line["source"]) for line in read_lines(self._path)}

    def add(self, slot_id: str, group: EpisodeGroup) -> None:
        for member, episode in enumerate(group.episodes):
            source = {"slot": slot_id, "member": member, "group": group.group_id, "run": self._identity.run}
            if _key(source) not in self._written:
                append_line(self._path, dump_episode(episode, source=source))
                self._written.add(_key(source))

    def finish(self, tasks: Mapping[str, Task], *, about: Mapping[str, Any]) -> list[EpisodeRow]:
        episodes = read_trajectories(self._path)
        rows = [row_of(episode, tasks[episode.case.task_id], self._identity) for episode in episodes]
        write_episodes(self._folder / ROWS, rows)
        write_tasks(self._folder, (tasks[task_id] for task_id in dict.fromkeys(row.task_id for row in rows)))
        identity = asdict(self._identity)
        facts = {name: identity[name] for name in ("run", "model", "stage", "split", "seed", "policy_mode")}
        write_json(self._folder / RUN, {**about, "schema_version": SCHEMA_VERSION, **facts, "num_episodes": len(rows)})
        return rows


def _key(source: Mapping[str, Any]) -> tuple[str, int]:
    return source["slot"], source["member"]
