"""From `source` to a task set on disk: get the folders, take the inventory, build, and say what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from robustops.compose.catalogue import catalogues, merged
from robustops.compose.progress import progress
from robustops.compose.tasks import open_task_set, select_tasks
from robustops.config import RunConfig
from robustops.config.tree import SourceConfig
from robustops.core.errors import ConfigError, TaskError
from robustops.core.files import read_json
from robustops.core.json_lines import write_lines
from robustops.core.task import Part
from robustops.data.public.build import Built, build
from robustops.data.public.fetch import fetch_file, fetch_revision, tree_sha256
from robustops.data.public.inventory import take_inventory
from robustops.data.public.nemo import to_row
from robustops.data.public.parts import Allocation
from robustops.data.public.unpack import unpack
from robustops.data.tasks import domains_of
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_DOMAIN

ARCHIVE = "gym_dbs.zip"
ROWS = "tasks.nemo_gym.jsonl"
SHOWN = 5  # names of each kind of thing that is missing; missing.json has all


def prepare_public(config: RunConfig) -> None:
    """Write the task set of `split.root` from `source`. A failed or killed run leaves the set that was there."""
    root = Path(config.split.root).expanduser().absolute()
    source = config.source
    folders = _folders(source, root.parent / "downloads")
    with progress("public data") as report:
        report(0, 2, "reading")
        inventory = take_inventory(folders)
        report(1, 2, f"{len(inventory.tasks)} tasks")
        built = build(
            root,
            inventory,
            source=_name(source),
            allocation=cast(Allocation, source.allocation),
            catalogues=asyncio.run(_embedded_tools()),
        )
        report(2, 2, "")
    print(describe(built), flush=True)


def export_rows(config: RunConfig, folder: Path) -> None:
    """Write the tasks of `split.part`, in `tool_mode`, as NeMo Gym rows: prompt and tool schemas baked in."""
    task_set, gym = open_task_set(config), EmbeddedGym()
    tasks = select_tasks(config, task_set, cast(Part, config.split.part), gym)
    schemas = asyncio.run(catalogues(gym, {domain for task in tasks.values() for domain in domains_of(task)}))
    rows = []
    for task in tasks.values():
        value = read_json(task_set.root / "tasks" / f"{task.task_id}.json")
        value |= {"task_id": task.task_id, "domain": task.domain, "selected_tools": list(task.tools)}
        offered = {tool.name: tool for tool in merged(domains_of(task), schemas)}
        tools = [offered[name] for name in task.tools if name in offered]
        rows.append(to_row(value, mode=task.tool_mode, tools=tools))
    write_lines(folder / ROWS, rows)
    print(f"{len(rows)} rows: {folder / ROWS}", flush=True)


def _folders(source: SourceConfig, downloads: Path) -> list[Path]:
    """The folders to look in, archives of seed databases unpacked."""
    if source.kind == "agentrelbench":
        spec = find_spec("agentrelbench")
        if spec is None or spec.origin is None:
            raise ConfigError("source=agentrelbench: the package is not installed; pip install agentrelbench==0.1.0")
        return [Path(spec.origin).parent / "suite"]
    if source.kind == "hub":
        folders = _fetch(source, downloads)
    elif source.path:
        folders = [Path(source.path).expanduser().absolute()]
    else:
        raise ConfigError("source.path: no folder; write source.path=FOLDER with a copy of the public data")
    archives = [path for folder in folders for path in sorted(folder.rglob(ARCHIVE))]
    return folders + [_unpacked(path, downloads, source.max_mib) for path in archives]


def _fetch(source: SourceConfig, downloads: Path) -> list[Path]:
    if not (source.repo and source.revision):
        raise ConfigError("source.repo, source.revision: both are needed; a revision is a commit, never a branch")
    folders = [fetch_revision(source.repo, source.revision, downloads / "tasks", endpoint=source.endpoint)]
    if source.databases_url:
        archive = downloads / "databases" / ARCHIVE
        fetch_file(source.databases_url, archive, sha256=source.databases_sha256, max_bytes=source.max_mib << 20)
        folders.append(archive.parent)
    if source.tools_repo and source.tools_revision:
        under = source.tools_under
        place = downloads / "tools"
        tools = fetch_revision(source.tools_repo, source.tools_revision, place, under=under, endpoint=source.endpoint)
        _check_tree(source, tools)
        folders.append(tools)
    return folders


def _check_tree(source: SourceConfig, folder: Path) -> None:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    if source.tools_files is not None and len(files) != source.tools_files:
        raise TaskError(f"source.tools_files: {folder} holds {len(files)} files, expected {source.tools_files}")
    if source.tools_sha256 is not None and (found := tree_sha256(files, folder)) != source.tools_sha256:
        raise TaskError(
            f"source.tools_sha256: {folder} hashes to {found[:12]}, expected {source.tools_sha256[:12]}; "
            "remove the folder and run again, or pin the new hash"
        )


def _unpacked(archive: Path, downloads: Path, max_mib: int) -> Path:
    """Beside the downloads, named after the archive's size and time: unpacked once, again when it changes."""
    state = archive.stat()
    folder = downloads / f"unpacked-{state.st_size:x}-{state.st_mtime_ns:x}"
    return folder if folder.is_dir() else unpack(archive, folder, max_bytes=max_mib << 20)


async def _embedded_tools() -> Mapping[str, frozenset[str]]:
    """Tool names of every server that the embedded gym has."""
    found = await catalogues(EmbeddedGym(), BY_DOMAIN)
    return {BY_DOMAIN[domain].name: frozenset(tool.name for tool in tools) for domain, tools in found.items()}


def _name(source: SourceConfig) -> str:
    return f"{source.repo}@{source.revision}" if source.kind == "hub" else source.kind


def describe(built: Built) -> str:
    """What was written and what is missing, for the terminal."""
    parts = ", ".join(f"{part} {built.parts.get(part, 0)}" for part in ("train", "val", "test"))
    lines = [f"tasks: {sum(built.parts.values())} in {built.root} ({parts})"]
    missing = {
        "not runnable": [f"{task_id} ({reason})" for task_id, reason in built.not_runnable.items()],
        "seed databases missing": list(built.missing_seeds),
        "tool snapshots missing": list(built.missing_snapshots),
        "tool modes missing": [f"{mode} of {count} tasks" for mode, count in built.missing_modes.items()],
    }
    for what, names in missing.items():
        if names:
            more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            lines.append(f"{what}: {len(names)}: {'; '.join(names[:SHOWN])}{more}")
    lines.append(f"the whole list: {built.root / 'missing.json'}" if len(lines) > 1 else "nothing is missing")
    return "\n".join(lines)
