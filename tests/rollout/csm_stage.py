"""The real thing, small: generated csm tasks on the embedded gym, the real codec, the scripted expert."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from robustops.agent.codec import Codec
from robustops.agent.policy import Policy, Sampling
from robustops.agent.views import ToolView
from robustops.core.task import Task
from robustops.data.synth.generate import generate
from robustops.data.task_set import TaskSet
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify
from robustops.rollout.play import Limits
from robustops.rollout.setup import Setup
from tests.agent.chat_folder import QWEN3_LIKE, write_chat_folder


@dataclass(frozen=True)
class CsmStage:
    task_set: TaskSet
    tasks: dict[str, Task]
    folder: Path
    gym: EmbeddedGym

    def codec(self, view: ToolView = "compact") -> Codec:
        return Codec.load(self.folder, tool_schema=view)

    def setup(self, policy: Policy, codec: Codec) -> Setup:
        return Setup(
            gym=self.gym,
            policy=policy,
            codec=codec,
            verify=partial(verify, judge=None),
            limits=Limits(max_context_tokens=40_000, reserve_tokens=600, max_turns=30, max_tokens_per_turn=600),
            sampling=Sampling(temperature=0.0),
            seed=1,
            graphs=self.task_set.graphs,
        )


def build_stage(root: Path, num_tasks: int) -> CsmStage:
    generate(root / "set", domains=["csm"], num_train=0, num_val=0, num_test=num_tasks, seed=4, num_rows=12)
    task_set = TaskSet.load(root / "set")
    tasks = {task.task_id: task for task in task_set.tasks(task_set.split.select("test"))}
    return CsmStage(
        task_set=task_set, tasks=tasks, folder=write_chat_folder(root / "chat", QWEN3_LIKE), gym=EmbeddedGym()
    )
