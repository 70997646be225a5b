"""The fault manifest: a frozen assignment case -> fault, so that every model meets the same faults. A file in, and out.

One row per case of the base run, `task|tool_mode` for all its attempts or `task|tool_mode|attempt` for one of them; a
case without an eligible call has a row without a fault, so that a missing row is always a mistake. The header's hash is
over the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustops.core.episode import FaultPlan
from robustops.core.errors import ManifestError, TableError
from robustops.core.listing import Header, read_listing, write_listing
from robustops.core.task import Case
from robustops.faults.catalogue import KINDS

KIND = "fault_manifest"
_PLAN_FIELDS = {"subtype": str, "tool": str, "signature": str, "cap": int, "seed": int}
_INTENSITY = "intensity"  # only in rows of a run that fixed it


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`plans`: by manifest key; None where the base run met no eligible call."""

    split: str
    sha256: str
    plans: Mapping[str, FaultPlan | None]
    where: str = "fault manifest"

    def plan_for(self, case: Case) -> FaultPlan | None:
        """Raises ManifestError for a case that the base run did not cover."""
        for key in (attempt_key(case), manifest_key(case)):
            if key in self.plans:
                return self.plans[key]
        raise ManifestError(
            f"{self.where}: no row for case {manifest_key(case)!r}, attempt {case.attempt} ({len(self.plans)} cases, "
            f"split {self.split!r}); freeze a manifest over the cases you evaluate, or set split.limit as it was then"
        )


def manifest_key(case: Case) -> str:
    """A row for all attempts of a case."""
    return f"{case.task_id}|{case.tool_mode}"


def attempt_key(case: Case) -> str:
    """A row for one attempt: where each made its own way, each has a fault of its own."""
    return f"{manifest_key(case)}|{case.attempt}"


def _task_id(key: str) -> str:
    head, _, last = key.rpartition("|")
    return head.rpartition("|")[0] if last.isdigit() else head


def manifest_rows(
    plans: Mapping[str, FaultPlan | None], reasons: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """`reasons`: by key, why a case has no fault, where that is not for want of an eligible call."""
    rows: list[dict[str, Any]] = []
    for key in sorted(plans):
        plan = plans[key]
        fault = _fault(plan) if plan is not None else None
        reason = "" if fault else (reasons or {}).get(key, "no_opportunity")
        rows.append({"case": key, "fault": fault, "reason": reason})
    return rows


def _fault(plan: FaultPlan) -> dict[str, Any]:
    fault = {name: getattr(plan, name) for name in _PLAN_FIELDS}
    return fault if plan.intensity is None else {**fault, _INTENSITY: plan.intensity}


def write_manifest(
    path: Path,
    plans: Mapping[str, FaultPlan | None],
    *,
    split: str,
    source: str,
    reasons: Mapping[str, str] | None = None,
) -> Header:
    """The header's `sha256` is the manifest's hash."""
    return write_listing(path, manifest_rows(plans, reasons), kind=KIND, split=split, source=source)


def read_manifest(path: Path, *, split: str, task_ids: Collection[str], set_sha256: str = "") -> Manifest:
    """Raises ManifestError, naming the file and the fault in it, for a wrong split, a stale hash, an unknown case or
    subtype, or a row that is not one.

    `set_sha256`: of the task set at hand. A header that names the set it was built for (`test@0123456789ab`) must mean
    this one: ids repeat between generated sets.
    """
    try:
        header, rows = read_listing(path, kind=KIND)
    except TableError as error:
        raise ManifestError(str(error)) from error
    if header.split_name != split:
        raise ManifestError(
            f"{path}: was built for split {header.split_name!r}, this run evaluates {split!r}; "
            "give the manifest of that split, or freeze one"
        )
    if header.is_of_another_set(set_sha256):
        raise ManifestError(
            f"{path}: was built for the task set {header.of_set}, this run has {set_sha256[:12]}; "
            "freeze a manifest over this set"
        )
    plans: dict[str, FaultPlan | None] = {}
    for number, row in enumerate(rows, start=2):
        where = f"{path}:{number}"
        key = row.get("case")
        if not isinstance(key, str) or "|" not in key or "fault" not in row:
            raise ManifestError(
                f"{where}: expected 'case' (task|tool_mode[|attempt]) and 'fault', got keys {sorted(row)}"
            )
        if _task_id(key) not in task_ids:
            raise ManifestError(
                f"{where}: task {_task_id(key)!r} is not in split {split!r} ({len(task_ids)} ids); "
                "was the manifest built for another split?"
            )
        if key in plans:
            raise ManifestError(f"{where}: case {key!r} has a second row; keep one")
        plans[key] = _plan(row["fault"], where)
    return Manifest(split=split, sha256=header.sha256, plans=plans, where=str(path))


def _plan(fault: Any, where: str) -> FaultPlan | None:
    if fault is None:
        return None
    if not isinstance(fault, dict) or set(fault) - {_INTENSITY} != set(_PLAN_FIELDS):
        raise ManifestError(f"{where}: 'fault' must hold exactly {', '.join(_PLAN_FIELDS)}; got {fault!r}")
    for name, kind in _PLAN_FIELDS.items():
        if type(fault[name]) is not kind:
            raise ManifestError(f"{where}: fault.{name}: expected {kind.__name__}, got {fault[name]!r}")
    if fault["subtype"] not in KINDS:
        raise ManifestError(f"{where}: unknown fault subtype {fault['subtype']!r}; expected one of {', '.join(KINDS)}")
    if fault["cap"] < 1:
        raise ManifestError(f"{where}: fault.cap: expected at least 1, got {fault['cap']}")
    intensity = fault.get(_INTENSITY)
    if intensity is not None and not (isinstance(intensity, int | float) and 0 <= intensity <= 1):
        raise ManifestError(f"{where}: fault.intensity: expected a number from 0 to 1, got {intensity!r}")
    return FaultPlan(**fault)
