"""Groups for training: slots in, one by one, `EpisodeGroup`s or the reasons why there is none out.

Clean: one start, played G times. Fault: one clean pass on the current policy, the scheduler's choice among the calls
seen, one strike, then G continuations from that shared state, each on its own copy. Knows no sampler and no trainer.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from robustops.core.episode import Checkpoint, Episode, EpisodeGroup
from robustops.core.task import Case, Condition, Task
from robustops.faults.scheduler import Scheduler, Stratum
from robustops.rollout.boundary import Breaker
from robustops.rollout.concurrency import Tickets, first_failure, run_bounded
from robustops.rollout.play import Start, request_seed
from robustops.rollout.recovery import Turnstile, scout_case
from robustops.rollout.setup import Injecting, Setup, play_case, verify_start

Flow = Condition  # of the cases that a slot is played with


class Slot(Protocol):
    """One place in a batch. `boundary`: a saved recovery boundary to resume from, instead of a new clean pass."""

    @property
    def flow(self) -> Flow: ...

    @property
    def task_id(self) -> str: ...

    @property
    def boundary(self) -> Checkpoint | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why a slot has no group. `struck`: the subtype of a fault that did happen before the group was lost."""

    task_id: str
    flow: Flow
    reason: Literal["no_opportunity", "infrastructure"]
    detail: str = ""
    struck: str = ""


Outcome = EpisodeGroup | Rejection
Journal = Callable[[int, Outcome], None]  # how many slots were begun before this one, and what became of it
# Begins a slot; await what it returns. With an outcome of an earlier, interrupted process the slot is not played again,
# and its fault counts in its place among the choices, so that the others choose as they would have.
Begin = Callable[[Slot, Outcome | None], Awaitable[Outcome]]


class GroupCollector:
    """`concurrency` bounds the groups in flight, each of `group_size` episodes. `tasks`: by task id.

    `max_failures`: so many failed episodes in a row end the run with a GymError or PolicyError.
    """

    def __init__(
        self,
        setup: Setup,
        tasks: Mapping[str, Task],
        scheduler: Scheduler,
        *,
        group_size: int = 4,
        concurrency: int = 8,
        max_failures: int = 16,
    ) -> None:
        if group_size < 2:
            raise ValueError(f"group_size: a group of {group_size} has no group-relative advantage, expected >= 2")
        self.scheduler = scheduler
        self._setup = setup
        self._tasks = tasks
        self._group_size = group_size
        self._concurrency = concurrency
        self._breaker = Breaker(max_failures)

    @asynccontextmanager
    async def playing(self, *, step: int = 0, journal: Journal | None = None) -> AsyncIterator[Begin]:
        """Play slots under the current policy as they are begun. `step` enters the seeds, so that a case returns with
        fresh samples.

        Faults are chosen in the order in which slots are begun, whoever finishes first. `journal` is called as each
        group finishes, before later ones do. The first failure cancels what is being played, then rises.
        """
        tickets, room, numbers = Tickets(), asyncio.Semaphore(self._concurrency), itertools.count()
        setup = self._setup.reseeded(request_seed(self._setup.seed, "step", step, 0))

        async def play(slot: Slot, number: int, known: Outcome | None) -> Outcome:
            turnstile = Turnstile(scheduler=self.scheduler, tickets=tickets, number=number)
            try:
                if known is not None:
                    return await self._counted(known, turnstile)
                async with room:
                    outcome = await self._group(setup, slot, turnstile, step)
            finally:
                await tickets.leave(number)
            if journal is not None:
                journal(number, outcome)
            return outcome

        async with first_failure() as tasks:
            yield lambda slot, known: tasks.create_task(play(slot, next(numbers), known))

    async def _counted(self, outcome: Outcome, turnstile: Turnstile) -> Outcome:
        """Tell the scheduler of a fault that struck in the earlier process, its group lost or not."""
        if isinstance(outcome, Rejection):
            subtype, task_id = outcome.struck, outcome.task_id
        else:
            plan = None if outcome.is_resumed or outcome.boundary is None else outcome.boundary.plan
            subtype, task_id = plan.subtype if plan else "", outcome.episodes[0].case.task_id
        if subtype:
            await turnstile.tickets.wait(turnstile.number)
            self.scheduler.record(subtype, Stratum.of(self._task(task_id)))
        return outcome

    async def _group(self, setup: Setup, slot: Slot, turnstile: Turnstile, step: int) -> Outcome:
        task = self._task(slot.task_id)
        first = Case(task_id=task.task_id, tool_mode=task.tool_mode, condition=slot.flow)
        group_id = f"{first.case_id}|step{step}"
        if slot.flow == "clean":
            await turnstile.tickets.leave(turnstile.number)  # it chooses nothing, so nobody need wait for it
            return await self._members(setup, task, slot, group_id, None)
        checkpoint = slot.boundary
        if checkpoint is None:
            scouted = await scout_case(setup, task, first, turnstile, key=group_id)
            self._breaker.see(scouted.clean)
            if scouted.clean.is_spoilt:
                return _infrastructure(slot, scouted.clean.error, scouted.boundary)
            if scouted.boundary is None and scouted.refused:
                return _infrastructure(slot, "; ".join(scouted.refused))
            if scouted.boundary is None:
                return Rejection(task_id=slot.task_id, flow=slot.flow, reason="no_opportunity")
            checkpoint = scouted.boundary
        await turnstile.tickets.leave(turnstile.number)
        return await self._members(setup, task, slot, group_id, checkpoint)

    async def _members(
        self, setup: Setup, task: Task, slot: Slot, group_id: str, checkpoint: Checkpoint | None
    ) -> Outcome:
        cases = [
            Case(task_id=task.task_id, tool_mode=task.tool_mode, condition=slot.flow, attempt=member)
            for member in range(self._group_size)
        ]
        opening = await verify_start(setup, task, cases[0], checkpoint)
        self._breaker.see(opening)
        if opening.is_spoilt:
            return _infrastructure(slot, opening.error, checkpoint)
        start = Start(checkpoint=checkpoint, verdict=opening.boundary)

        async def member(case: Case) -> Episode:
            injecting = injecting_from(checkpoint)
            return await play_case(setup, task, case, injecting=injecting, start=start, member=case.attempt)

        episodes = await run_bounded(cases, member, concurrency=len(cases))
        for episode in episodes:
            self._breaker.see(episode)
        if failed := [episode for episode in episodes if episode.is_spoilt]:
            return _infrastructure(slot, f"{len(failed)} of {len(episodes)} members: {failed[0].error}", checkpoint)
        return EpisodeGroup(
            group_id=group_id,
            condition=slot.flow,
            episodes=tuple(episodes),
            boundary=checkpoint,
            is_resumed=slot.boundary is not None,
        )

    def _task(self, task_id: str) -> Task:
        if task_id not in self._tasks:
            raise ValueError(f"no task {task_id!r} among the {len(self._tasks)} given to the collector")
        return self._tasks[task_id]


def injecting_from(checkpoint: Checkpoint | None) -> Injecting | None:
    """The injector's state at a recovery boundary."""
    if checkpoint is None or checkpoint.plan is None:
        return None
    return Injecting(
        plan=checkpoint.plan,
        num_calls=sum(turn.call is not None for turn in checkpoint.turns),
        remaining_cap=checkpoint.remaining_cap,
        events=checkpoint.faults,
    )


def _infrastructure(slot: Slot, detail: str, struck: Checkpoint | None = None) -> Rejection:
    """`struck`: the boundary reached; one that the slot brought along was counted when it was new."""
    plan = struck.plan if struck is not None and slot.boundary is None else None
    return Rejection(
        task_id=slot.task_id,
        flow=slot.flow,
        reason="infrastructure",
        detail=detail,
        struck=plan.subtype if plan is not None else "",
    )
