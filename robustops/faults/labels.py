"""Selector labels: per task, which kinds of faults suit which tools, and why. A file in, and out.

Labels only narrow what the injector checks: a candidate that no call bears out is never injected, and a task without a
row is a mistake, not a task without faults. No policy ever sees them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustops.core.errors import ManifestError, TableError
from robustops.core.listing import Header, read_listing, write_listing
from robustops.faults.catalogue import KINDS

KIND = "selector_labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    tool: str
    subtype: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """`allowed`: by task, the (tool, subtype) pairs to look at."""

    sha256: str
    allowed: Mapping[str, frozenset[tuple[str, str]]]
    where: str = "selector labels"

    def of_task(self, task_id: str) -> frozenset[tuple[str, str]]:
        """Raises ManifestError for a task that no selector has looked at."""
        if task_id not in self.allowed:
            raise ManifestError(
                f"{self.where}: no row for task {task_id!r} ({len(self.allowed)} tasks); "
                "make labels for this task set (prepare do=labels), or run without fault_policy.labels"
            )
        return self.allowed[task_id]


def label_row(task_id: str, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """One line of the file: tool -> subtype -> reason."""
    tools: dict[str, dict[str, str]] = {}
    for candidate in candidates:
        tools.setdefault(candidate.tool, {})[candidate.subtype] = candidate.reason
    return {"task_id": task_id, "tools": tools}


def write_labels(path: Path, rows: Sequence[Mapping[str, Any]], *, split: str, source: str) -> Header:
    return write_listing(path, rows, kind=KIND, split=split, source=source)


def read_labels(path: Path, *, split: str, task_ids: Collection[str]) -> Labels:
    """Raises ManifestError, naming file and row, for another task set, a stale hash, or a row that is not one.

    `split`: the task set's name and hash, as `core.listing.set_name` writes them.
    """
    try:
        header, rows = read_listing(path, kind=KIND)
    except TableError as error:
        raise ManifestError(str(error)) from error
    if header.split != split:
        raise ManifestError(
            f"{path}: was made for task set {header.split!r}, this run uses {split!r}; make labels for it"
        )
    allowed: dict[str, frozenset[tuple[str, str]]] = {}
    for number, row in enumerate(rows, start=2):
        where = f"{path}:{number}"
        if set(row) != {"task_id", "tools"} or not isinstance(row["tools"], dict):
            raise ManifestError(f"{where}: expected task_id and tools, got {', '.join(sorted(row))}")
        if row["task_id"] not in task_ids:
            raise ManifestError(
                f"{where}: task {row['task_id']!r} is not in this task set ({len(task_ids)} ids); "
                "were the labels made for another set?"
            )
        pairs = [(tool, subtype) for tool, subtypes in row["tools"].items() for subtype in subtypes]
        if unknown := [subtype for _, subtype in pairs if subtype not in KINDS]:
            raise ManifestError(f"{where}: unknown fault subtype {unknown[0]!r}; expected one of {', '.join(KINDS)}")
        allowed[row["task_id"]] = frozenset(pairs)
    return Labels(sha256=header.sha256, allowed=allowed, where=str(path))
