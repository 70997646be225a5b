"""One step's groups: sampler and collector in, accepted groups and what was seen on the way out.

Plays the planned slots, decides on each in dispatch order, refills the rejected ones, until every place is filled or
given up. Finished groups go to the journal first and come from it after a kill. Knows no model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from robustops.core.episode import EpisodeGroup
from robustops.learn.journal import StepJournal
from robustops.learn.sampler import Sampler
from robustops.learn.slot import Selected, Slot
from robustops.rollout.groups import Journal, Outcome, Rejection
from robustops.rollout.score import ProgressKind, Score, score

Record = Callable[[Slot, Outcome], None]


class Collector(Protocol):
    """rollout.groups.GroupCollector, or a fake."""

    async def collect(
        self, slots: Sequence[Slot], *, step: int, journal: Journal | None, known: Mapping[int, Outcome]
    ) -> Sequence[Outcome]:
        """`known`: outcomes of an earlier, interrupted process, lost groups included, by index."""


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


class _Tally:
    """What was played in a step, whatever became of it."""

    def __init__(self) -> None:
        self.played: list[Played] = []
        self.num_played = 0
        self.num_reused = 0


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
    groups, tally = dict(kept), _Tally()
    slots = sampler.plan(step)
    while slots:
        outcomes = await _outcomes(collector, slots, step, journal, record, tally)
        vacated = []
        for slot in sorted(slots, key=lambda slot: slot.dispatch):
            outcome = outcomes[slot.slot_id]
            if isinstance(outcome, EpisodeGroup) and _is_accepted(sampler, slot, outcome, progress, tally):
                groups[slot.slot_id] = outcome
            else:
                if isinstance(outcome, Rejection):
                    sampler.reject(slot, outcome.reason)
                vacated.append(slot)
        slots = [refill for slot in vacated if (refill := sampler.refill(slot)) is not None]
    selected = sampler.finish(step)
    chosen = tuple(groups.pop(slot.slot_id) for slot in selected.slots)
    return Collected(
        groups=chosen,
        kept=groups,
        selected=selected,
        num_played=tally.num_played,
        num_reused=tally.num_reused,
        played=tuple(tally.played),
    )


async def _outcomes(
    collector: Collector,
    slots: Sequence[Slot],
    step: int,
    journal: StepJournal,
    record: Record | None,
    tally: _Tally,
) -> dict[str, Outcome]:
    """By slot id: from the journal where it is there, played now otherwise."""
    known = {index: journal.found[slot.slot_id] for index, slot in enumerate(slots) if slot.slot_id in journal.found}
    tally.num_reused += len(known)
    tally.num_played += len(slots) - len(known)
    if record is not None:
        for index, outcome in known.items():
            record(slots[index], outcome)  # once more: the kill may have come between the journal and the record

    def finished(index: int, outcome: Outcome) -> None:
        journal.write(slots[index].slot_id, outcome)
        if record is not None:
            record(slots[index], outcome)

    outcomes = await collector.collect(slots, step=step, journal=finished, known=known)
    return {slot.slot_id: outcome for slot, outcome in zip(slots, outcomes, strict=True)}


def _is_accepted(sampler: Sampler, slot: Slot, group: EpisodeGroup, progress: ProgressKind, tally: _Tally) -> bool:
    scores = [score(episode, progress=progress) for episode in group.episodes]
    known = tuple(found for found in scores if found is not None)
    tally.played.append(Played(group=group, scores=known if len(known) == len(scores) else ()))
    return sampler.accept(slot, scores, boundary=group.boundary).is_accepted
