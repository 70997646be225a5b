"""One step's groups: sampler and collector in, accepted groups and what was seen on the way out.

Plays the planned slots and decides on each in dispatch order; one that takes a rejected one's place is begun at once,
while the others are still being played, until every place is filled or given up. Finished groups go to the journal
first and come from it after a kill. Knows no model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from robustops.core.episode import EpisodeGroup
from robustops.learn.journal import StepJournal
from robustops.learn.sampler import Sampler
from robustops.learn.slot import Selected, Slot
from robustops.rollout.groups import Begin, Journal, Outcome, Rejection
from robustops.rollout.score import ProgressKind, Score, score

Record = Callable[[Slot, Outcome], None]


class Collector(Protocol):
    """rollout.groups.GroupCollector, or a fake."""

    def playing(self, *, step: int, journal: Journal) -> AbstractAsyncContextManager[Begin]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A group of this step, accepted or not. `scores`: of its members, empty unless all of them are scorable."""

    group: EpisodeGroup
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """`groups`: to train on, empty when the step is skipped. `kept`: accepted groups held back for the next step."""

    groups: tuple[EpisodeGroup, ...]
    kept: Mapping[str, EpisodeGroup]
    selected: Selected
    num_played: int
    num_reused: int
    played: tuple[Played, ...]


async def collect_step(
    sampler: Sampler,
    collector: Collector,
    step: int,
    *,
    progress: ProgressKind = "gated",
    journal: StepJournal,
    kept: Mapping[str, EpisodeGroup],
    record: Record | None = None,
) -> Collected:
    """`kept`: groups that a skipped step before this one left, by slot id.

    `record` sees each slot, one from the journal perhaps for the second time.
    """
    groups, played, begun = dict(kept), list[Played](), list[Slot]()
    waiting: deque[tuple[Slot, Awaitable[Outcome]]] = deque()

    def finished(number: int, outcome: Outcome) -> None:
        journal.write(begun[number].slot_id, outcome)
        if record is not None:
            record(begun[number], outcome)

    slots = sampler.plan(step)
    async with collector.playing(step=step, journal=finished) as begin:
        while slots or waiting:
            for slot in slots:
                known = journal.found.get(slot.slot_id)
                if known is not None and record is not None:
                    record(slot, known)  # once more: the kill may have come between the journal and the record
                begun.append(slot)
                waiting.append((slot, begin(slot, known)))
            slot, playing = waiting.popleft()
            group, slots = _accepted(sampler, slot, await playing, progress, played), []
            if group is not None:
                groups[slot.slot_id] = group
            elif (refill := sampler.refill(slot)) is not None:
                slots = [refill]
    selected = sampler.finish(step)
    chosen = tuple(groups.pop(slot.slot_id) for slot in selected.slots)
    num_reused = sum(slot.slot_id in journal.found for slot in begun)
    return Collected(
        groups=chosen,
        kept=groups,
        selected=selected,
        num_played=len(begun) - num_reused,
        num_reused=num_reused,
        played=tuple(played),
    )


def _accepted(
    sampler: Sampler, slot: Slot, outcome: Outcome, progress: ProgressKind, played: list[Played]
) -> EpisodeGroup | None:
    """The sampler's decision; a group is added to `played` whatever becomes of it."""
    if isinstance(outcome, Rejection):
        sampler.reject(slot, outcome.reason)
        return None
    scores = [score(episode, progress=progress) for episode in outcome.episodes]
    known = tuple(found for found in scores if found is not None)
    played.append(Played(group=outcome, scores=known if len(known) == len(scores) else ()))
    return outcome if sampler.accept(slot, scores, boundary=outcome.boundary).is_accepted else None
