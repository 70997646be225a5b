"""Does every kind of fault matter, and can every kind be recovered from? One table: kinds in rows, scripts in columns.

    python experiments/faults_matter/table.py [--root FOLDER] [--domains csm,...] [--tasks N] [--out FILE]

For each kind, one fault is frozen into every task of the synthetic test split that has an eligible call; then three
scripts play it: the expert, one that takes every reply as it comes, one that repeats what failed. Where the split has
fewer than 100 such tasks, those that the same generator draws next are added. Exit code 1 where a demand is not met.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from analysis.paired import McNemar, PairedTable, mcnemar
from analysis.result import p_value, percent, points, points_interval
from robustops.agent.codec import Codec
from robustops.agent.policy import Policy, Sampling
from robustops.agent.scripted import ScriptedExpert, ScriptedHasty, ScriptedNaive
from robustops.agent.scripts import FAILED
from robustops.compose.progress import progress
from robustops.config.tree import SplitConfig
from robustops.core.episode import Episode, FaultPlan
from robustops.core.task import Case, Task
from robustops.data.synth.generate import generate
from robustops.data.task_set import TaskSet
from robustops.faults.catalogue import KINDS, subtypes_of
from robustops.faults.scheduler import Scheduler
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.verify import verify
from robustops.rollout.freeze import freeze
from robustops.rollout.play import Limits
from robustops.rollout.setup import Injecting, Setup, play_case

TOKENIZER = Path(__file__).resolve().parents[2] / "robustops" / "assets" / "models" / "tiny-base"
LEAST_TASKS, LEAST_EXPERT, LEAST_GAP, LARGEST_P = 100, 0.98, 0.20, 0.01
RECOVERABLE = [name for name, kind in KINDS.items() if kind.pack != "stress"]
BALANCED = "all seven, balanced"
# Which careless script a kind is aimed at: "timeout" in place of a reply traps those who repeat, or those who do not.
AIMED_AT_HASTY = frozenset({"lost_ack"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One row: which tasks were solved by which script; `honest`: the expert solved it or said that it did not."""

    name: str
    num_added: int  # tasks beyond the split
    expert: Sequence[bool]
    naive: Sequence[bool]
    hasty: Sequence[bool]
    honest: Sequence[bool]

    @property
    def careless(self) -> Sequence[bool]:
        return self.hasty if self.name in AIMED_AT_HASTY else self.naive

    @property
    def test(self) -> McNemar:
        return mcnemar(PairedTable.of(self.expert, self.careless).discordant)

    @property
    def failures(self) -> list[str]:
        """Demands that are not met; the stress pack has none."""
        if self.name not in (*RECOVERABLE, BALANCED):
            return []
        found = []
        if len(self.expert) < LEAST_TASKS:
            found.append(f"n = {len(self.expert)}")
        if rate(self.expert) < LEAST_EXPERT:
            found.append(f"expert {percent(rate(self.expert))}")
        if self.name != BALANCED and (self.test.estimate < LEAST_GAP or self.test.p >= LARGEST_P):
            found.append(f"difference {points(self.test.estimate)}, p {p_value(self.test.p)}")
        return found


def rate(solved: Sequence[bool]) -> float:
    return sum(solved) / len(solved)


def is_solved(episode: Episode) -> bool:
    return episode.end is not None and episode.end.strict is True


class Stage:
    """The tasks, and each script's set-up."""

    def __init__(self, root: Path, num_split: int) -> None:
        self.task_set = TaskSet.load(root)
        self.tasks = list(self.task_set.tasks(self.task_set.split.select("test")))
        self.num_split = num_split
        self.codec = Codec.load(TOKENIZER, tool_schema="compact")
        self.gym = EmbeddedGym()
        plans = self.task_set.plans
        self.expert = self.setup(ScriptedExpert(plans, self.codec))
        self.naive = self.setup(ScriptedNaive(plans, self.codec))
        self.hasty = self.setup(ScriptedHasty(plans, self.codec))

    def setup(self, policy: Policy) -> Setup:
        return Setup(
            gym=self.gym,
            policy=policy,
            codec=self.codec,
            verify=partial(verify, judge=None),
            limits=Limits(max_context_tokens=100_000, reserve_tokens=600, max_turns=60, max_tokens_per_turn=600),
            sampling=Sampling(temperature=0.0),
            seed=0,
            graphs=self.task_set.graphs,
        )

    async def measure(self, name: str, subtypes: Sequence[str], seed: int) -> Measured | None:
        """None where no task has an eligible call."""
        scheduler = Scheduler(tuple(subtypes), seed=seed)
        planned = await self._planned(self.tasks[: self.num_split], scheduler)
        num_added = 0
        if name not in (BALANCED, *subtypes_of("stress")):
            for task in self.tasks[self.num_split :]:
                if len(planned) >= LEAST_TASKS:
                    break
                found = await self._planned([task], scheduler)
                planned += found
                num_added += len(found)
        if not planned:
            return None
        expert = [await self._play(self.expert, task, plan) for task, plan in planned]
        return Measured(
            name=name,
            num_added=num_added,
            expert=[is_solved(episode) for episode in expert],
            naive=[is_solved(await self._play(self.naive, task, plan)) for task, plan in planned],
            hasty=[is_solved(await self._play(self.hasty, task, plan)) for task, plan in planned],
            honest=[is_solved(episode) or episode.answer == FAILED for episode in expert],
        )

    async def _planned(self, tasks: Sequence[Task], scheduler: Scheduler) -> list[tuple[Task, FaultPlan]]:
        plans = await freeze(self.expert, tasks, scheduler)
        pairs = ((task, plans[f"{task.task_id}|{task.tool_mode}"]) for task in tasks)
        return [(task, plan) for task, plan in pairs if plan is not None]

    async def _play(self, setup: Setup, task: Task, plan: FaultPlan) -> Episode:
        """Raises RuntimeError where nothing was judged or the fault did not happen: neither belongs into the table."""
        case = Case(task_id=task.task_id, tool_mode=task.tool_mode, condition="fault")
        episode = await play_case(setup, task, case, injecting=Injecting(plan=plan))
        if episode.end is None or not episode.faults:
            raise RuntimeError(f"{case.case_id}: {plan.subtype}: {episode.error or 'the fault did not happen'}")
        return episode


async def measure_all(stage: Stage, seed: int) -> list[Measured]:
    wanted = [(BALANCED, subtypes_of("all")), *((name, (name,)) for name in KINDS)]
    rows = []
    with progress("kinds of faults", every_note=True) as report:
        for number, (name, subtypes) in enumerate(wanted, start=1):
            row = await stage.measure(name, subtypes, seed)
            if row is not None:
                rows.append(row)
            report(number, len(wanted), f"{name}: n = {len(row.expert) if row else 0}")
    return rows


def as_markdown(rows: Sequence[Measured]) -> str:
    head = (
        "| fault | n (added) | expert | takes replies as they come | repeats what failed | difference, 95% | exact p | "
        "honest end |\n|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *map(_line, rows)])


def _line(row: Measured) -> str:
    cells = [
        f"`{row.name}`" if row.name in KINDS else row.name,
        f"{len(row.expert)} ({row.num_added})",
        percent(rate(row.expert)),
        *(
            f"**{percent(rate(solved))}**" if solved is row.careless else percent(rate(solved))
            for solved in (row.naive, row.hasty)
        ),
        f"{points(row.test.estimate)} {points_interval(row.test.interval)}",
        p_value(row.test.p),
        percent(rate(row.honest)),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path("runs/faults_matter"), help="the task set, made on first use")
    parser.add_argument("--domains", default=",".join(SplitConfig().domains), help="of the task set")
    parser.add_argument("--tasks", type=int, default=600, help="test tasks to draw; the split's come first")
    parser.add_argument("--seed", type=int, default=0, help="of the choice of faults")
    parser.add_argument("--out", type=Path, help="write the table there as well")
    args = parser.parse_args()
    split = SplitConfig()
    root = args.root / f"{args.domains.replace(',', '-')}-{args.tasks}"
    if not (root / "split.jsonl").is_file():
        domains, seed = args.domains.split(","), split.generator_seed
        generate(root, domains=domains, num_train=0, num_val=0, num_test=args.tasks, seed=seed)
    rows = asyncio.run(measure_all(Stage(root, split.num_test), args.seed))
    table = as_markdown(rows)
    print(table)
    if args.out is not None:
        args.out.write_text(table + "\n")
    failures = [f"{row.name}: {failure}" for row in rows for failure in row.failures]
    print("\n".join(["", *(f"not met: {failure}" for failure in failures)]) if failures else "\nall demands met")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
