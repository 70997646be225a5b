"""Selector labels for a whole task set: a clean pass of the expert per task, then rules or a language model.

Rows are kept as they are made, so that an interrupted job goes on and no answer is paid for twice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustops.compose.completion import build_completion
from robustops.compose.policy import build_policy
from robustops.compose.progress import progress
from robustops.compose.scene import Scene, build_scene
from robustops.compose.spending import Spending
from robustops.config import RunConfig
from robustops.core.errors import PolicyError, TableError
from robustops.core.files import cut_unfinished_line
from robustops.core.json_lines import append_line, read_lines
from robustops.core.listing import set_name
from robustops.core.task import Part, Task
from robustops.faults.labels import Candidate, label_row, write_labels
from robustops.faults.selector.evidence import TaskEvidence
from robustops.faults.selector.llm import LlmSelector
from robustops.faults.selector.rules import select_by_rules
from robustops.llm.http import HttpCompletion
from robustops.rollout.concurrency import run_bounded
from robustops.rollout.observe import observe

LABELS, PARTIAL = "labels.jsonl", "labels.partial.jsonl"
PARTS: tuple[Part, ...] = ("train", "val", "test")
Select = Callable[[TaskEvidence], Awaitable[tuple[Candidate, ...]]]


def make_labels(config: RunConfig, folder: Path) -> None:
    """Write `labels.jsonl` for all parts of the task set; `split.limit` takes a sample of each. Resumable."""
    config = replace(config, engine=replace(config.engine, kind="scripted"))
    scene = build_scene(config, "train")
    tasks = all_tasks(scene)
    source = "rules" if config.labels.kind == "rules" else f"{config.model.api.model or config.model.name}, asked"
    journal = LabelJournal(folder, {"selector": source, "set": _set_name(scene)})
    completion = build_completion(config) if config.labels.kind == "llm" else None
    problems = asyncio.run(label_all(scene, tasks, journal, completion))
    if completion is not None:
        print(f"asked: {Spending(folder).note(completion.spend)}", flush=True)
    if problems:
        raise PolicyError(
            f"{len(problems)} of {len(tasks)} tasks have no labels, the first: {problems[0]}; "
            f"the others are kept in {folder}: run it again with run.dir={folder}"
        )
    rows = [journal.rows[task.task_id] for task in tasks]
    header = write_labels(folder / LABELS, rows, split=_set_name(scene), source=source)
    print(f"{_summary(rows)}; sha256 {header.sha256[:12]}; {folder / LABELS}", flush=True)


def all_tasks(scene: Scene) -> list[Task]:
    config, split = scene.config, scene.task_set.split
    parts = [part for part in PARTS if any(entry.part == part for entry in split.entries.values())]
    chosen = [task_id for part in parts for task_id in split.select(part, limit=config.split.limit, seed=config.seed)]
    return [scene.task_set.task(task_id) for task_id in chosen]


def _set_name(scene: Scene) -> str:
    return set_name(scene.config.split.name, scene.task_set.split.sha256)


async def label_all(
    scene: Scene, tasks: Sequence[Task], journal: LabelJournal, completion: HttpCompletion | None
) -> list[str]:
    """What went wrong, a line for each task without labels."""
    setup = scene.setup(build_policy(scene.config, scene.codec, scene.task_set.plans), temperature=0.0)
    select = _selector(scene.config, completion)
    problems: list[str] = []
    num_done = len(tasks) - len(missing := [task for task in tasks if task.task_id not in journal.rows])
    with progress("labels") as report:
        report(num_done, len(tasks), "")

        async def work(task: Task) -> None:
            nonlocal num_done
            try:
                journal.add(label_row(task.task_id, await select(await observe(setup, task))))
            except PolicyError as error:
                problems.append(str(error))
            num_done += 1
            report(num_done, len(tasks), _note(completion))

        try:
            await run_bounded(missing, work, concurrency=scene.config.engine.concurrency)
        finally:
            await scene.close()
            if completion is not None:
                await completion.close()
    return problems


def _selector(config: RunConfig, completion: HttpCompletion | None) -> Select:
    if completion is not None:
        wanted = config.labels
        return LlmSelector(completion=completion, max_tries=wanted.max_tries, max_tokens=wanted.max_tokens)

    async def by_rules(evidence: TaskEvidence) -> tuple[Candidate, ...]:
        return select_by_rules(evidence)

    return by_rules


def _note(completion: HttpCompletion | None) -> str:
    return f"US$ {completion.spend.cost_usd:.2f}" if completion is not None else ""


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(subtype for row in rows for subtypes in row["tools"].values() for subtype in subtypes)
    named = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"{len(rows)} tasks: {named or 'no candidate'}"


class LabelJournal:
    """Rows as they come. Raises TableError for a folder whose rows another selector made, or of another task set."""

    def __init__(self, folder: Path, made_by: Mapping[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / PARTIAL
        self.rows: dict[str, dict[str, Any]] = {}
        if not self._path.is_file():
            append_line(self._path, made_by)
            return
        cut_unfinished_line(self._path)
        lines = list(read_lines(self._path))
        if lines[:1] != [dict(made_by)]:
            raise TableError(f"{self._path}: made by {lines[:1]}, this run is {dict(made_by)}; give an empty run.dir")
        self.rows = {row["task_id"]: row for row in lines[1:]}

    def add(self, row: dict[str, Any]) -> None:
        self.rows[row["task_id"]] = row
        append_line(self._path, row)
