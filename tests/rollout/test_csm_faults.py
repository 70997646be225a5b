"""Every kind of fault on the real csm engine: it strikes, it keeps its promises, and it can be recovered from."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
from aiohttp.test_utils import TestServer
from csm_stage import CsmStage, build_stage
from desk_groups import collect

from robustops.agent.scripted import ScriptedExpert, ScriptedNaive
from robustops.core.episode import EpisodeGroup
from robustops.faults.catalogue import KINDS
from robustops.faults.manifest import read_manifest, write_manifest
from robustops.faults.scheduler import Scheduler
from robustops.gym.client import HttpGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.server import make_app
from robustops.rollout.evaluate import Evaluation, paired_cases
from robustops.rollout.freeze import freeze
from robustops.rollout.groups import GroupCollector
from robustops.rollout.rows import RunIdentity
from robustops.rollout.trajectory import read_trajectories

NUM_TASKS = 16
RECOVERABLE = sorted(name for name, kind in KINDS.items() if kind.pack != "stress")
IDENTITY = RunIdentity(run="r", model="expert", stage="teacher", split="test", seed=1, policy_mode="greedy")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> CsmStage:
    return build_stage(tmp_path_factory.mktemp("csm"), NUM_TASKS)


@pytest.mark.parametrize("subtype", RECOVERABLE)
async def test_the_expert_recovers_from_every_kind_of_fault(stage: CsmStage, tmp_path: Path, subtype: str) -> None:
    codec = stage.codec()
    setup = stage.setup(ScriptedExpert(stage.task_set.plans, codec), codec)
    plans = await freeze(setup, list(stage.tasks.values()), Scheduler((subtype,), seed=1))
    write_manifest(tmp_path / "m", plans, split="test", source="expert")
    manifest = read_manifest(tmp_path / "m", split="test", task_ids=stage.tasks)
    evaluation = Evaluation(
        setup=setup, tasks=stage.tasks, identity=IDENTITY, folder=tmp_path / "run", manifest=manifest
    )
    rows = await evaluation.run(paired_cases(list(stage.tasks.values())))
    assert len(rows) == 2 * NUM_TASKS
    faults = [row for row in rows if row.condition == "fault" and row.fault_planned]
    assert len(faults) >= NUM_TASKS // 4  # half of the templates read no list
    assert all(row.fault_hit for row in faults)
    assert all(row.success_strict and row.bad_calls == 0 for row in rows)
    for episode in read_trajectories(tmp_path / "run" / "trajectories.jsonl"):
        for turn in episode.turns:
            if turn.fault is None:
                continue
            assert turn.shown is not None
            assert turn.fault.subtype == subtype
            assert (turn.hash_before != turn.hash_after) == (subtype == "lost_ack")
            assert (turn.native is None) == (subtype in ("throttled", "unavailable"))
            assert json.loads(turn.shown.observation)["content"][0]["text"] == turn.shown.text


async def test_the_naive_agent_fails_where_the_expert_does_not(stage: CsmStage, tmp_path: Path) -> None:
    codec = stage.codec()
    expert = stage.setup(ScriptedExpert(stage.task_set.plans, codec), codec)
    plans = await freeze(expert, list(stage.tasks.values()), Scheduler(("throttled",), seed=1))
    write_manifest(tmp_path / "m", plans, split="test", source="expert")
    evaluation = Evaluation(
        setup=stage.setup(ScriptedNaive(stage.task_set.plans, codec), codec),
        tasks=stage.tasks,
        identity=IDENTITY,
        folder=tmp_path / "run",
        manifest=read_manifest(tmp_path / "m", split="test", task_ids=stage.tasks),
    )
    rows = await evaluation.run(paired_cases(list(stage.tasks.values())))
    solved = {
        condition: sum(row.success_strict is True for row in rows if row.condition == condition)
        for condition in ("clean", "fault")
    }
    assert solved == {"clean": NUM_TASKS, "fault": 0}


@dataclass(frozen=True)
class FaultSlot:
    task_id: str
    flow: Literal["fault"] = "fault"
    boundary: None = None


async def test_fault_groups_share_their_state_on_the_real_engine(stage: CsmStage) -> None:
    codec = stage.codec()
    setup = stage.setup(ScriptedExpert(stage.task_set.plans, codec), codec)
    collector = GroupCollector(setup, stage.tasks, Scheduler(("lost_ack", "partial_list"), seed=1))
    groups = await collect(collector, [FaultSlot(task_id) for task_id in stage.tasks])
    played = [group for group in groups if isinstance(group, EpisodeGroup)]
    assert len(played) >= NUM_TASKS // 2
    for group in played:
        assert group.boundary is not None
        for episode in group.episodes:
            first = next(turn for turn in episode.turns if turn.generated)
            assert first.call is None or first.hash_before == group.boundary.state_hash
            assert episode.end is not None
            assert episode.end.strict


async def test_members_of_a_group_start_equal_over_http(stage: CsmStage) -> None:
    codec = stage.codec()
    setup = stage.setup(ScriptedExpert(stage.task_set.plans, codec), codec)
    task_ids = list(stage.tasks)[:4]
    async with TestServer(make_app("csm"), host="127.0.0.1") as server:
        remote = HttpGym({BY_DOMAIN["csm"].name: str(server.make_url(""))})
        collector = GroupCollector(
            replace(setup, gym=remote), stage.tasks, Scheduler(("lost_ack", "swapped_reply"), seed=1)
        )
        groups = await collect(collector, [FaultSlot(task_id) for task_id in task_ids])
        await remote.close()
    assert [type(group) for group in groups] == [EpisodeGroup] * 4
    for group in groups:
        assert isinstance(group, EpisodeGroup)
        assert group.boundary is not None
        firsts = [next(turn for turn in episode.turns if turn.generated) for episode in group.episodes]
        assert {turn.hash_before for turn in firsts if turn.call} <= {group.boundary.state_hash}
        assert all(episode.end is not None and episode.end.strict for episode in group.episodes)


async def test_the_same_rows_come_over_http(stage: CsmStage, tmp_path: Path) -> None:
    """Snapshots there are dumps, sessions are seeded databases; what the agent meets is the same."""
    codec = stage.codec()
    setup = stage.setup(ScriptedExpert(stage.task_set.plans, codec), codec)
    tasks = dict(list(stage.tasks.items())[:4])
    results = []
    async with TestServer(make_app("csm"), host="127.0.0.1") as server:
        remote = HttpGym({BY_DOMAIN["csm"].name: str(server.make_url(""))})
        for number, gym in enumerate((stage.gym, remote)):
            evaluation = Evaluation(
                setup=replace(setup, gym=gym),
                tasks=tasks,
                identity=IDENTITY,
                folder=tmp_path / str(number),
                scheduler=Scheduler(("throttled", "lost_ack"), seed=1),
            )
            rows = await evaluation.run(paired_cases(list(tasks.values())))
            results.append([replace(row, wall_s=0.0) for row in rows])
        await remote.close()
    assert results[0] == results[1]
    assert sum(row.fault_hit for row in results[1]) == 4
