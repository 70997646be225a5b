"""Freeze faults: tasks and a set-up in, one planned fault for each task out, by clean passes of the set-up's policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robustops.core.episode import FaultPlan
from robustops.core.errors import GymError
from robustops.core.task import Case, Task
from robustops.faults.manifest import manifest_key
from robustops.faults.scheduler import Scheduler
from robustops.rollout.concurrency import Tickets, run_bounded
from robustops.rollout.progress import Progress, silent
from robustops.rollout.recovery import Turnstile, scout_case
from robustops.rollout.setup import Setup


async def freeze(
    setup: Setup,
    tasks: Sequence[Task],
    scheduler: Scheduler,
    *,
    concurrency: int = 8,
    on_progress: Callable[[Progress], None] = silent,
) -> dict[str, FaultPlan | None]:
    """By manifest key; None for a task without an eligible call. The policy is usually the scripted expert.

    Raises GymError, naming the task, when its pass fails: a manifest with holes is none.
    """
    tickets = Tickets()
    num_done = 0

    async def work(numbered: tuple[int, Task]) -> FaultPlan | None:
        nonlocal num_done
        number, task = numbered
        case = _case(task)
        turnstile = Turnstile(scheduler=scheduler, tickets=tickets, number=number)
        scouted = await scout_case(setup, task, case, turnstile, key=manifest_key(case))
        if scouted.clean.is_spoilt:
            raise GymError(f"freeze: the clean pass of {case.case_id} failed: {scouted.clean.error}")
        if scouted.boundary is None and scouted.refused:
            raise GymError(f"freeze: {case.case_id} does not repeat: {scouted.refused[0]}")
        num_done += 1
        on_progress(Progress(done=num_done, total=len(tasks)))
        return scouted.boundary.plan if scouted.boundary is not None else None

    plans = await run_bounded(list(enumerate(tasks)), work, concurrency=concurrency)
    return {manifest_key(_case(task)): plan for task, plan in zip(tasks, plans, strict=True)}


def _case(task: Task) -> Case:
    return Case(task_id=task.task_id, tool_mode=task.tool_mode, condition="fault")
