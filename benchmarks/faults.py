"""What the fault seam costs where no fault happens. Run: python benchmarks/faults.py [--pairs N]

A clean episode of the scripted expert on a synthetic csm task, checks included. A: on the bare session. B: the same
through an injector whose plan never matches, as fault cases are before and after their fault. B without a plan, as in
clean cases, is measured too. Both end with equal turns, which is checked.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from functools import partial
from pathlib import Path

from table import append_row, interleave

from robustops.agent.codec import Codec
from robustops.agent.policy import Sampling
from robustops.agent.scripted import ScriptedExpert
from robustops.core.episode import Episode, FaultPlan
from robustops.core.task import Case, Task
from robustops.data.synth.generate import generate
from robustops.data.task_set import TaskSet
from robustops.faults.injector import Injector
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.session import Session
from robustops.gym.verify import verify
from robustops.rollout.play import Limits
from robustops.rollout.setup import Setup, play_in

TOKENIZER = Path(__file__).resolve().parents[1] / "robustops" / "assets" / "models" / "tiny-base"
NUM_TASKS = 12
LIMIT = 1.05
UNMET = FaultPlan(subtype="throttled", tool="no_such_tool", signature="no_such_tool{}", cap=1, seed=0)


def setup_in(root: Path) -> tuple[Setup, list[Task]]:
    generate(root, domains=["csm"], num_train=0, num_val=0, num_test=NUM_TASKS, seed=7)
    task_set = TaskSet.load(root)
    codec = Codec.load(TOKENIZER, tool_schema="compact")
    setup = Setup(
        gym=EmbeddedGym(),
        policy=ScriptedExpert(task_set.plans, codec),
        codec=codec,
        verify=partial(verify, judge=None),
        limits=Limits(max_context_tokens=100_000, reserve_tokens=600, max_tokens_per_turn=600),
        sampling=Sampling(temperature=0.0),
        seed=0,
        graphs=task_set.graphs,
    )
    return setup, list(task_set.tasks(task_set.split.select("test")))


async def play_all(
    setup: Setup, tasks: list[Task], *, is_wrapped: bool, plan: FaultPlan | None = None
) -> list[Episode]:
    episodes = []
    for task in tasks:
        async with setup.gym.open(task) as bare:
            session: Session = Injector(bare, plan) if is_wrapped else bare
            episodes.append(await play_in(session, setup, task, Case(task_id=task.task_id)))
    return episodes


def said(episodes: list[Episode]) -> list[list[str]]:
    return [[turn.text, turn.shown.text if turn.shown else ""] for episode in episodes for turn in episode.turns]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40, help="interleaved measurements of each way")
    num_pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        setup, tasks = setup_in(Path(folder) / "set")

        def played(*, is_wrapped: bool, plan: FaultPlan | None = None) -> list[Episode]:
            return runner.run(play_all(setup, tasks, is_wrapped=is_wrapped, plan=plan))

        if not said(played(is_wrapped=False)) == said(played(is_wrapped=True, plan=UNMET)):
            raise RuntimeError("the wrapped episodes are not those of the bare session")
        bare = partial(played, is_wrapped=False)
        unmet = interleave(bare, partial(played, is_wrapped=True, plan=UNMET), num_pairs=num_pairs)
        without = interleave(bare, partial(played, is_wrapped=True), num_pairs=num_pairs)
        row = {
            "clean_episode_ms": round(unmet.a_ms / NUM_TASKS, 3),
            "ratio_with_unmet_plan": round(unmet.ratio, 4),
            "ratio_with_unmet_plan_quartiles": [round(value, 4) for value in unmet.ratio_quartiles],
            "ratio_without_plan": round(without.ratio, 4),
            "ratio_without_plan_quartiles": [round(value, 4) for value in without.ratio_quartiles],
            "limit": LIMIT,
            "pairs": num_pairs,
        }
    print(append_row("B10 faults", row, packages=("pydantic",)))
    if max(unmet.ratio, without.ratio) >= LIMIT:
        raise SystemExit(f"the seam costs more than {LIMIT - 1:.0%} of a clean episode")


if __name__ == "__main__":
    main()
