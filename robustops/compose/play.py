"""Play cases with a scene into run folders, one an arm: all arms at the same time, case by case. Resumable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robustops.agent.policy import Policy
from robustops.agent.scripted import ScriptedExpert
from robustops.compose.authority import TaskAuthority
from robustops.compose.progress import progress
from robustops.compose.provenance import about
from robustops.compose.scene import Scene
from robustops.config import RunConfig
from robustops.core.episode_row import EpisodeRow
from robustops.core.task import Case
from robustops.faults.manifest import Manifest
from robustops.faults.scheduler import Scheduler
from robustops.rollout.evaluate import Evaluation
from robustops.rollout.progress import Progress
from robustops.rollout.rows import RunIdentity
from robustops.rollout.setup import Setup
from robustops.rollout.supplement import Supplement


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One policy of an evaluation. `config` is the run's, with this arm's model; `scheduler` is its own."""

    config: RunConfig
    policy: Policy
    identity: RunIdentity
    folder: Path
    scheduler: Scheduler | None = None


async def play_arms(
    scene: Scene, arms: Sequence[Arm], cases: Sequence[Case], *, manifest: Manifest | None
) -> list[list[EpisodeRow]]:
    """Rows by arm. Closes policies and scene. Raises as `Evaluation.run` does.

    Arms advance together through the same order of cases and share the concurrency, so that a server that slows down or
    changes during the run does so for all of them.
    """
    done, total = [0] * len(arms), [len(cases)] * len(arms)
    with progress(f"evaluation of {', '.join(arm.identity.stage for arm in arms)}") as report:

        def shown(number: int) -> Callable[[Progress], None]:
            def show(seen: Progress) -> None:
                done[number], total[number] = seen.done, seen.total
                report(sum(done), sum(total), "")

            return show

        concurrency = max(1, scene.config.engine.concurrency // len(arms))
        evaluations = [_evaluation(scene, arm, manifest, concurrency, shown(number)) for number, arm in enumerate(arms)]
        try:
            return list(await asyncio.gather(*(evaluation.run(cases) for evaluation in evaluations)))
        finally:
            for arm in arms:
                await arm.policy.close()
            await scene.close()


def _evaluation(
    scene: Scene, arm: Arm, manifest: Manifest | None, concurrency: int, on_progress: Callable[[Progress], None]
) -> Evaluation:
    wanted = arm.config.evaluation
    setup = audited(scene, scene.setup(arm.policy, temperature=wanted.temperature))
    again = None
    if wanted.supplement and manifest is not None:
        sampling = replace(setup.sampling, temperature=wanted.supplement_temperature)
        again = Supplement(most=wanted.supplement, setup=replace(setup, sampling=sampling))
    return Evaluation(
        setup=setup,
        tasks=scene.tasks,
        identity=arm.identity,
        folder=arm.folder,
        manifest=manifest,
        scheduler=arm.scheduler,
        concurrency=concurrency,
        max_failures=arm.config.gym.max_consecutive_failures,
        on_progress=on_progress,
        about=about(arm.config, scene.task_set),
        supplement=again,
    )


def audited(scene: Scene, setup: Setup) -> Setup:
    """The same set-up, with rows that a task does not authorise found and counted."""
    expert = replace(setup, policy=ScriptedExpert(scene.task_set.plans, scene.codec))
    folder = scene.task_set.root / "damage"
    return replace(setup, authority=TaskAuthority(setup=expert, plans=scene.task_set.plans, folder=folder))
