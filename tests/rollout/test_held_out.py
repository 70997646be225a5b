"""The held-out family stays out of training wherever a fault comes into being, and is alone where it is asked for."""

from pathlib import Path

import pytest
from csm_stage import CsmStage, build_stage
from desk_groups import collect
from test_csm_faults import FaultSlot

from robustops.agent.scripted import ScriptedExpert
from robustops.core.episode import EpisodeGroup
from robustops.faults.catalogue import KINDS, FaultPolicy, subtypes_of
from robustops.faults.manifest import read_manifest, write_manifest
from robustops.faults.scheduler import Scheduler
from robustops.rollout.freeze import freeze
from robustops.rollout.groups import GroupCollector
from robustops.rollout.setup import Setup

HELD_OUT = {name for name, kind in KINDS.items() if kind.family == "ignored_filter"}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> CsmStage:
    return build_stage(tmp_path_factory.mktemp("csm"), 24)


def setup_of(stage: CsmStage) -> Setup:
    codec = stage.codec()
    return stage.setup(ScriptedExpert(stage.task_set.plans, codec), codec)


async def opportunities(stage: CsmStage) -> int:
    """Tasks in which the held-out family could strike: without any, the tests below would say nothing."""
    plans = await freeze(setup_of(stage), list(stage.tasks.values()), Scheduler(tuple(HELD_OUT), seed=1))
    return sum(plan is not None for plan in plans.values())


async def test_the_collector_never_injects_it_in_training(stage: CsmStage) -> None:
    assert await opportunities(stage) >= 5
    collector = GroupCollector(setup_of(stage), stage.tasks, Scheduler(subtypes_of("train"), seed=1), group_size=2)
    groups = await collect(collector, [FaultSlot(task_id) for task_id in stage.tasks])
    events = [
        event.subtype
        for group in groups
        if isinstance(group, EpisodeGroup)
        for episode in group.episodes
        for event in episode.faults
    ]
    assert len(events) >= len(stage.tasks)
    assert set(events) & HELD_OUT == set()
    assert set(collector.scheduler.state()["counts"]) == set(subtypes_of("train"))


@pytest.mark.parametrize(("policy", "expected"), [("train", set(subtypes_of("train"))), ("heldout", HELD_OUT)])
async def test_a_manifest_holds_the_kinds_of_its_policy_alone(
    stage: CsmStage, tmp_path: Path, policy: FaultPolicy, expected: set[str]
) -> None:
    plans = await freeze(setup_of(stage), list(stage.tasks.values()), Scheduler(subtypes_of(policy), seed=1))
    write_manifest(tmp_path / "m", plans, split="test", source="expert")
    frozen = read_manifest(tmp_path / "m", split="test", task_ids=stage.tasks)
    assert {plan.subtype for plan in frozen.plans.values() if plan} == expected
