"""Folders of public data in, what lies in them out: tasks by tool mode, roots of seed files, tool snapshots.

A file is known by what it holds, not by its name: an object with a request is a task, one with a server's name and its
tools is a snapshot. Everything else is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustops.core.errors import TaskError
from robustops.core.task import ToolMode
from robustops.data.public.nemo import MODE_NAMES, from_row
from robustops.data.tasks import load_values

# How the public data names its modes: configs of the data set, folders of a copy, suffixes of a task.
MODES: Mapping[str, ToolMode] = {name: mode for mode, theirs in MODE_NAMES.items() for name in (mode, theirs)}
ENCODED = ("gym_servers_config", "verifiers", "selected_tools", "restricted_tools")
ROW_FILES = (".parquet", ".jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTask:
    """One task as it was written, in one tool mode. `where` opens every error about it."""

    task_id: str
    mode: ToolMode
    value: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """`snapshots`: file by server name, as `tools/list` answered."""

    tasks: Sequence[FoundTask]
    roots: Sequence[Path]
    snapshots: Mapping[str, Path]

    def seed(self, relative: str) -> Path | None:
        """The seed file that a task names, if a folder holds it; a link out of the folder does not count."""
        for root in self.roots:
            path = root / relative
            if path.is_file() and path.resolve().is_relative_to(root.resolve()):
                return path
        return None


def take_inventory(folders: Iterable[Path]) -> Inventory:
    """Walk the folders. Raises TaskError for a missing folder, a broken row, or two different tasks of one id."""
    roots = list(folders)
    tasks: dict[tuple[str, ToolMode], FoundTask] = {}
    snapshots: dict[str, Path] = {}
    for root in roots:
        if not root.is_dir():
            raise TaskError(f"source.path: {root}: no such folder; give the folder that holds the public data")
        for path in sorted(root.rglob("*")):
            if path.suffix in ROW_FILES and path.is_file():
                found: Iterable[FoundTask] = _rows(path, root)
            elif path.suffix == ".json" and path.is_file():
                value = _object(path)
                if isinstance(value.get("tools"), list) and isinstance(value.get("gym_name"), str):
                    snapshots[value["gym_name"]] = path
                found = [_file(path, root, value)] if "user_prompt" in value else []
            else:
                continue
            for task in found:
                _add(tasks, task)
    return Inventory(tasks=list(tasks.values()), roots=roots, snapshots=snapshots)


def _add(tasks: dict[tuple[str, ToolMode], FoundTask], task: FoundTask) -> None:
    known = tasks.setdefault((task.task_id, task.mode), task)
    if known is not task and known.value != task.value:
        raise TaskError(
            f"{task.where}: task {task.task_id!r} in mode {task.mode} differs from the one in {known.where}"
        )


def _rows(path: Path, root: Path) -> Iterator[FoundTask]:
    mode = _mode(path.relative_to(root))
    for number, row in enumerate(load_values(path), start=1):
        where = f"{path}: row {number}"
        if "verifier_metadata" in row:
            row = from_row(row, where=where)
        if "user_prompt" not in row:
            return  # a file of something else
        if not row.get("task_id"):
            raise TaskError(f"{where}: task_id: missing; expected an id, as every data-set row has")
        own_mode = MODES.get(str(row.pop("mode", "")), mode)
        yield FoundTask(task_id=row["task_id"], mode=own_mode, value=_decoded(row), where=where)


def _file(path: Path, root: Path, value: dict[str, Any]) -> FoundTask:
    """Named after the file, or after its folder where that is task.json; `__plus10` at its end is the mode."""
    name = path.parent.name if path.name == "task.json" else path.stem
    stem, _, suffix = name.rpartition("__")
    mode = MODES.get(suffix) if stem else None
    task_id = str(value.get("task_id") or (stem if mode else name))
    return FoundTask(task_id=task_id, mode=mode or _mode(path.relative_to(root)), value=value, where=str(path))


def _mode(path: Path) -> ToolMode:
    named = [MODES[part] for part in path.with_suffix("").parts if part in MODES]
    return named[-1] if named else "oracle"


def _decoded(row: dict[str, Any]) -> dict[str, Any]:
    """Rows hold servers and checks as JSON text; a task file holds them as they are."""
    texts = {name: row[name] for name in ENCODED if isinstance(row.get(name), str)}
    try:
        return {**row, **{name: json.loads(text) for name, text in texts.items()}}
    except json.JSONDecodeError:
        return row  # reading the task will name the field


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: not JSON text ({error})") from error
    return value if isinstance(value, dict) else {}
