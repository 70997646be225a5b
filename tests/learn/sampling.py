"""A small sampler, groups with and without a signal, and steps played on it, for tests of sampling."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from robustops.core.episode import Checkpoint
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.learn.slot import Selected, Slot
from robustops.rollout.groups import Flow
from robustops.rollout.score import Evidence, RewardWeights, Score

WEIGHTS = RewardWeights()
NO_EVIDENCE = Evidence(num_calls=0, bad=(), repeated_turns=())


def member(success: bool, progress: Fraction | int = 0, quality: Fraction | int = 0) -> Score:
    return Score(success=success, progress=Fraction(progress), quality=Fraction(quality), evidence=NO_EVIDENCE)


WON, LOST = member(True, 1, 1), member(False)
MIXED = [WON, LOST, LOST, LOST]
ALL_WON = [WON, WON, WON, member(True, 1, Fraction(1, 2))]
NO_SIGNAL = [LOST] * 4
SMALL = SamplerSettings(clean_groups=2, fault_groups=1, max_attempts=3, is_shuffled=False)


def boundary(name: str) -> Checkpoint:
    return Checkpoint(turns=(), database=name.encode(), state_hash=name)


def new_sampler(
    clean: Sequence[str] = "abcdef", fault: Sequence[str] = "uvwxyz", settings: SamplerSettings = SMALL
) -> Sampler:
    return Sampler({"clean": list(clean), "fault": list(fault)}, settings, weights=WEIGHTS)


def play(sampler: Sampler, slots: Sequence[Slot], outcomes: dict[str, list[Score]]) -> list[Slot]:
    """Decide on every slot (mixed unless told otherwise) and refill what was rejected, until nothing is open."""
    dispatched, pending = [], list(slots)
    while pending:
        dispatched += pending
        decisions = [
            sampler.accept(slot, outcomes.get(slot.task_id, MIXED), boundary=boundary(slot.task_id)) for slot in pending
        ]
        refilled = [sampler.refill(decision.slot) for decision in decisions if not decision.is_accepted]
        pending = [slot for slot in refilled if slot is not None]
    return dispatched


def run_step(
    sampler: Sampler, step: int, outcomes: dict[str, list[Score]] | None = None
) -> tuple[list[Slot], Selected]:
    dispatched = play(sampler, sampler.plan(step), outcomes or {})
    return dispatched, sampler.finish(step)


def ids(slots: Sequence[Slot], flow: Flow) -> list[str]:
    return [slot.task_id for slot in slots if slot.flow == flow]
