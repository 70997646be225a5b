"""Filling one step: rejected places are refilled, and the batch is in dispatch order whatever finished first."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from bandit import BanditCollector, MirrorPolicy

from robustops.learn.collection import collect_step
from robustops.learn.journal import StepJournal
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.learn.step_metrics import sampled_metrics
from robustops.rollout.concurrency import first_failure
from robustops.rollout.groups import Rejection
from robustops.rollout.score import RewardWeights


class Refusing(BanditCollector):
    """Gives up the slots of some tasks, for the reason that the test names."""

    def __init__(self, reasons: dict[str, str]) -> None:
        super().__init__(MirrorPolicy())
        self.reasons = reasons

    async def outcome(self, slot, step):
        if slot.task_id in self.reasons:
            return Rejection(task_id=slot.task_id, flow=slot.flow, reason=self.reasons[slot.task_id])
        return await super().outcome(slot, step)


def sampler(**settings) -> Sampler:
    given = SamplerSettings(clean_groups=2, fault_groups=2, is_shuffled=False, **settings)
    task_ids = {flow: [f"{flow}-{i}" for i in range(12)] for flow in ("clean", "fault")}
    return Sampler(task_ids, given, weights=RewardWeights())


async def fill(tmp_path, collector, places: Sampler, step: int = 0, recorded: list | None = None):
    seen = [] if recorded is None else recorded
    return await collect_step(
        places,
        collector,
        step,
        journal=StepJournal(tmp_path, step, "w"),
        kept={},
        record=lambda slot, outcome: seen.append((slot.task_id, type(outcome).__name__)),
    )


class OneWaitsForARefill(Refusing):
    """Plays all at once; the group of clean-1 ends when a case has been begun in a rejected one's place."""

    @asynccontextmanager
    async def playing(self, *, step, journal):
        is_refilled = asyncio.Event()

        async def play(slot):
            if slot.task_id == "clean-1":
                await is_refilled.wait()
            return await self.outcome(slot, step)

        def begin(slot, known):
            if slot.attempt:
                is_refilled.set()
            return tasks.create_task(play(slot))

        async with asyncio.timeout(20), first_failure() as tasks:
            yield begin


async def test_a_rejected_place_is_filled_while_others_are_still_played(tmp_path):
    found = await fill(tmp_path, OneWaitsForARefill({"clean-0": "no_opportunity"}), sampler())
    assert [slot.task_id for slot in found.selected.slots] == ["clean-1", "fault-0", "fault-1", "clean-2"]
    assert found.num_played == 5


@pytest.mark.parametrize("reason", ["no_opportunity", "infrastructure"])
async def test_a_refused_slot_is_given_to_another_case(tmp_path, reason):
    recorded: list = []
    found = await fill(tmp_path, Refusing({"fault-0": reason}), sampler(), recorded=recorded)
    assert found.selected.counts[f"fault/{reason}"] == 1
    assert len(found.groups) == 4
    assert ("fault-0", "Rejection") in recorded
    assert "fault-0" not in {group.episodes[0].case.task_id for group in found.groups}


async def test_groups_are_in_the_order_of_dispatch(tmp_path):
    found = await fill(tmp_path, Refusing({"clean-0": "no_opportunity"}), sampler())
    assert [group.group_id for group in found.groups] == [slot.slot_id for slot in found.selected.slots]
    dispatch = [slot.dispatch for slot in found.selected.slots]
    assert dispatch == sorted(dispatch)


async def test_the_mean_reward_is_over_all_played_groups_not_the_accepted_ones(tmp_path):
    everything_passes = BanditCollector(MirrorPolicy(), bar=1000)
    found = await fill(tmp_path, everything_passes, sampler(max_attempts=2))
    assert found.groups == ()
    assert found.selected.counts == {"clean/all_success": 4, "fault/all_success": 4}
    metrics = sampled_metrics(found.played, RewardWeights())
    assert metrics["reward/mean"] == pytest.approx(1.4)
    assert metrics["reward/success_share"] == 1.0


async def test_groups_from_the_journal_are_counted_and_recorded_again_but_not_played(tmp_path):
    first, once = BanditCollector(MirrorPolicy()), []
    whole = await fill(tmp_path, first, sampler(), recorded=once)
    second, recorded = BanditCollector(MirrorPolicy()), []
    again = await fill(tmp_path, second, sampler(), recorded=recorded)
    assert again.groups == whole.groups
    assert second.played == []
    assert sorted(recorded) == sorted(once)  # a kill may have come between the journal and the record
    assert second.counted == first.played
    assert (again.num_played, again.num_reused) == (0, len(first.played))
