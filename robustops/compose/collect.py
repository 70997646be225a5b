"""Collect demonstrations: a teacher plays the training tasks, clean and after faults; successes become SFT samples."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from robustops.compose.play import play_cases
from robustops.compose.policy import build_policy
from robustops.compose.scene import Scene, build_scene, build_scheduler, identity_of
from robustops.config import RunConfig
from robustops.core.errors import SplitError, TableError
from robustops.core.tables import read_lines
from robustops.core.task import Case, Condition
from robustops.data.sft import Demonstration, SftExport, export, save_samples
from robustops.rollout.run_folder import TRAJECTORIES
from robustops.rollout.trajectory import load_episode

SAMPLES = "sft.jsonl"


def run(config: RunConfig, folder: Path) -> None:
    """Write the run folder of the teacher's episodes and, beside it, `sft.jsonl`. Resumable."""
    if config.split.part != "train":
        raise SplitError(f"split.part: got {config.split.part!r}; demonstrations are collected on 'train' alone")
    config = replace(config, engine=replace(config.engine, kind=config.collection.teacher))
    scene = build_scene(config, "train")
    policy = build_policy(config, scene.codec, scene.task_set.plans)
    identity = identity_of(
        config, folder, model=config.collection.teacher, stage="teacher", split="train", policy_mode="greedy"
    )
    asyncio.run(
        play_cases(
            scene,
            policy,
            cases(scene),
            title="demonstrations",
            identity=identity,
            folder=folder,
            temperature=0.0,
            scheduler=build_scheduler(config),
        )
    )
    made = export(_demonstrations(folder), call_open_id=scene.codec.call_open_id)
    if not made.samples:
        raise TableError(f"{folder}: none of {len(made.rejected)} episodes succeeded; see {TRAJECTORIES} for why")
    source = f"{config.collection.teacher} on split {scene.task_set.split.sha256[:12]}, seed {config.seed}"
    save_samples(folder / SAMPLES, made.samples, split="train", source=source)
    print(_summary(made, folder), flush=True)


def cases(scene: Scene) -> list[Case]:
    """Every task clean, and an evenly spread share of them once more under a fault of their own."""
    config, tasks = scene.config, list(scene.tasks.values())
    share = 0.0 if config.fault_policy.name == "none" else config.collection.fault_share
    num_faults = round(len(tasks) * share / (1 - share)) if share < 1 else len(tasks)
    planned: list[tuple[Condition, int]] = [("clean", len(tasks)), ("fault", min(num_faults, len(tasks)))]
    return [
        Case(task_id=task.task_id, tool_mode=task.tool_mode, condition=condition)
        for condition, wanted in planned
        for index, task in enumerate(tasks)
        if index * wanted // len(tasks) != (index + 1) * wanted // len(tasks)
    ]


def _demonstrations(folder: Path) -> list[Demonstration]:
    episodes = [load_episode(line) for line in read_lines(folder / TRAJECTORIES)]
    return [Demonstration(source=f"{folder.name}/{episode.case.case_id}", episode=episode) for episode in episodes]


def _summary(made: SftExport, folder: Path) -> str:
    tokens = [len(sample.token_ids) for sample in made.samples]
    trained = sum(span.end - span.start for sample in made.samples for span in sample.spans if span.is_supervised)
    return (
        f"{len(made.samples)} demonstrations of {sum(tokens) / len(tokens):.0f} tokens (longest {max(tokens)}), "
        f"{trained / sum(tokens):.0%} of them supervised; {len(made.rejected)} episodes rejected; {folder / SAMPLES}"
    )
