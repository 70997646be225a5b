"""Evaluate a policy on paired clean and fault cases; the results leave as files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from robustops.compose.hardware import check_hardware
from robustops.compose.play import play_cases
from robustops.compose.policy import build_policy
from robustops.compose.scene import Scene, build_scene, build_scheduler, identity_of
from robustops.config import RunConfig
from robustops.core.errors import ConfigError
from robustops.core.tables import EpisodeRow
from robustops.core.task import Condition, Part
from robustops.faults.manifest import Manifest, read_manifest
from robustops.rollout.evaluate import paired_cases


def run(config: RunConfig, folder: Path) -> None:
    """Play the cases of `split.part` and write run.json, episodes.parquet and trajectories.jsonl. Resumable."""
    part = cast(Part, config.split.part)
    check_hardware(config)
    scene = build_scene(config, part)
    manifest = _manifest(scene)
    policy = build_policy(config, scene.codec, scene.task_set.plans)
    wanted, is_scripted = config.evaluation, config.engine.kind == "scripted"
    identity = identity_of(
        config,
        folder,
        model="scripted expert" if is_scripted else config.model.name,
        stage="teacher" if is_scripted else config.model.stage,
        split=part,
        policy_mode="greedy" if wanted.temperature == 0 else "sampled",
    )
    conditions = cast(Sequence[Condition], wanted.conditions)
    rows = asyncio.run(
        play_cases(
            scene,
            policy,
            paired_cases(list(scene.tasks.values()), conditions=conditions, attempts=wanted.attempts),
            title=f"evaluation of {identity.stage}",
            identity=identity,
            folder=folder,
            temperature=wanted.temperature,
            manifest=manifest,
            scheduler=build_scheduler(config) if manifest is None and "fault" in conditions else None,
            is_audited=True,
        )
    )
    print(_summary(rows, folder), flush=True)


def _manifest(scene: Scene) -> Manifest | None:
    config = scene.config
    if sorted(config.evaluation.conditions) not in (["clean"], ["fault"], ["clean", "fault"]):
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
