"""Collect demonstrations: a teacher's set-ups and training tasks in, a run folder of its episodes out.

Four stages: clean, clean once more where it failed, after a fault, after the same fault once more where that failed.
A fault strikes a solved clean episode: its recorded calls are executed again, which gives every checkpoint without
asking the teacher, the scheduler chooses among the opportunities seen, and the teacher goes on from there. Each episode
is on disk before the next is counted, so a killed collection goes on where it stopped and asks for nothing twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robustops.core.episode import Episode
from robustops.core.episode_row import EpisodeRow
from robustops.core.task import Case, Condition, Task
from robustops.data.recorded import Recorded
from robustops.faults.manifest import manifest_key
from robustops.faults.scheduler import Scheduler, Stratum
from robustops.rollout.boundary import Breaker
from robustops.rollout.concurrency import Tickets, run_bounded
from robustops.rollout.groups import injecting_from
from robustops.rollout.play import Start
from robustops.rollout.recovery import Turnstile, scout_case
from robustops.rollout.rows import RunIdentity
from robustops.rollout.run_folder import RunFolder
from robustops.rollout.setup import Injecting, Setup, play_case

FIRST, AGAIN = 0, 1  # attempts: at the set-up's temperature, and once more where that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How far a collection is. `total` grows by the cases that are tried again."""

    done: int
    total: int
    solved: int


def _silent(counts: Counts) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """`clean` and `fault`: the teacher as it plays from a task's start, and after a fault.

    `fault_share`: continuations after a fault among all demonstrations. `retry_temperature`: None tries nothing again.
    """

    clean: Setup
    fault: Setup
    tasks: Mapping[str, Task]
    scheduler: Scheduler
    identity: RunIdentity
    folder: Path
    fault_share: float = 0.5
    retry_temperature: float | None = 0.6
    concurrency: int = 8
    max_failures: int = 16
    on_progress: Callable[[Counts], None] = _silent
    about: Mapping[str, Any] = field(default_factory=dict)

    async def run(self) -> list[EpisodeRow]:
        """Play what is not yet there and write the folder.

        Raises GymError or PolicyError after `max_failures` failed episodes in a row, TableError for a folder of
        another run.
        """
        run = _Run(self)
        tasks = list(self.tasks.values())
        clean = [_case(task, "clean") for task in tasks]
        run.expect(len(clean) + num_faults(len(clean), self.fault_share))
        await run.stage(clean, run.play_clean)
        await run.stage(run.failed(clean), run.play_clean)
        solved = [task for task in tasks if run.solved(task) is not None]
        struck = [_case(task, "fault") for task in spread(solved, num_faults(len(solved), self.fault_share))]
        await run.stage(struck, run.play_fault)
        await run.stage(run.failed(struck), run.play_fault_again)
        return run.finish()


def _case(task: Task, condition: Condition, attempt: int = FIRST) -> Case:
    return Case(task_id=task.task_id, tool_mode=task.tool_mode, condition=condition, attempt=attempt)


def num_faults(num_clean: int, share: float) -> int:
    """Continuations beside so many clean episodes: one a task at most."""
    return min(num_clean, round(num_clean * share / (1 - share))) if share < 1 else num_clean


def spread(tasks: Sequence[Task], wanted: int) -> list[Task]:
    """So many of the tasks, evenly spread over their order."""
    return [
        task for index, task in enumerate(tasks) if index * wanted // len(tasks) != (index + 1) * wanted // len(tasks)
    ]


def _is_solved(episode: Episode) -> bool:
    return episode.end is not None and episode.end.strict is True and episode.stop_reason == "stop"


class _Run:
    """One collection in progress: what is on disk, and what is still to be played."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        possible = [
            _case(task, condition, attempt)
            for condition in ("clean", "fault")
            for attempt in (FIRST, AGAIN)
            for task in collection.tasks.values()
        ]
        self._possible = possible
        self._folder = RunFolder(collection.folder, possible, collection.identity)
        self._episodes = self._folder.done()
        self._breaker = Breaker(collection.max_failures)
        self._expected, self._num_solved = 0, 0
        for episode in self._episodes.values():  # faults of an interrupted half count for the balance of the rest
            self._num_solved += _is_solved(episode)
            self._count_fault(episode)

    def expect(self, num_cases: int) -> None:
        again = sum(episode.case.attempt == AGAIN for episode in self._episodes.values())
        self._expected = num_cases + again
        self._report()

    def failed(self, cases: Iterable[Case]) -> list[Case]:
        """Second attempts of those that were played to an end and not solved."""
        if self._collection.retry_temperature is None:
            return []
        found = [self._episodes.get(case.case_id) for case in cases]
        return [replace(item.case, attempt=AGAIN) for item in found if item is not None and not _is_solved(item)]

    def solved(self, task: Task) -> Episode | None:
        """The clean episode that demonstrates the task."""
        for attempt in (FIRST, AGAIN):
            episode = self._episodes.get(_case(task, "clean", attempt).case_id)
            if episode is not None and _is_solved(episode):
                return episode
        return None

    async def stage(self, cases: Sequence[Case], play: Callable[[Case, Turnstile], Awaitable[Episode | None]]) -> None:
        """Play the cases that are not there yet; None is a case that no fault could strike."""
        left = [case for case in cases if case.case_id not in self._episodes]
        self._expected += sum(case.attempt == AGAIN for case in left)
        tickets = Tickets()

        async def work(numbered: tuple[int, Case]) -> None:
            number, case = numbered
            turnstile = Turnstile(scheduler=self._collection.scheduler, tickets=tickets, number=number)
            try:
                episode = await play(case, turnstile)
            finally:
                await tickets.leave(number)
            if episode is None:
                self._expected -= 1
                return
            self._folder.add(episode)
            if not episode.is_spoilt:
                self._episodes[case.case_id] = episode
                self._num_solved += _is_solved(episode)
            self._report()
            self._breaker.see(episode)

        await run_bounded(list(enumerate(left)), work, concurrency=self._collection.concurrency)

    async def play_clean(self, case: Case, turnstile: Turnstile) -> Episode:
        await turnstile.tickets.leave(turnstile.number)
        setup = self._collection.clean
        return await play_case(self._warmer(setup, case), self._task(case), case)

    async def play_fault(self, case: Case, turnstile: Turnstile) -> Episode | None:
        """Execute the clean episode again, strike where the scheduler chooses, and let the teacher go on."""
        task, setup = self._task(case), self._collection.fault
        clean = self.solved(task)
        assert clean is not None
        replay = replace(setup, policy=Recorded(clean.turns))
        scouted = await scout_case(replay, task, case, turnstile, key=manifest_key(case))
        if scouted.boundary is None:
            return scouted.clean if scouted.clean.is_spoilt else None
        start = Start(checkpoint=scouted.boundary, verdict=scouted.clean.boundary, is_own=True)
        return await play_case(setup, task, case, injecting=injecting_from(scouted.boundary), start=start)

    async def play_fault_again(self, case: Case, turnstile: Turnstile) -> Episode:
        """The first attempt up to its fault, which strikes the same call the same way, and the teacher from there."""
        await turnstile.tickets.leave(turnstile.number)
        first = self._episodes[replace(case, attempt=FIRST).case_id]
        struck = next((index for index, turn in enumerate(first.turns) if turn.fault is not None), None)
        assert struck is not None
        assert first.plan is not None
        setup = self._warmer(self._collection.fault, case)
        setup = replace(setup, policy=Recorded(first.turns[: struck + 1], then=setup.policy))
        return await play_case(setup, self._task(case), case, injecting=Injecting(plan=first.plan))

    def finish(self) -> list[EpisodeRow]:
        written = self._folder.written()
        cases = [case for case in self._possible if case.case_id in written]
        folder = RunFolder(self._collection.folder, cases, self._collection.identity)
        return folder.finish(self._collection.tasks, manifest_sha="", about=self._collection.about)

    def _warmer(self, setup: Setup, case: Case) -> Setup:
        temperature = self._collection.retry_temperature
        if case.attempt == FIRST or temperature is None:
            return setup
        return replace(setup, sampling=replace(setup.sampling, temperature=temperature))

    def _task(self, case: Case) -> Task:
        return self._collection.tasks[case.task_id]

    def _count_fault(self, episode: Episode) -> None:
        if episode.plan is not None and episode.faults and episode.case.attempt == FIRST:
            self._collection.scheduler.record(episode.plan.subtype, Stratum.of(self._task(episode.case)))

    def _report(self) -> None:
        counts = Counts(done=len(self._episodes), total=self._expected, solved=self._num_solved)
        self._collection.on_progress(counts)
