"""Make what runs read: task sets, fault manifests, selector labels, check graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from robustops.compose.graphs import make_graphs
from robustops.compose.labels import make_labels
from robustops.compose.manifest import make_manifest
from robustops.compose.public_data import export_rows, prepare_public
from robustops.compose.tasks import make_task_set, open_task_set
from robustops.config import RunConfig
from robustops.core.errors import ConfigError, SplitError


def run(config: RunConfig, folder: Path) -> None:
    """Do what `do` names; files go to `folder`, task sets to `split.root`."""
    if config.do not in JOBS:
        raise ConfigError(f"do: got {config.do!r}, prepare knows {', '.join(JOBS)}")
    JOBS[config.do](config, folder)


def make_tasks(config: RunConfig, folder: Path) -> None:
    """Make the task set of `split` from `source`."""
    if config.source.kind != "synthetic":
        prepare_public(config)
        return
    if config.split.name != "synthetic":
        raise SplitError(
            f"split={config.split.name}: its tasks are not generated; say where they come from: "
            "source=agentrelbench, source=hub, or source=local source.path=FOLDER"
        )
    make_task_set(config, Path(config.split.root).expanduser().absolute())
    open_task_set(config)


JOBS: Mapping[str, Callable[[RunConfig, Path], None]] = {
    "tasks": make_tasks,
    "manifest": make_manifest,
    "labels": make_labels,
    "graphs": make_graphs,
    "export": export_rows,
}
