"""Play cases with a scene and a policy into a run folder: what collecting and evaluating have in common. Resumable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from robustops.agent.policy import Policy
from robustops.agent.scripted import ScriptedExpert
from robustops.compose.authority import TaskAuthority
from robustops.compose.progress import progress
from robustops.compose.scene import Scene, about
from robustops.core.tables import EpisodeRow
from robustops.core.task import Case
from robustops.faults.manifest import Manifest
from robustops.faults.scheduler import Scheduler
from robustops.rollout.evaluate import Evaluation, Progress
from robustops.rollout.rows import RunIdentity


async def play_cases(
    scene: Scene,
    policy: Policy,
    cases: Sequence[Case],
    *,
    title: str,
    identity: RunIdentity,
    folder: Path,
    temperature: float,
    manifest: Manifest | None = None,
    scheduler: Scheduler | None = None,
    is_audited: bool = False,
) -> list[EpisodeRow]:
    """Closes the policy and the scene. Raises as `Evaluation.run` does.

    `is_audited`: rows changed beyond what a task authorises are found and counted.
    """
    setup = scene.setup(policy, temperature=temperature)
    if is_audited:
        expert = ScriptedExpert(scene.task_set.plans, scene.codec)
        authority = TaskAuthority(
            setup=replace(setup, policy=expert), plans=scene.task_set.plans, folder=scene.task_set.root / "damage"
        )
        setup = replace(setup, authority=authority)
    with progress(title) as report:

        def show(seen: Progress) -> None:
            report(seen.done, seen.total, "")

        evaluation = Evaluation(
            setup=setup,
            tasks=scene.tasks,
            identity=identity,
            folder=folder,
            manifest=manifest,
            scheduler=scheduler,
            concurrency=scene.config.engine.concurrency,
            max_failures=scene.config.gym.max_consecutive_failures,
            on_progress=show,
            about=about(scene.config, scene.task_set),
        )
        try:
            return await evaluation.run(cases)
        finally:
            await policy.close()
            await scene.close()
