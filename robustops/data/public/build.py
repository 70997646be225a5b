"""An inventory in, a task set on disk out, and the list of what is missing.

The set is written beside its place and moved there whole: a reader sees the old one or the new one.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from robustops.core.errors import TaskError
from robustops.core.files import write_json
from robustops.core.folders import finish_replacing, replace_folder
from robustops.core.listing import write_listing
from robustops.core.task import Task, ToolMode
from robustops.data.public.inventory import FoundTask, Inventory
from robustops.data.public.nemo import MODE_NAMES
from robustops.data.public.parts import RULES, Allocation, part_of, why_not_runnable
from robustops.data.splits import SplitEntry, task_sha256
from robustops.data.task_set import TOOL_MODES
from robustops.data.tasks import DOMAIN_OF_SERVER, read_task

NOT_FOR_IDS = frozenset("/\\\0|")  # they would break a path or a case id


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What was written, and what the sources lack: both by name, for a person to act on."""

    root: Path
    parts: Mapping[str, int]
    not_runnable: Mapping[str, str]
    missing_seeds: tuple[str, ...]
    missing_snapshots: tuple[str, ...]
    missing_modes: Mapping[ToolMode, int]  # how many tasks lack that mode


def build(
    root: Path,
    inventory: Inventory,
    *,
    source: str,
    allocation: Allocation,
    catalogues: Mapping[str, frozenset[str]],
) -> Built:
    """Write the task set of every task that has an oracle mode.

    Raises TaskError for an inventory without tasks, an id that is no file name, or a task that breaks the format.
    """
    found = {task.task_id: task for task in inventory.tasks if task.mode == "oracle"}
    if not found:
        where = ", ".join(str(folder) for folder in inventory.roots)
        raise TaskError(f"source: no task in {where}; expected rows (.parquet, .jsonl) or task files (.json)")
    finish_replacing(root)
    partial = root.with_name(f".{root.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    entries, tasks = [], []
    for task_id in sorted(found):
        task, entry = _write_task(partial, found[task_id], inventory, allocation, catalogues)
        tasks.append(task)
        entries.append(entry)
    _write_lists(partial, entries, inventory, source)
    built = _summary(root, tasks, entries, inventory)
    write_json(partial / "missing.json", {name: value for name, value in asdict(built).items() if name != "root"})
    replace_folder(partial, root)
    return built


def _write_task(
    folder: Path,
    found: FoundTask,
    inventory: Inventory,
    allocation: Allocation,
    catalogues: Mapping[str, frozenset[str]],
) -> tuple[Task, SplitEntry]:
    if set(found.task_id) & NOT_FOR_IDS or found.task_id.startswith("."):
        raise TaskError(
            f"{found.where}: task_id: got {found.task_id!r}; expected a name without / \\ | and leading dots"
        )
    task = read_task(found.value, where=found.where, task_id=found.task_id, seed_root=folder)
    content = json.dumps(found.value, indent=1, ensure_ascii=False) + "\n"
    path = folder / "tasks" / f"{found.task_id}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    texts = [_copy_seed(folder, server.seed_file, inventory) for server in task.servers]
    reason = why_not_runnable(task, inventory, catalogues)
    entry = SplitEntry(
        task_id=task.task_id,
        domain=task.domain,
        part=part_of(task.request, allocation),
        runnable=not reason,
        reason=reason,
        rule=RULES[allocation],
        template="",
        held_out=False,
        sha256=task_sha256(dict(found.value), [text for text in texts if text is not None]),
    )
    return task, entry


def _copy_seed(folder: Path, relative: str, inventory: Inventory) -> str | None:
    source, target = inventory.seed(relative), folder / relative
    if source is None:
        return None
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return target.read_text(encoding="utf-8")


def _write_lists(folder: Path, entries: Iterable[SplitEntry], inventory: Inventory, source: str) -> None:
    write_listing(
        folder / "split.jsonl", [asdict(entry) for entry in entries], kind="split", split="all", source=source
    )
    for kind in ("graphs", "plans"):  # the public data has none
        write_listing(folder / f"{kind}.jsonl", [], kind=kind, split="all", source=source)
    modes = [
        {"task_id": task.task_id, "mode": task.mode, "tools": list(_tools(task))}
        for task in sorted(inventory.tasks, key=lambda task: (task.task_id, task.mode))
        if task.mode != "oracle"
    ]
    write_listing(folder / TOOL_MODES, modes, kind="tool_modes", split="all", source=source)
    for server, path in inventory.snapshots.items():
        if server in DOMAIN_OF_SERVER:
            (folder / "tools").mkdir(exist_ok=True)
            shutil.copyfile(path, folder / "tools" / f"{DOMAIN_OF_SERVER[server]}.json")


def _tools(found: FoundTask) -> tuple[str, ...]:
    return read_task(found.value, where=found.where, task_id=found.task_id, seed_root=Path()).tools


def _summary(root: Path, tasks: list[Task], entries: list[SplitEntry], inventory: Inventory) -> Built:
    seeds = {server.seed_file for task in tasks for server in task.servers}
    servers = {server.name for task in tasks for server in task.servers}
    modes: dict[str, set[ToolMode]] = defaultdict(set)
    for found in inventory.tasks:
        modes[found.task_id].add(found.mode)
    lacking = Counter(mode for task in tasks for mode in MODE_NAMES if mode not in modes[task.task_id])
    return Built(
        root=root,
        parts=dict(Counter(entry.part for entry in entries)),
        not_runnable={entry.task_id: entry.reason for entry in entries if not entry.runnable},
        missing_seeds=tuple(sorted(seed for seed in seeds if inventory.seed(seed) is None)),
        missing_snapshots=tuple(sorted(servers - set(inventory.snapshots))),
        missing_modes=dict(lacking),
    )
