"""Evaluate one policy, or several side by side, on paired clean and fault cases; the results leave as files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from robustops.compose.fault_policy import build_scheduler
from robustops.compose.hardware import check_hardware
from robustops.compose.play import Arm, play_arms
from robustops.compose.policy import build_policy
from robustops.compose.run_identity import identity_of
from robustops.compose.scene import Scene, build_scene
from robustops.config import RunConfig
from robustops.core.episode_row import EpisodeRow
from robustops.core.errors import ConfigError
from robustops.core.folders import sole_writer
from robustops.core.task import Condition, Part
from robustops.data.paraphrase import paraphrased
from robustops.faults.manifest import Manifest, read_manifest
from robustops.rollout.evaluate import paired_cases

STAGES = ("base", "sft", "rl", "teacher")


def run(config: RunConfig, folder: Path) -> None:
    """Play the cases of `split.part` and write run.json, episodes.parquet and trajectories.jsonl. Resumable.

    With `evaluation.arms` every arm has a folder of its own, named by its stage, inside this run's.
    """
    part = cast(Part, config.split.part)
    check_hardware(config)
    configs = arms_of(config)
    scene = build_scene(config, part)
    wanted = config.evaluation
    try:
        tasks = {task_id: paraphrased(task, wanted.paraphrase) for task_id, task in scene.tasks.items()}
    except ValueError as error:
        raise ConfigError(f"evaluation.paraphrase: {error}") from error
    scene = replace(scene, tasks=tasks)
    manifest = _manifest(scene)
    conditions = cast(Sequence[Condition], wanted.conditions)
    cases = paired_cases(list(tasks.values()), conditions=conditions, attempts=wanted.attempts)
    has_own_faults = manifest is None and "fault" in conditions
    arms = [
        _arm(scene, one, folder / one.model.stage if wanted.arms else folder, has_own_faults=has_own_faults)
        for one in configs
    ]
    with sole_writer(folder):
        found = asyncio.run(play_arms(scene, arms, cases, manifest=manifest))
    for arm, rows in zip(arms, found, strict=True):
        print(_summary(rows, arm.folder), flush=True)


def arms_of(config: RunConfig) -> list[RunConfig]:
    """One configuration an arm: `STAGE:FOLDER` is a model in a folder, `STAGE:http://...` a model behind an endpoint.

    All else, tokenizer and budget among it, is the run's. Raises ConfigError for an arm that is neither, a stage named
    twice, and a model with another tokenizer, which would read other words than it was trained on.
    """
    if not config.evaluation.arms:
        return [config]
    arms: list[RunConfig] = []
    for text in config.evaluation.arms:
        stage, _, place = text.partition(":")
        if stage not in STAGES or not place:
            raise ConfigError(
                f"evaluation.arms: got {text!r}, expected STAGE:FOLDER or STAGE:http://HOST:PORT/v1 with a stage of "
                f"{', '.join(STAGES)}"
            )
        if stage in (arm.model.stage for arm in arms):
            raise ConfigError(f"evaluation.arms: stage {stage!r} twice; run folders are named by the stage")
        arms.append(_arm_config(config, stage, place))
    return arms


def _arm_config(config: RunConfig, stage: str, place: str) -> RunConfig:
    tokenizer = config.model.tokenizer_path or config.model.path
    model = replace(config.model, stage=stage, tokenizer_path=tokenizer)
    if place.startswith(("http://", "https://")):
        api = replace(model.api, base_url=place)
        return replace(config, model=replace(model, api=api), engine=replace(config.engine, kind="api"))
    ours, theirs = (Path(folder).expanduser() / "tokenizer.json" for folder in (tokenizer, place))
    if ours.is_file() and theirs.is_file() and ours.read_bytes() != theirs.read_bytes():
        raise ConfigError(
            f"evaluation.arms: {theirs} differs from {ours}; arms share one tokenizer, evaluate {place} by itself"
        )
    return replace(config, model=replace(model, path=place))


def _arm(scene: Scene, config: RunConfig, folder: Path, *, has_own_faults: bool) -> Arm:
    is_scripted = config.engine.kind == "scripted"
    identity = identity_of(
        config,
        folder,
        model="scripted expert" if is_scripted else config.model.name,
        stage="teacher" if is_scripted else config.model.stage,
        split=config.split.part,
        policy_mode="greedy" if config.evaluation.temperature == 0 else "sampled",
    )
    return Arm(
        config=config,
        policy=build_policy(config, scene.codec, scene.task_set.plans),
        identity=identity,
        folder=folder,
        scheduler=build_scheduler(config) if has_own_faults else None,
    )


def _manifest(scene: Scene) -> Manifest | None:
    config = scene.config
    if sorted(config.evaluation.conditions) not in (["clean"], ["fault"], ["clean", "fault"]):
        raise ConfigError(f"evaluation.conditions: got {config.evaluation.conditions}, expected clean, fault or both")
    if config.fault_policy.manifest is None and config.evaluation.supplement:
        raise ConfigError(
            f"evaluation.supplement: got {config.evaluation.supplement}; without fault_policy.manifest a fault is met "
            "where it is chosen, so none is missed; expected 0"
        )
    if config.fault_policy.manifest is None or "fault" not in config.evaluation.conditions:
        return None
    path = Path(config.fault_policy.manifest).expanduser().absolute()
    split = scene.task_set.split
    manifest = read_manifest(path, split=config.split.part, task_ids=list(split.entries), set_sha256=split.sha256)
    print(f"faults of {path}, sha256 {manifest.sha256[:12]}", flush=True)
    return manifest


def _summary(rows: Sequence[EpisodeRow], folder: Path) -> str:
    parts = []
    for condition in ("clean", "fault"):
        chosen = [row for row in rows if row.condition == condition and not row.supplemented]
        if chosen:
            hits = f", fault met in {sum(row.fault_hit for row in chosen)}" if condition == "fault" else ""
            parts.append(f"{condition} {sum(row.success is True for row in chosen)}/{len(chosen)}{hits}")
    if extra := [row for row in rows if row.supplemented]:
        parts.append(f"sampled again {len(extra)}, fault met in {sum(row.fault_hit for row in extra)}")
    unscored = sum(row.success is None for row in rows)
    damaging = sum(bool(row.damage_rows) for row in rows)
    return f"solved: {'; '.join(parts)}; damaging {damaging}; unscored {unscored}; {folder}"
