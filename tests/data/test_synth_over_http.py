"""Synthetic tasks of every domain, hybrids included, played end to end over HTTP and in process: no difference."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial

import pytest
from aiohttp.test_utils import TestServer

from robustops.agent.policy import Sampling
from robustops.agent.scripted import ScriptedExpert
from robustops.core.episode import Episode
from robustops.core.task import Case, Task
from robustops.data.synth.generate import GENERATED, generate
from robustops.data.task_set import TaskSet
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_NAME
from robustops.gym.server import make_app
from robustops.gym.session import Gym
from robustops.gym.verify import verify
from robustops.rollout.play import Limits, play
from tests.data.chat import TextCodec

LIMITS = Limits(max_context_tokens=10_000, reserve_tokens=100, max_turns=40)
EMBEDDED = EmbeddedGym()


@pytest.fixture(scope="module")
def task_set(tmp_path_factory) -> TaskSet:
    root = tmp_path_factory.mktemp("synth")
    generate(root, domains=list(GENERATED), num_train=50, num_val=0, num_test=0, seed=5)
    return TaskSet.load(root)


async def played(gym: Gym, task_set: TaskSet, task: Task) -> Episode:
    async with gym.open(task) as session:
        return await play(
            session,
            ScriptedExpert(task_set.plans),
            TextCodec(),
            task,
            Case(task_id=task.task_id),
            limits=LIMITS,
            sampling=Sampling(),
            verify=partial(verify, judge=None),
            graph=task_set.graphs[task.task_id],
        )


def seen(episode: Episode) -> list[tuple[str, str, str]]:
    """What the model saw, and the hash of what it left behind, turn by turn."""
    return [
        (turn.shown.observation, turn.hash_before, turn.hash_after)
        for turn in episode.turns
        if turn.call is not None and turn.shown is not None
    ]


@pytest.mark.parametrize("domain", GENERATED)
async def test_a_task_ends_the_same_over_http_as_in_process(task_set, domain):
    task_ids = [entry.task_id for entry in task_set.split.entries.values() if entry.domain == domain][:2]
    assert task_ids
    for task in map(task_set.task, task_ids):
        async with AsyncExitStack() as stack:
            urls = {}
            for server in task.servers:
                app = make_app(BY_NAME[server.name].domain)
                running = await stack.enter_async_context(TestServer(app, host="127.0.0.1"))
                urls[server.name] = str(running.make_url(""))
            gym = HttpGym(urls)
            stack.push_async_callback(gym.close)
            over_http, in_process = await played(gym, task_set, task), await played(EMBEDDED, task_set, task)
        assert over_http.end.strict is True, (task.task_id, over_http.error)
        assert over_http.end == in_process.end
        assert over_http.boundary == in_process.boundary
        assert seen(over_http) == seen(in_process) != []
