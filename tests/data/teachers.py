"""A small task set of three domains, and teachers for it that fail where a test wants them to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from robustops.agent.codec import Codec
from robustops.agent.policy import Policy, Prompt, Sample, Sampling
from robustops.agent.scripted import ScriptedExpert
from robustops.core.task import Task
from robustops.data.collect import Collection
from robustops.data.synth.generate import generate
from robustops.data.task_set import TaskSet
from robustops.faults.catalogue import subtypes_of
from robustops.faults.scheduler import Scheduler
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify
from robustops.rollout.play import Limits
from robustops.rollout.rows import RunIdentity
from robustops.rollout.setup import Setup

IDENTITY = RunIdentity(run="r", model="m", stage="teacher", split="train", seed=0, policy_mode="greedy")


@dataclass(frozen=True)
class Stage:
    root: Path
    task_set: TaskSet
    tasks: dict[str, Task]
    codec: Codec

    @property
    def expert(self) -> ScriptedExpert:
        return ScriptedExpert(self.task_set.plans, self.codec)

    def setup(self, policy: Policy) -> Setup:
        return Setup(
            gym=EmbeddedGym(),
            policy=policy,
            codec=self.codec,
            verify=partial(verify, judge=None),
            limits=Limits(max_context_tokens=40_000, reserve_tokens=600, max_turns=30, max_tokens_per_turn=600),
            sampling=Sampling(temperature=0.0),
            seed=1,
            graphs=self.task_set.graphs,
        )

    def collection(self, folder: Path, policy: Policy, **changes: Any) -> Collection:
        made = Collection(
            clean=self.setup(policy),
            fault=self.setup(policy),
            tasks=self.tasks,
            scheduler=Scheduler(subtypes=subtypes_of("train"), seed=0),
            identity=IDENTITY,
            folder=folder,
            concurrency=4,
        )
        return replace(made, **changes)


def build_stage(root: Path, chat: Path, num_tasks: int) -> Stage:
    generate(root, domains=["csm", "itsm", "hr"], num_train=num_tasks, num_val=0, num_test=0, seed=4, num_rows=12)
    task_set = TaskSet.load(root)
    tasks = {task.task_id: task for task in task_set.tasks(task_set.split.select("train"))}
    return Stage(root=root, task_set=task_set, tasks=tasks, codec=Codec.load(chat, tool_schema="compact"))


class Killed(BaseException):
    """As a signal does, it passes every handler of errors."""


@dataclass
class Watched:
    """The expert, but where `fails` says so it gives up at once. Keeps what it was asked: (case, turn, temperature)."""

    policy: Policy
    codec: Codec
    fails: Callable[[Prompt, Sampling], bool] = lambda prompt, sampling: False
    stop_after: int | None = None  # decisions after which the process is as good as killed
    asked: list[tuple[str, int, float]] = field(default_factory=list)

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise Killed
        self.asked.append((prompt.case_id, prompt.turn, sampling.temperature))
        if self.fails(prompt, sampling):
            ids = self.codec.encode_decision(call=None, content="No.")
            return Sample(token_ids=ids, logprobs=(), text="No.", finish="stop")
        return await self.policy.act(prompt, sampling)

    async def close(self) -> None:
        return None
