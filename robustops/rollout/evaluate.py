"""Paired evaluation: cases x conditions under one fault manifest in, a run folder out. Resumable; no statistic here.

Clean and fault cases of a task share its start; every model meets the same faults with the same caps. Without a
manifest the run's own clean passes choose the faults, and the assignment is frozen beside the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robustops.core.episode import Episode, FaultPlan
from robustops.core.episode_row import EpisodeRow
from robustops.core.task import Case, Condition, Task
from robustops.faults.catalogue import tag_table
from robustops.faults.manifest import Manifest, attempt_key, manifest_key, write_manifest
from robustops.faults.scheduler import Scheduler, Stratum
from robustops.rollout.boundary import Breaker
from robustops.rollout.concurrency import Tickets, run_bounded
from robustops.rollout.groups import injecting_from
from robustops.rollout.play import Start
from robustops.rollout.progress import Progress, silent
from robustops.rollout.recovery import Scouted, Turnstile, scout_case
from robustops.rollout.rows import RunIdentity
from robustops.rollout.run_folder import RunFolder
from robustops.rollout.setup import Injecting, Setup, play_case
from robustops.rollout.supplement import Supplement, extra_cases, sample_again

FROZEN = "fault_manifest.jsonl"


def paired_cases(
    tasks: Sequence[Task], *, conditions: Sequence[Condition] = ("clean", "fault"), attempts: int = 1
) -> list[Case]:
    """Every task in every condition, pairs beside each other."""
    return [
        Case(task_id=task.task_id, tool_mode=task.tool_mode, condition=condition, attempt=attempt)
        for task in tasks
        for attempt in range(attempts)
        for condition in conditions
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """`manifest` or, to let this run choose, `scheduler`; neither is needed for clean cases alone.

    `tasks`: by task id. `about`: what `run.json` should say besides (config, revision, versions). `supplement`: how to
    sample cases again whose fault of the manifest was not met.
    """

    setup: Setup
    tasks: Mapping[str, Task]
    identity: RunIdentity
    folder: Path
    manifest: Manifest | None = None
    scheduler: Scheduler | None = None
    concurrency: int = 8
    max_failures: int = 16
    on_progress: Callable[[Progress], None] = silent
    about: Mapping[str, Any] = field(default_factory=dict)
    supplement: Supplement | None = None

    async def run(self, cases: Sequence[Case]) -> list[EpisodeRow]:
        """Play what is not yet done and write the folder.

        Raises ManifestError for a fault case the manifest does not cover, before anything is played; GymError or
        PolicyError after `max_failures` failed episodes in a row; TableError when plan and files do not reconcile.
        """
        plans = self._plans(cases)
        identity = self.identity
        if self.manifest is not None:
            identity = replace(identity, manifest_sha=self.manifest.sha256)
        extras = extra_cases(cases, self.supplement.most) if self.supplement is not None else {}
        possible = [extra for several in extras.values() for extra in several]
        folder = RunFolder(self.folder, cases, identity, extras=possible)
        done = folder.done()
        self._recount(done)
        await self._play([case for case in cases if case.case_id not in done], plans, folder, len(cases))
        if self.supplement is not None:
            await self._sample_again(self.supplement, cases, extras, plans, folder)
        sha = identity.manifest_sha
        if self.manifest is None and any(case.condition == "fault" for case in cases):
            sha = self._freeze_own(folder.written())
        about = {**self.about, "fault_kinds": tag_table()}
        return folder.finish(self.tasks, manifest_sha=sha, about=about)

    def _plans(self, cases: Sequence[Case]) -> dict[str, FaultPlan | None]:
        fault_cases = [case for case in cases if case.condition == "fault"]
        if self.manifest is not None:
            return {case.case_id: self.manifest.plan_for(case) for case in fault_cases}
        if fault_cases and self.scheduler is None:
            raise ValueError("fault cases need a manifest, or a scheduler to choose faults with")
        return {}

    async def _play(
        self, cases: Sequence[Case], plans: Mapping[str, FaultPlan | None], folder: RunFolder, total: int
    ) -> None:
        breaker, tickets = Breaker(self.max_failures), Tickets()
        num_done = total - len(cases)
        self.on_progress(Progress(done=num_done, total=total))

        async def work(numbered: tuple[int, Case]) -> None:
            nonlocal num_done
            number, case = numbered
            try:
                episode = await self._episode(case, plans, tickets, number)
            finally:
                await tickets.leave(number)
            folder.add(episode)
            num_done += 1
            self.on_progress(Progress(done=num_done, total=total))
            breaker.see(episode)

        await run_bounded(list(enumerate(cases)), work, concurrency=self.concurrency)

    async def _episode(
        self, case: Case, plans: Mapping[str, FaultPlan | None], tickets: Tickets, number: int
    ) -> Episode:
        task = self.tasks[case.task_id]
        if case.condition == "fault" and self.scheduler is not None and self.manifest is None:
            turnstile = Turnstile(scheduler=self.scheduler, tickets=tickets, number=number)
            return await self._own_fault(task, case, turnstile)
        await tickets.leave(number)
        plan = plans.get(case.case_id)
        return await play_case(self.setup, task, case, injecting=Injecting(plan=plan) if plan else None)

    async def _sample_again(
        self,
        supplement: Supplement,
        cases: Sequence[Case],
        extras: Mapping[str, Sequence[Case]],
        plans: Mapping[str, FaultPlan | None],
        folder: RunFolder,
    ) -> None:
        breaker = Breaker(self.max_failures)

        async def play(extra: Case, plan: FaultPlan) -> Episode:
            task = self.tasks[extra.task_id]
            episode = await play_case(supplement.setup, task, extra, injecting=Injecting(plan=plan))
            folder.add(episode)
            breaker.see(episode)
            return episode

        await sample_again(cases, extras, plans, folder.written(), play, concurrency=self.concurrency)

    async def _own_fault(self, task: Task, case: Case, turnstile: Turnstile) -> Episode:
        """The clean pass up to the strike and the continuation after it are one episode of this policy."""
        scouted = await scout_case(
            self.setup, task, case, turnstile, key=attempt_key(case) if case.attempt else manifest_key(case)
        )
        checkpoint = scouted.boundary
        if checkpoint is None:
            return _without_fault(scouted)
        start = Start(checkpoint=checkpoint, verdict=scouted.clean.boundary, is_own=True)
        episode = await play_case(self.setup, task, case, injecting=injecting_from(checkpoint), start=start)
        return replace(episode, wall_s=scouted.clean.wall_s + episode.wall_s)

    def _recount(self, done: Mapping[str, Episode]) -> None:
        """Faults of an interrupted half of this run count for the balance of the rest."""
        for episode in done.values():
            if self.scheduler is not None and self.manifest is None and episode.plan is not None and episode.faults:
                self.scheduler.record(episode.plan.subtype, Stratum.of(self.tasks[episode.case.task_id]))

    def _freeze_own(self, episodes: Mapping[str, Episode]) -> str:
        """Each attempt met a fault of its own, so several attempts have a row each."""
        played = [episode for episode in episodes.values() if episode.case.condition == "fault"]
        key_of = attempt_key if any(episode.case.attempt for episode in played) else manifest_key
        plans = {key_of(episode.case): episode.plan for episode in played}
        reasons = {key_of(episode.case): episode.error_kind for episode in played if episode.error_kind}
        source = f"clean passes of {self.identity.model} in run {self.identity.run}"
        split = self.identity.split
        return write_manifest(self.folder / FROZEN, plans, split=split, source=source, reasons=reasons).sha256


def _without_fault(scouted: Scouted) -> Episode:
    """No fault could be planned; where a replay was refused, the row says so."""
    if scouted.refused and not scouted.clean.error_kind:
        return replace(scouted.clean, error_kind="ReplayRefused", error="; ".join(scouted.refused))
    return scouted.clean
