"""A group collector on the desk, for tests of groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from desk_agent import DeskPolicy
from desk_gym import desk_task, desk_verify
from desk_setup import desk_setup

from robustops.core.episode import Checkpoint, Episode, EpisodeGroup
from robustops.faults.catalogue import CapRange
from robustops.faults.scheduler import Scheduler
from robustops.rollout.groups import GroupCollector, Journal, Outcome

TASKS = {
    f"desk/{number}": desk_task(f"desk/{number}", account=account, title=f"case {number}")
    for number, account in enumerate(["Acme", "Birch", "Cedar", "Acme", "Birch", "Cedar"], start=1)
}


@dataclass(frozen=True)
class DeskSlot:
    flow: Literal["clean", "fault"]
    task_id: str = "desk/1"
    boundary: Checkpoint | None = None


def collector_for(
    policy: DeskPolicy,
    subtypes: tuple[str, ...],
    *,
    gym: Any = None,
    caps: Mapping[str, CapRange] | None = None,
    verify: Any = desk_verify,
    **options: Any,
) -> GroupCollector:
    setup = desk_setup(policy, seed=11, gym=gym, verify=verify)
    return GroupCollector(setup, TASKS, Scheduler(subtypes, seed=11, caps=caps or {}), **options)


async def collect(
    collector: Any,
    slots: Sequence[Any],
    *,
    step: int = 0,
    journal: Journal | None = None,
    known: Mapping[int, Outcome] | None = None,
) -> list[Outcome]:
    """All slots begun at once; `known` by index."""
    earlier = known or {}
    async with collector.playing(step=step, journal=journal) as begin:
        playing = [begin(slot, earlier.get(index)) for index, slot in enumerate(slots)]
        return [await outcome for outcome in playing]


async def one_group(
    policy: DeskPolicy, flow: Literal["clean", "fault"], *subtypes: str, **options: Any
) -> EpisodeGroup:
    (outcome,) = await collect(collector_for(policy, subtypes, **options), [DeskSlot(flow)])
    assert isinstance(outcome, EpisodeGroup), outcome
    return outcome


def names(episode: Episode) -> list[str | None]:
    return [turn.call.name if turn.call else None for turn in episode.turns]
