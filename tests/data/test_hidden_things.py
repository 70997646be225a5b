"""Canaries: what judges or solves a task reaches no prompt. Markers are planted, every prompt is searched."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from robustops.agent.plan import Plan, Step
from robustops.agent.policy import Policy, Prompt, Sample, Sampling
from robustops.agent.scripted import ScriptedExpert
from robustops.agent.views import ToolView
from robustops.core.episode import FaultPlan
from robustops.core.signature import call_signature
from robustops.core.task import Case, Check, Task
from robustops.data.synth.generate import generate
from robustops.data.task_set import TaskSet
from robustops.faults.injector import Injector
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify
from robustops.rollout.play import Limits, play
from tests.data.chat import TextCodec

CANARY = "canary0x7f"


@dataclass
class Recorder:
    """Hands every prompt on and keeps the text of what a model would be shown of it."""

    policy: Policy
    shown: list[str] = field(default_factory=list)

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        tools = [[tool.name, tool.description, dict(tool.input_schema)] for tool in prompt.tools]
        self.shown.append(json.dumps([list(prompt.messages), tools], default=str))
        return await self.policy.act(prompt, sampling)

    async def close(self) -> None:
        await self.policy.close()


def planted_task(task: Task) -> Task:
    """Markers in everything about the checks and in the labels of the task."""
    marked = [
        replace(check, name=f"{CANARY} name", query=f"{check.query} AND '{CANARY}' = '{CANARY}'", config={"x": CANARY})
        for check in task.checks
    ]
    extra = Check(index=len(marked), kind="database_state", name=CANARY, gym=None, query="SELECT 1", expected=CANARY)
    return replace(task, checks=(*marked, extra), template=CANARY, domain=CANARY)


def planted_plan(plan: Plan) -> Plan:
    """Markers in the plan's own words: the name of its last step, which nothing refers to."""
    *steps, last = plan.steps
    return replace(plan, steps=(*steps, replace(last, bind=CANARY)))


@pytest.mark.parametrize("view", ["full", "compact"])
async def test_checks_plans_and_fault_labels_reach_no_prompt(tmp_path, view: ToolView):
    generate(tmp_path, domains=["csm"], num_train=12, num_val=0, num_test=0, seed=2, num_rows=12)
    task_set, gym = TaskSet.load(tmp_path), EmbeddedGym()
    for task_id in task_set.split.select("train"):
        task = planted_task(task_set.task(task_id))
        plan = planted_plan(task_set.plans[task_id])
        recorder = Recorder(ScriptedExpert({task_id: plan}))
        first = plan.steps[0]
        fault = FaultPlan(subtype="throttled", tool=first.tool, signature=signature_of(first), cap=1, seed=0)
        async with gym.open(task) as session:
            episode = await play(
                Injector(session, fault),
                recorder,
                TextCodec(view=view),
                task,
                Case(task_id=task_id),
                limits=Limits(max_context_tokens=10_000, reserve_tokens=100),
                sampling=Sampling(),
                verify=partial(verify, judge=None),
            )
        assert episode.answer == "Done."
        assert episode.faults
        assert len(recorder.shown) == len(episode.turns) >= 4
        for shown in recorder.shown:
            assert task.request in shown
            assert not [word for word in (CANARY, "throttled", "SELECT", "read_back") if word in shown]


def signature_of(step: Step) -> str:
    """A first step has constants only."""
    return call_signature(step.tool, {name: argument.value for name, argument in step.arguments.items()})


async def test_the_search_finds_a_marker_that_is_shown(tmp_path):
    """The test above could not fail otherwise."""
    generate(tmp_path, domains=["csm"], num_train=1, num_val=0, num_test=0, seed=2, num_rows=12)
    task_set = TaskSet.load(tmp_path)
    task = replace(task_set.task("csm-train-00000"), request=CANARY)
    recorder = Recorder(ScriptedExpert(task_set.plans))
    async with EmbeddedGym().open(task) as session:
        await play(
            session,
            recorder,
            TextCodec(),
            task,
            Case(task_id=task.task_id),
            limits=Limits(max_context_tokens=10_000, reserve_tokens=100),
            sampling=Sampling(),
            verify=partial(verify, judge=None),
        )
    assert all(CANARY in shown for shown in recorder.shown)
