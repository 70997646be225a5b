"""What every job with episodes needs: gym, codec, tasks, limits, verification. Names in, objects out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, cast

from robustops.agent.codec import Codec
from robustops.agent.policy import Policy, Sampling
from robustops.compose.completion import judge_of
from robustops.compose.environment import own_temporary_folder, secret_of, tool_snapshots
from robustops.compose.fault_policy import labels_of
from robustops.compose.tasks import graphs_for, open_task_set, select_tasks
from robustops.config import RunConfig
from robustops.config.preflight import tokenizer_folder
from robustops.core.errors import ConfigError
from robustops.core.task import Part, Task
from robustops.data.task_set import TaskSet
from robustops.faults.labels import Labels
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.ledger import Ledger
from robustops.gym.session import Gym
from robustops.gym.tool_snapshots import toolboxes
from robustops.gym.transport import Timeouts
from robustops.gym.verify import verify
from robustops.llm.judge import CompletionJudge
from robustops.rollout.play import Limits
from robustops.rollout.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The parts of one run that do not depend on the policy."""

    config: RunConfig
    gym: Gym
    codec: Codec
    task_set: TaskSet
    tasks: Mapping[str, Task]
    judge: CompletionJudge | None
    labels: Labels | None = None

    def setup(self, policy: Policy, *, temperature: float) -> Setup:
        config = self.config
        return Setup(
            gym=self.gym,
            policy=policy,
            codec=self.codec,
            verify=partial(verify, judge=self.judge),
            limits=limits_of(config),
            sampling=Sampling(temperature=temperature, max_tokens=config.engine.max_tokens_per_turn),
            seed=config.seed,
            graphs=self.task_set.graphs,
            labels=self.labels,
        )

    async def close(self) -> None:
        """Give connections back, when no session is open any more."""
        await self.gym.close()
        if self.judge is not None:
            await self.judge.completion.close()


def build_scene(config: RunConfig, part: Part) -> Scene:
    codec = build_codec(config)
    gym = build_gym(config)
    task_set = open_task_set(config)
    tasks = select_tasks(config, task_set, part, gym)
    return Scene(
        config=config,
        gym=gym,
        codec=codec,
        task_set=replace(task_set, graphs=graphs_for(config, tasks, task_set)),
        tasks=tasks,
        judge=judge_of(config),
        labels=labels_of(config, task_set),
    )


def build_codec(config: RunConfig) -> Codec:
    schema = cast(Literal["full", "compact"], config.model.tool_schema)
    return Codec.load(tokenizer_folder(config), tool_schema=schema)


def build_gym(config: RunConfig) -> Gym:
    gym = config.gym
    if gym.kind == "embedded":
        return EmbeddedGym(toolboxes=toolboxes(tool_snapshots(gym.tool_snapshots)))
    if gym.tool_snapshots is not None:
        raise ConfigError(f"gym.tool_snapshots: gym={gym.kind} shows what its servers answer; leave it out, or embed")
    ledger = None
    if gym.janitor_ttl_s is not None:
        ledger = Ledger(own_temporary_folder() / "databases", ttl_s=gym.janitor_ttl_s)
    return HttpGym(
        gym.urls,
        timeouts=Timeouts(seed_s=gym.timeouts.seed_s, call_s=gym.timeouts.call_s),
        pool=gym.pool,
        token=secret_of(gym.token_env, "gym.token_env"),
        ledger=ledger,
    )


def limits_of(config: RunConfig) -> Limits:
    return Limits(
        max_context_tokens=config.model.max_context_tokens,
        reserve_tokens=config.model.reserve_tokens,
        max_turns=config.model.max_turns,
        max_tokens_per_turn=min(config.engine.max_tokens_per_turn, config.model.reserve_tokens),
        call_timeout_s=config.gym.timeouts.call_s,
        episode_timeout_s=config.gym.timeouts.episode_s,
    )
