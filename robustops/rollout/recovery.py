"""From a case to its recovery boundary: a clean pass, the scheduler's choice, one strike. All in one session.

Clean passes run concurrently; choices are made one after another in the order of the cases, so that the scheduler's
balance, and with it every plan, depends on the seed and not on who finished first.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from robustops.core.episode import Checkpoint, Episode
from robustops.core.task import Case, Task
from robustops.faults.scheduler import Scheduler, Stratum
from robustops.gym.session import Session
from robustops.rollout.boundary import Record, boundary
from robustops.rollout.concurrency import Tickets
from robustops.rollout.scout import ReplayRefused, Scout, strike
from robustops.rollout.setup import Setup, play_in

logger = logging.getLogger(__name__)
CLEAN_PASS = -1  # member number of the clean pass: its requests get seeds of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class Scouted:
    """`boundary` is None where no call was eligible, or each one's replay was `refused`, or the clean pass failed."""

    clean: Episode
    boundary: Checkpoint | None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnstile:
    """One case's place in the order of choices."""

    scheduler: Scheduler
    tickets: Tickets
    number: int


async def scout_case(setup: Setup, task: Task, case: Case, turnstile: Turnstile, *, key: str) -> Scouted:
    """`key` seeds the choice. The turnstile's place is given up in any event, also when the pass fails."""
    allowed = setup.labels.of_task(task.task_id) if setup.labels is not None else None
    scout = Scout(turnstile.scheduler.subtypes, allowed)
    refused: list[str] = []
    struck: list[Checkpoint] = []

    async def body() -> Episode:
        async with setup.gym.open(task) as session:
            clean = await play_in(session, setup, task, case, hooks=scout, member=CLEAN_PASS)
            if not clean.is_spoilt:
                await turnstile.tickets.wait(turnstile.number)
                struck.extend(await _choose(session, scout, turnstile.scheduler, task, key, refused))
            return clean

    try:
        clean = await boundary(Record(case=case), body)
    finally:
        await turnstile.tickets.leave(turnstile.number)
    return Scouted(clean=clean, boundary=struck[0] if struck else None, refused=tuple(refused))


async def _choose(
    session: Session, scout: Scout, scheduler: Scheduler, task: Task, key: str, refused: list[str]
) -> list[Checkpoint]:
    """Strike at the scheduler's choice; a checkpoint that refuses is set aside and the choice made again."""
    stratum = Stratum.of(task)
    open_sightings = {sighting.opportunity.position: sighting for sighting in scout.sightings}
    while open_sightings:
        offers = [sighting.opportunity for sighting in open_sightings.values()]
        choice = scheduler.choose(offers, case_key=key, stratum=stratum)
        if choice is None:
            break
        try:
            checkpoint = await strike(session, open_sightings.pop(choice.opportunity.position), choice.plan)
        except ReplayRefused as difference:
            logger.warning("%s: checkpoint refused: %s", task.task_id, difference)
            refused.append(str(difference))
        else:
            scheduler.record(choice.plan.subtype, stratum)
            return [checkpoint]
    return []
