"""Extra episodes for coverage: cases whose planned fault never met its call are sampled again, within a bound.

Planned cases and their episodes in, extra cases and what became of them out. The original results stay as they are:
an extra episode is a row of its own, marked as supplemented.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from robustops.core.episode import Episode, FaultPlan
from robustops.core.task import Case
from robustops.rollout.concurrency import run_bounded
from robustops.rollout.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement:
    """`most`: extra samples of one case. `setup`: the run's, but sampling, for a greedy policy only repeats itself."""

    most: int
    setup: Setup

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ValueError(f"supplement: expected at least one extra sample, got {self.most}")


def extra_cases(cases: Sequence[Case], most: int) -> dict[str, tuple[Case, ...]]:
    """By planned fault case: its possible extra cases, attempts whose numbers come after all planned ones."""
    num_attempts = 1 + max((case.attempt for case in cases), default=0)
    return {
        case.case_id: tuple(
            replace(case, attempt=num_attempts + case.attempt * most + number) for number in range(most)
        )
        for case in cases
        if case.condition == "fault"
    }


async def sample_again(
    cases: Sequence[Case],
    extras: Mapping[str, Sequence[Case]],
    plans: Mapping[str, FaultPlan | None],
    written: Mapping[str, Episode],
    play: Callable[[Case, FaultPlan], Awaitable[Episode]],
    *,
    concurrency: int,
) -> None:
    """Play each missed case again until its fault is met or its extra cases are used up.

    `written`: what the folder holds; extra episodes of an earlier, interrupted run in it are not played again. `play`
    keeps what it plays.
    """
    missed = [case for case in cases if _is_missed(written.get(case.case_id), plans.get(case.case_id))]

    async def work(case: Case) -> None:
        plan = plans[case.case_id]
        assert plan is not None
        for extra in extras[case.case_id]:
            episode = written.get(extra.case_id)
            if episode is None or episode.is_spoilt:
                episode = await play(extra, plan)
            if episode.faults:
                return

    await run_bounded(missed, work, concurrency=concurrency)


def _is_missed(episode: Episode | None, plan: FaultPlan | None) -> bool:
    """A planned fault that the policy walked past; an episode that infrastructure ended says nothing."""
    if plan is None or episode is None or episode.is_spoilt:
        return False
    return not episode.faults
