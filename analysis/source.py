"""One run folder episode by episode: rows, tasks and trajectories, any number of episodes a case.

An evaluation has one episode a case; a training run has one a slot and member, a supplemented one an extra episode.
Each gets a key that two runs share when they played the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.align import distinct_names, run_title
from robustops.core.episode_row import EpisodeRow, read_episodes
from robustops.core.errors import TableError
from robustops.core.files import read_json
from robustops.core.json_lines import read_lines

ADVANTAGES = "advantages.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """`tasks`: task id -> its line in tasks.jsonl, empty for a folder without one."""

    folder: Path
    name: str
    rows: tuple[EpisodeRow, ...]
    tasks: Mapping[str, Mapping[str, Any]]

    def episodes(self) -> Iterator[tuple[str, EpisodeRow, dict[str, Any]]]:
        """(key, row, trajectory), in the file's order. Raises TableError where rows and trajectories disagree."""
        for _, row, line in with_trajectories(self.folder, self.rows):
            yield _key(row, line.get("source") or {}), row, line

    def advantages(self) -> dict[tuple[str, int], list[dict[str, Any]]]:
        """Turns with token pieces and advantages, by group and member, where training wrote them."""
        path = self.folder / ADVANTAGES
        found = read_lines(path) if path.is_file() else ()
        return {(line["group"], line["member"]): line["turns"] for line in found}


def with_trajectories(folder: Path, rows: Iterable[EpisodeRow]) -> Iterator[tuple[str, EpisodeRow, dict[str, Any]]]:
    """(place in the file, row, trajectory), in the file's order; several rows of a case meet its lines in turn.

    Raises TableError for a line without a row and, at the end, for a row without a line.
    """
    waiting: dict[str, deque[EpisodeRow]] = defaultdict(deque)
    for row in rows:
        waiting[row.case_id].append(row)
    path = folder / "trajectories.jsonl"
    for number, line in enumerate(read_lines(path), start=1):
        where, case_id = f"{path}:{number}", str(line.get("case_id"))
        if not waiting[case_id]:
            raise TableError(
                f"{where}: case {case_id!r} has no row left in episodes.parquet; was the run interrupted? "
                "Run it again to finish it"
            )
        yield where, waiting[case_id].popleft(), line
    if missing := [case_id for case_id, left in waiting.items() if left]:
        raise TableError(
            f"{path}: {len(missing)} cases of episodes.parquet have no trajectory, the first is {missing[0]}"
        )


def _key(row: EpisodeRow, source: Mapping[str, Any]) -> str:
    key = row.case_id
    if "slot" in source:
        key += f" [{source['slot']} {source['member']}]"
    return f"{key} (supplement)" if row.supplemented else key


def open_sources(folders: Sequence[Path]) -> list[Source]:
    """Raises TableError for a folder without rows and trajectories."""
    found = [_open(folder) for folder in folders]
    names = distinct_names([source.name for source in found], folders)
    return [replace(source, name=name) for source, name in zip(found, names, strict=True)]


def _open(folder: Path) -> Source:
    missing = [name for name in ("run.json", "episodes.parquet", "trajectories.jsonl") if not (folder / name).is_file()]
    if missing:
        raise TableError(
            f"{folder}: not a finished run: {' and '.join(missing)} missing; give a folder of a finished run"
        )
    rows = read_episodes(folder / "episodes.parquet")
    tasks = folder / "tasks.jsonl"
    stage = str(read_json(folder / "run.json").get("stage") or (rows[0].stage if rows else ""))
    return Source(
        folder=folder,
        name=run_title(stage) or folder.resolve().name,
        rows=tuple(rows),
        tasks={line["task_id"]: line for line in read_lines(tasks)} if tasks.is_file() else {},
    )
