"""Collect demonstrations: a teacher plays the training tasks, clean and after faults; successes become SFT samples."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robustops.agent.api import ApiPolicy
from robustops.agent.policy import Policy
from robustops.compose.completion import build_completion
from robustops.compose.demonstrations import export_formats, write_samples
from robustops.compose.fault_policy import build_training_scheduler
from robustops.compose.policy import build_policy
from robustops.compose.progress import progress
from robustops.compose.provenance import about
from robustops.compose.run_identity import identity_of
from robustops.compose.scene import Scene, build_scene
from robustops.compose.spending import Spending
from robustops.config import RunConfig
from robustops.core.episode_row import EpisodeRow
from robustops.core.errors import ConfigError, SplitError
from robustops.core.folders import sole_writer
from robustops.core.task import Task
from robustops.data.collect import Collection, Counts
from robustops.data.guidance import EXECUTION, RECOVERY, SEPARATOR, Guided
from robustops.data.splits import share_by_id
from robustops.faults.scheduler import Scheduler
from robustops.llm.http import HttpCompletion


def run(config: RunConfig, folder: Path) -> None:
    """Write the run folder of the teacher's episodes and, beside it, `sft.jsonl`; do=export only exports. Resumable."""
    if config.split.part != "train":
        raise SplitError(f"split.part: got {config.split.part!r}; demonstrations are collected on 'train' alone")
    if config.do not in ("play", "export"):
        raise ConfigError(f"do: got {config.do!r}; collect has play and export")
    if config.do == "export":
        export_formats(config, folder)
        return
    scheduler = build_training_scheduler(config)
    config = replace(config, engine=replace(config.engine, kind=config.collection.teacher))
    scene = build_scene(config, "train")
    scene = replace(scene, tasks=shared_tasks(scene))
    with sole_writer(folder):
        rows = asyncio.run(play(scene, scheduler, folder))
        print(played(rows, folder), flush=True)
        print(write_samples(scene, folder), flush=True)


def shared_tasks(scene: Scene) -> dict[str, Task]:
    """The share of the tasks that is collected on, by task id."""
    domains = {task_id: task.domain for task_id, task in scene.tasks.items()}
    chosen = share_by_id(domains, scene.config.collection.task_share)
    return {task_id: task for task_id, task in scene.tasks.items() if task_id in chosen}


@dataclass(frozen=True, slots=True, kw_only=True)
class Teacher:
    """`completion`: of an API teacher, for its count of requests and money."""

    clean: Policy
    fault: Policy
    completion: HttpCompletion | None = None


def build_teacher(scene: Scene) -> Teacher:
    config = scene.config
    if config.collection.teacher == "scripted":
        expert = build_policy(config, scene.codec, scene.task_set.plans)
        return Teacher(clean=expert, fault=expert)
    completion = build_completion(config)
    policy = ApiPolicy(completion, scene.codec)
    if not config.collection.guidance:
        return Teacher(clean=policy, fault=policy, completion=completion)
    return Teacher(
        clean=Guided(policy=policy, text=EXECUTION),
        fault=Guided(policy=policy, text=f"{EXECUTION}{SEPARATOR}{RECOVERY}"),
        completion=completion,
    )


async def play(scene: Scene, scheduler: Scheduler, folder: Path) -> list[EpisodeRow]:
    """Raises as `Collection.run` does."""
    config, teacher = scene.config, build_teacher(scene)
    is_scripted = teacher.completion is None
    model = "scripted" if is_scripted else config.model.api.model or config.model.name
    spending = Spending(folder)
    with progress("demonstrations") as report:

        def show(counts: Counts) -> None:
            note = f"{counts.solved / counts.done:.0%} solved" if counts.done else ""
            if teacher.completion is not None:
                note += f", {spending.note(teacher.completion.spend)}"
            report(counts.done, counts.total, note)

        collection = Collection(
            clean=scene.setup(teacher.clean, temperature=0.0),
            fault=scene.setup(teacher.fault, temperature=0.0),
            tasks=scene.tasks,
            scheduler=scheduler,
            identity=identity_of(config, folder, model=model, stage="teacher", split="train", policy_mode="greedy"),
            folder=folder,
            fault_share=0.0 if config.fault_policy.name == "none" else config.collection.fault_share,
            retry_temperature=None if is_scripted else config.collection.retry_temperature,
            concurrency=config.engine.concurrency,
            max_failures=config.gym.max_consecutive_failures,
            on_progress=show,
            about=about(config, scene.task_set),
        )
        try:
            return await collection.run()
        finally:
            if teacher.completion is not None:
                spending.note(teacher.completion.spend)
            await teacher.clean.close()
            await scene.close()


def played(rows: Sequence[EpisodeRow], folder: Path) -> str:
    parts = []
    for condition in ("clean", "fault"):
        chosen = [row for row in rows if row.condition == condition]
        again = sum(row.attempt > 0 for row in chosen)
        if chosen:
            solved = len({row.task_id for row in chosen if row.success_strict})
            tried = len({row.task_id for row in chosen})
            parts.append(f"{condition} {solved}/{tried}" + (f" ({again} tried twice)" if again else ""))
    failed = sum(row.stop_reason == "infrastructure" for row in rows)
    left = f"; {failed} failed for want of an answer: the same command plays them again" if failed else ""
    return f"solved: {'; '.join(parts)}{left}; {folder}"
