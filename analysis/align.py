"""Run folders in, runs aligned case by case out. Knows result files only, and computes no statistic.

Cases are aligned on (task, tool mode, condition, attempt). Denominators are fixed in advance: a case that failed for
infrastructure or could not be scored stays in, counts as not solved and is counted in the open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from robustops.core.episode_row import EpisodeRow, read_episodes
from robustops.core.errors import TableError
from robustops.core.files import read_json
from robustops.core.task import Condition

CONDITIONS: tuple[Condition, ...] = get_args(Condition)
STAGE_TITLES = {"base": "Base", "sft": "SFT", "rl": "RL", "teacher": "Teacher"}


@dataclass(frozen=True, slots=True, order=True)
class Slot:
    """A case without its condition, so that clean and fault runs of one start share a slot."""

    task_id: str
    tool_mode: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One evaluated model. `supplemented` holds rows sampled again for fault coverage, apart from the original ones."""

    folder: Path
    name: str
    rows: Mapping[tuple[Condition, Slot], EpisodeRow]
    supplemented: tuple[EpisodeRow, ...]
    info: Mapping[str, Any]
    episodes_sha256: str
    manifest_sha: str

    @property
    def first_row(self) -> EpisodeRow:
        return next(iter(self.rows.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Runs on their common cases. `num_left_out`: per run, rows of cases that some other run lacks."""

    runs: tuple[Run, ...]
    slots: Mapping[Condition, tuple[Slot, ...]]
    num_left_out: Mapping[str, int]

    def rows(self, run: Run, condition: Condition) -> list[EpisodeRow]:
        return [run.rows[condition, slot] for slot in self.slots[condition]]

    def where(self, keep: Callable[[Slot], bool]) -> Alignment:
        """The same runs on those slots only."""
        return replace(self, slots={condition: tuple(filter(keep, slots)) for condition, slots in self.slots.items()})

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that hold at least one case."""
        return tuple(condition for condition in CONDITIONS if self.slots[condition])

    @property
    def tool_modes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(slot.tool_mode for slots in self.slots.values() for slot in slots))

    def first_attempts(self) -> Alignment:
        """One run per task: the paired tests need independent pairs, and reruns of a task are not."""
        return self.where(lambda slot: slot.attempt == 0)

    def without_held_out(self) -> Alignment:
        """Without the templates that training never saw; an evaluation of those alone stays as it is."""
        if all(slot.task_id in self.held_out for slots in self.slots.values() for slot in slots):
            return self
        return self.where(lambda slot: slot.task_id not in self.held_out)

    @property
    def steps(self) -> tuple[tuple[Run, Run], ...]:
        """Every run with the one before it, as (earlier, later)."""
        return tuple(zip(self.runs, self.runs[1:], strict=False))

    @property
    def templates(self) -> dict[str, str]:
        """Task id -> template, where any run names it."""
        named = (item for run in self.runs for item in (run.info.get("templates") or {}).items())
        return {task: str(template) for task, template in named if template}

    @property
    def held_out(self) -> frozenset[str]:
        """Ids of tasks whose whole template is kept out of training."""
        return frozenset(task for run in self.runs for task in run.info.get("held_out") or ())


def solved(rows: Iterable[EpisodeRow]) -> list[bool]:
    """Unscored (None) is not solved, and stays in the denominator."""
    return [row.success is True for row in rows]


def load_run(folder: Path) -> Run:
    """Raises TableError for a folder that is no finished run or one of RL, repeats a case or mixes fault manifests."""
    if not folder.is_dir():
        raise TableError(f"{folder}: no such folder; {_nearest(folder)}")
    missing = [name for name in ("run.json", "episodes.parquet") if not (folder / name).is_file()]
    if missing:
        raise TableError(
            f"{folder}: not a finished run: {' and '.join(missing)} missing; give a folder that "
            "`python -m robustops.evaluate` wrote, or run it again to finish it"
        )
    table = folder / "episodes.parquet"
    all_rows = read_episodes(table)
    original = [row for row in all_rows if not row.supplemented]
    if not original:
        raise TableError(f"{table}: holds no episodes; was the run interrupted? Run it again")
    info = read_json(folder / "run.json")
    if (info.get("stage"), info.get("split")) == ("rl", "train"):
        raise TableError(
            f"{folder}: a training run, whose episodes were sampled while the model changed; give evaluations as RUN, "
            f"and for its curves write --training {folder}"
        )
    return Run(
        folder=folder,
        name=run_title(str(info.get("stage") or original[0].stage) or original[0].model),
        rows=_by_case(table, original),
        supplemented=tuple(row for row in all_rows if row.supplemented),
        info=info,
        episodes_sha256=hashlib.sha256(table.read_bytes()).hexdigest(),
        manifest_sha=_manifest(table, original),
    )


def _nearest(folder: Path) -> str:
    siblings = [path.name for path in folder.parent.iterdir() if path.is_dir()] if folder.parent.is_dir() else []
    if close := get_close_matches(folder.name, siblings, n=1):
        return f"did you mean {folder.with_name(close[0])}?"
    return "give run folders that `python -m robustops.evaluate` wrote"


def run_title(stage: str) -> str:
    return STAGE_TITLES.get(stage.lower(), stage)


def _by_case(table: Path, rows: Sequence[EpisodeRow]) -> dict[tuple[Condition, Slot], EpisodeRow]:
    cases: dict[tuple[Condition, Slot], EpisodeRow] = {}
    for row in rows:
        condition = next((known for known in CONDITIONS if known == row.condition), None)
        if condition is None:
            raise TableError(f"{table}: case {row.case_id}: condition {row.condition!r}, expected clean or fault")
        key = condition, Slot(row.task_id, row.tool_mode, row.attempt)
        if key in cases:
            raise TableError(f"{table}: case {row.case_id} appears twice; every case and attempt has one row")
        cases[key] = row
    return cases


def _manifest(table: Path, rows: Sequence[EpisodeRow]) -> str:
    found = sorted({row.manifest_sha for row in rows if row.condition == "fault"})
    if len(found) > 1:
        raise TableError(
            f"{table}: its fault cases ran under {len(found)} fault manifests ({', '.join(sha[:12] for sha in found)});"
            " evaluate all cases under one"
        )
    return found[0] if found else ""


def align(runs: Sequence[Run]) -> Alignment:
    """Raises TableError when the runs used different fault manifests or share no case."""
    if not runs:
        raise ValueError("align needs at least one run")
    with_faults = [run for run in runs if any(condition == "fault" for condition, _ in run.rows)]
    for run in with_faults[1:]:
        if run.manifest_sha != with_faults[0].manifest_sha:
            one, other = with_faults[0], run
            raise TableError(
                f"{one.folder} and {other.folder} ran under different fault manifests ({one.manifest_sha[:12]} and "
                f"{other.manifest_sha[:12]}); evaluate both with the same fault_policy.manifest"
            )
    common = set(runs[0].rows).intersection(*(run.rows for run in runs))
    if not common:
        raise TableError(
            f"{' and '.join(str(run.folder) for run in runs)} share no case (task, tool mode, condition, attempt); "
            "evaluate them on the same split and tool_mode"
        )
    names = distinct_names([run.name for run in runs], [run.folder for run in runs])
    named = tuple(replace(run, name=name) for run, name in zip(runs, names, strict=True))
    return Alignment(
        runs=named,
        slots={condition: tuple(sorted(slot for c, slot in common if c == condition)) for condition in CONDITIONS},
        num_left_out={run.name: len(run.rows) - len(common) for run in named},
    )


def distinct_names(names: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Stage names where they differ; else with the folder's name behind, or a number if that repeats too."""
    found = list(names)
    if len(set(found)) < len(found):
        found = [f"{name} ({folder.resolve().name})" for name, folder in zip(names, folders, strict=True)]
    if len(set(found)) < len(found):
        found = [f"{name} ({number})" for number, name in enumerate(found, start=1)]
    return found
