"""Freeze one fault for every case of a part, from clean passes of the scripted expert."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

from robustops.compose.fault_policy import build_scheduler
from robustops.compose.policy import build_policy
from robustops.compose.progress import progress
from robustops.compose.scene import Scene, build_scene
from robustops.config import RunConfig
from robustops.core.episode import FaultPlan
from robustops.core.errors import SplitError
from robustops.core.listing import set_name
from robustops.core.task import Part
from robustops.faults.manifest import write_manifest
from robustops.rollout.freeze import freeze
from robustops.rollout.progress import Progress

MANIFEST = "manifest.jsonl"


def make_manifest(config: RunConfig, folder: Path) -> None:
    """Freeze one fault per case of `split.part` from clean passes of the scripted expert, for every model alike."""
    part = cast(Part, config.split.part)
    if part == "train":
        raise SplitError("split.part: got 'train'; fault manifests are for val and test, training chooses as it goes")
    config = replace(config, engine=replace(config.engine, kind="scripted"))
    scene = build_scene(config, part)
    plans = asyncio.run(_freeze(scene))
    source = f"scripted expert, fault_policy={config.fault_policy.name}, seed={config.seed}"
    built_for = set_name(part, scene.task_set.split.sha256)
    header = write_manifest(folder / MANIFEST, plans, split=built_for, source=source)
    counts = Counter(plan.subtype if plan else "none" for plan in plans.values())
    chosen = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    print(f"{len(plans)} cases: {chosen}; sha256 {header.sha256[:12]}; {folder / MANIFEST}", flush=True)


async def _freeze(scene: Scene) -> dict[str, FaultPlan | None]:
    config = scene.config
    policy = build_policy(config, scene.codec, scene.task_set.plans)
    with progress("faults") as report:

        def show(seen: Progress) -> None:
            report(seen.done, seen.total, "")

        try:
            return await freeze(
                scene.setup(policy, temperature=0.0),
                list(scene.tasks.values()),
                build_scheduler(config),
                concurrency=config.engine.concurrency,
                on_progress=show,
            )
        finally:
            await scene.close()
