"""Labels and manifests that are shipped: what their commands make today, and for the task set that is shipped."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from robustops.agent.codec import Codec
from robustops.agent.policy import Sampling
from robustops.agent.scripted import ScriptedExpert
from robustops.core.listing import read_listing, set_name
from robustops.core.task import Part
from robustops.data.splits import SplitManifest
from robustops.data.synth.generate import generate
from robustops.data.task_set import COMMITTED_SPLIT, TaskSet
from robustops.faults.catalogue import FaultPolicy, subtypes_of
from robustops.faults.labels import label_row, read_labels
from robustops.faults.manifest import manifest_rows, read_manifest
from robustops.faults.scheduler import Scheduler
from robustops.faults.selector.rules import select_by_rules
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify
from robustops.rollout.freeze import freeze
from robustops.rollout.observe import observe
from robustops.rollout.play import Limits
from robustops.rollout.setup import Setup

ASSETS = Path(__file__).resolve().parents[2] / "robustops" / "assets"
NUM_TASKS = 12
PARTS: tuple[Part, ...] = ("val", "test")
POLICIES: tuple[FaultPolicy, ...] = ("train", "heldout", "all", "stress", "ood")
COMMITTED = SplitManifest.load(COMMITTED_SPLIT)


@dataclass(frozen=True)
class Stage:
    task_set: TaskSet
    setup: Setup


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The beginning of each part, as the default recipe draws it."""
    root = tmp_path_factory.mktemp("synthetic")
    generate(root, domains=["csm"], num_train=NUM_TASKS, num_val=NUM_TASKS, num_test=NUM_TASKS, seed=7)
    task_set = TaskSet.load(root)
    codec = Codec.load(ASSETS / "models" / "tiny-base", tool_schema="compact")
    setup = Setup(
        gym=EmbeddedGym(),
        policy=ScriptedExpert(task_set.plans, codec),
        codec=codec,
        verify=partial(verify, judge=None),
        limits=Limits(max_context_tokens=32_768, reserve_tokens=2048, max_turns=40),
        sampling=Sampling(temperature=0.0),
        seed=0,
        graphs=task_set.graphs,
    )
    return Stage(task_set=task_set, setup=setup)


async def test_shipped_labels_are_those_of_the_rules(stage: Stage) -> None:
    path = ASSETS / "labels" / "synthetic.jsonl"
    name = set_name("synthetic", COMMITTED.sha256)
    assert set(read_labels(path, split=name, task_ids=COMMITTED.entries).allowed) == set(COMMITTED.entries)
    shipped = {row["task_id"]: row for row in read_listing(path, kind="selector_labels")[1]}
    for task in stage.task_set.tasks(stage.task_set.split.entries):
        assert label_row(task.task_id, select_by_rules(await observe(stage.setup, task))) == shipped[task.task_id]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("policy", POLICIES)
async def test_shipped_manifests_begin_as_they_are_made_today(stage: Stage, part: Part, policy: FaultPolicy) -> None:
    path = ASSETS / "manifests" / f"synthetic-{part}-{policy}.jsonl"
    manifest = read_manifest(path, split=part, task_ids=COMMITTED.entries, set_sha256=COMMITTED.sha256)
    assert len(manifest.plans) == len(COMMITTED.select(part))
    assert {plan.subtype for plan in manifest.plans.values() if plan} <= set(subtypes_of(policy))
    tasks = stage.task_set.tasks(stage.task_set.split.select(part))
    plans = await freeze(stage.setup, tasks, Scheduler(subtypes_of(policy), seed=0))
    made = manifest_rows(plans)
    assert made == read_listing(path, kind="fault_manifest")[1][:NUM_TASKS]
    assert any(row["fault"] for row in made)
