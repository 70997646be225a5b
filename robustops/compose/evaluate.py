"""Evaluate a policy on paired clean and fault cases; the results leave as files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from robustops.agent.policy import Policy
from robustops.compose.hardware import check_hardware
from robustops.compose.policy import build_policy
from robustops.compose.progress import progress
from robustops.compose.scene import Scene, about, build_scene, build_scheduler, weights_of
from robustops.config import RunConfig
from robustops.core.errors import ConfigError, SplitError
from robustops.core.tables import EpisodeRow
from robustops.core.task import Condition, Part
from robustops.faults.manifest import Manifest, read_manifest
from robustops.rollout.evaluate import Evaluation, Progress, paired_cases
from robustops.rollout.rows import RunIdentity


def run(config: RunConfig, folder: Path) -> None:
    """Play the cases of `split.part` and write run.json, episodes.parquet and trajectories.jsonl. Resumable."""
    part = cast(Part, config.split.part)
    if part == "train":
        raise SplitError("split.part: got 'train'; evaluation uses val or test")
    check_hardware(config)
    scene = build_scene(config, part)
    manifest = _manifest(scene)
    policy = build_policy(config, scene.codec, scene.task_set.plans)
    rows = asyncio.run(_play(scene, policy, manifest, folder))
    print(_summary(rows, folder), flush=True)


async def _play(scene: Scene, policy: Policy, manifest: Manifest | None, folder: Path) -> list[EpisodeRow]:
    config, wanted = scene.config, scene.config.evaluation
    identity = RunIdentity(
        run=folder.name,
        model=config.model.name if config.engine.kind != "scripted" else "scripted expert",
        stage=config.model.stage if config.engine.kind != "scripted" else "teacher",
        split=config.split.part,
        seed=config.seed,
        policy_mode="greedy" if wanted.temperature == 0 else "sampled",
        weights=weights_of(config),
    )
    with progress(f"evaluation of {identity.stage}") as report:

        def show(seen: Progress) -> None:
            report(seen.done, seen.total, "")

        evaluation = Evaluation(
            setup=scene.setup(policy, temperature=wanted.temperature),
            tasks=scene.tasks,
            identity=identity,
            folder=folder,
            manifest=manifest,
            scheduler=build_scheduler(config) if manifest is None and "fault" in wanted.conditions else None,
            concurrency=config.engine.concurrency,
            max_failures=config.gym.max_consecutive_failures,
            on_progress=show,
            about=about(config, scene.task_set),
        )
        conditions = cast(Sequence[Condition], wanted.conditions)
        try:
            return await evaluation.run(
                paired_cases(list(scene.tasks.values()), conditions=conditions, attempts=wanted.attempts)
            )
        finally:
            await policy.close()


def _manifest(scene: Scene) -> Manifest | None:
    config = scene.config
    odd = [name for name in config.evaluation.conditions if name not in ("clean", "fault")]
    if odd or not config.evaluation.conditions:
        raise ConfigError(f"evaluation.conditions: got {config.evaluation.conditions}, expected clean, fault or both")
    if config.fault_policy.manifest is None:
        return None
    path = Path(config.fault_policy.manifest).expanduser().absolute()
    return read_manifest(path, split=config.split.part, task_ids=list(scene.task_set.split.entries))


def _summary(rows: Sequence[EpisodeRow], folder: Path) -> str:
    parts = []
    for condition in ("clean", "fault"):
        chosen = [row for row in rows if row.condition == condition]
        if chosen:
            hits = f", fault met in {sum(row.fault_hit for row in chosen)}" if condition == "fault" else ""
            parts.append(f"{condition} {sum(row.success is True for row in chosen)}/{len(chosen)}{hits}")
    unscored = sum(row.success is None for row in rows)
    return f"solved: {'; '.join(parts)}; unscored {unscored}; {folder}"
