"""Which task belongs to which part, and who may use it. A list file in, answers and refusals out.

`train` and `collect` take train alone, val may be monitored, test is for evaluation. Knows no task's content beyond
its hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, get_args

from robustops.core.errors import SplitError, TableError
from robustops.core.listing import read_listing
from robustops.core.task import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitEntry:
    """`rule`: how the task came into its part. `reason`: why it is not runnable. `held_out`: its whole template is."""

    task_id: str
    domain: str
    part: Part
    runnable: bool
    reason: str
    rule: str
    template: str
    held_out: bool
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitManifest:
    """`name` opens every refusal; `sha256` identifies the list itself."""

    name: str
    entries: Mapping[str, SplitEntry]
    sha256: str = ""

    @classmethod
    def load(cls, path: Path) -> SplitManifest:
        """Raises SplitError for a file that is no split manifest, naming the row and field."""
        try:
            header, rows = read_listing(path, kind="split")
        except TableError as error:
            raise SplitError(str(error)) from error
        entries: dict[str, SplitEntry] = {}
        for number, row in enumerate(rows, start=2):
            entry = _entry(row, f"{path}:{number}")
            if entry.task_id in entries:
                raise SplitError(f"{path}:{number}: task {entry.task_id!r} is listed twice")
            entries[entry.task_id] = entry
        return cls(name=path.name, entries=entries, sha256=header.sha256)

    def entry(self, task_id: str) -> SplitEntry:
        if task_id not in self.entries:
            raise SplitError(
                f"{self.name}: task {task_id!r} is not in this split ({len(self.entries)} ids); "
                "was the manifest built for another task set?"
            )
        return self.entries[task_id]

    def part_of(self, task_id: str) -> Part:
        return self.entry(task_id).part

    def require(self, case_ids: Iterable[str], *, part: Part) -> None:
        """Refuse every case (or bare task) that is not in `part`, or cannot be run.

        Raises SplitError naming the first offender, its part and the allowed one.
        """
        for case_id in case_ids:
            entry = self.entry(case_id.split("|", 1)[0])
            if entry.part != part:
                raise SplitError(
                    f"{self.name}: case {case_id!r} is in part {entry.part!r}, but only {part!r} may be used here; "
                    f"set split.part={part} or remove it"
                )
            if not entry.runnable:
                raise SplitError(f"{self.name}: case {case_id!r} cannot be run: {entry.reason}")

    def select(self, part: Part, *, limit: int | None = None, seed: int = 0) -> tuple[str, ...]:
        """Runnable tasks of a part, in manifest order; `limit` draws a seeded sample stratified by domain.

        Raises SplitError for an empty part, ValueError for a limit below 1.
        """
        found = [entry for entry in self.entries.values() if entry.part == part and entry.runnable]
        if not found:
            raise SplitError(f"{self.name}: no runnable task in part {part!r}")
        if limit is None or limit >= len(found):
            return tuple(entry.task_id for entry in found)
        if limit < 1:
            raise ValueError(f"limit: got {limit}, expected at least 1")
        by_domain: dict[str, list[str]] = {}
        for entry in found:
            by_domain.setdefault(entry.domain, []).append(entry.task_id)
        quotas = largest_remainder({name: len(ids) for name, ids in by_domain.items()}, limit)
        chosen: set[str] = set()
        for name, ids in by_domain.items():
            chosen.update(Random(f"{seed}/{part}/{name}").sample(sorted(ids), quotas[name]))
        return tuple(entry.task_id for entry in found if entry.task_id in chosen)


def share_by_id(domains: Mapping[str, str], share: float) -> frozenset[str]:
    """A share of the tasks, chosen by their ids alone and evenly over the domains. `domains`: by task id.

    The choice is that of the ids' hashes: a task keeps its place whatever else is in the set.
    """
    by_domain: dict[str, list[str]] = {}
    for task_id, domain in domains.items():
        by_domain.setdefault(domain, []).append(task_id)
    quotas = largest_remainder({name: len(ids) for name, ids in by_domain.items()}, round(share * len(domains)))
    chosen: set[str] = set()
    for name, ids in by_domain.items():
        chosen.update(sorted(ids, key=lambda task_id: hashlib.sha256(task_id.encode()).digest())[: quotas[name]])
    return frozenset(chosen)


def largest_remainder(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """`total` shared out in proportion to `sizes`; ties go to the earlier name in alphabetical order."""
    whole = sum(sizes.values())
    quotas = {name: total * size // whole for name, size in sizes.items()}
    remainders = sorted(sizes, key=lambda name: (-(total * sizes[name] % whole), name))
    for name in remainders[: total - sum(quotas.values())]:
        quotas[name] += 1
    return quotas


def task_sha256(content: Mapping[str, Any], seed_texts: Sequence[str]) -> str:
    """Hash over a task and its databases: the same request asked of other rows is another task."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode())
    for text in seed_texts:
        digest.update(b"\n" + text.encode())
    return digest.hexdigest()


def _entry(row: Mapping[str, Any], where: str) -> SplitEntry:
    wanted = SplitEntry.__dataclass_fields__
    if set(row) != set(wanted):
        odd = sorted(set(row) ^ set(wanted))
        raise SplitError(f"{where}: missing or unknown fields {', '.join(odd)}; expected {', '.join(wanted)}")
    if row["part"] not in get_args(Part):
        raise SplitError(f"{where}: part: got {row['part']!r}, expected one of {', '.join(get_args(Part))}")
    for name in ("runnable", "held_out"):
        if not isinstance(row[name], bool):
            raise SplitError(f"{where}: {name}: got {row[name]!r}, expected true or false")
    return SplitEntry(**row)
