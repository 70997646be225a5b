"""Hidden things stay hidden: markers in checks, plans, manifests and labels, and every prompt of every policy searched.

Prompts are searched as the policy gets them: decoded tokens, messages, tools, and what goes over the wire to an API.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from csm_stage import CsmStage, build_stage
from desk_groups import collect

from robustops.agent.api import ApiPolicy
from robustops.agent.codec import Codec
from robustops.agent.plan import Plan
from robustops.agent.policy import Policy, Prompt, Sample, Sampling
from robustops.agent.scripted import ScriptedExpert, ScriptedNaive, next_decision
from robustops.agent.scripts import expert_decisions
from robustops.agent.views import ToolView
from robustops.core.episode import EpisodeGroup
from robustops.core.task import Task
from robustops.faults.catalogue import KINDS
from robustops.faults.labels import Labels
from robustops.faults.manifest import Manifest
from robustops.faults.scheduler import Scheduler
from robustops.llm.completion import Reply, RequestedCall
from robustops.rollout.evaluate import Evaluation, paired_cases
from robustops.rollout.freeze import freeze
from robustops.rollout.groups import GroupCollector
from robustops.rollout.rows import RunIdentity

MARK = "zqx7canary"
SEED_MARK = 1987654321  # a manifest's seed
# "unavailable" is an ordinary word that the reply itself uses; every other name of a kind or family is a label
LABELS = ({*KINDS} | {kind.family for kind in KINDS.values()}) - {"unavailable"}
FORBIDDEN = (MARK, str(SEED_MARK), "SELECT ", "|fault|", "|clean|", "read_back", *sorted(LABELS))
IDENTITY = RunIdentity(run="r", model="m", stage=MARK, split="test", seed=1, policy_mode=MARK)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> CsmStage:
    return build_stage(tmp_path_factory.mktemp("csm"), 6)


@dataclass
class Recorder:
    """Passes prompts on and keeps their text in every form."""

    policy: Policy
    codec: Codec
    seen: list[str] = field(default_factory=list)

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        tools = [[tool.name, tool.description, tool.input_schema, tool.output_schema] for tool in prompt.tools]
        self.seen.append(self.codec.decode(prompt.token_ids))
        self.seen.append(json.dumps([prompt.messages, tools], default=str))
        return await self.policy.act(prompt, sampling)

    async def close(self) -> None:
        await self.policy.close()


@dataclass
class ExpertEndpoint:
    """A completion that answers as the expert would and keeps what it was sent."""

    plans: dict[str, Plan]  # by request text
    seen: list[str] = field(default_factory=list)

    async def complete(self, messages: Sequence[Any], *, tools: Sequence[Any] = (), **settings: Any) -> Reply:
        self.seen.append(json.dumps([list(messages), list(tools), settings]))
        plan = self.plans[messages[1]["content"]]
        decision = next_decision(expert_decisions(plan), tuple(map(_with_parsed_arguments, messages)))
        if isinstance(decision, str):
            return Reply(text=decision)
        return Reply(
            text="", tool_calls=(RequestedCall(name=decision.name, arguments=json.dumps(dict(decision.arguments))),)
        )

    async def close(self) -> None:
        pass


def _with_parsed_arguments(message: dict[str, Any]) -> dict[str, Any]:
    if not message.get("tool_calls"):
        return message
    (call,) = message["tool_calls"]
    function = {**call["function"], "arguments": json.loads(call["function"]["arguments"])}
    return {**message, "tool_calls": [{**call, "function": function}]}


def planted(task: Task) -> Task:
    checks = tuple(
        replace(check, name=f"{MARK} {check.index}", query=f"{check.query} /* {MARK} */", config={"note": MARK})
        for check in task.checks
    )
    judged = replace(checks[0], index=len(checks), expected=MARK)
    return replace(task, checks=(*checks, judged), template=MARK, domain=MARK)


def planted_plan(plan: Plan) -> Plan:
    """The name of the last step, which nothing refers to, and nothing else of a plan is free."""
    return replace(plan, steps=(*plan.steps[:-1], replace(plan.steps[-1], bind=MARK)))


def found_in(texts: Sequence[str]) -> set[str]:
    return {word for word in FORBIDDEN for text in texts if word in text}


@pytest.mark.parametrize("view", ["full", "compact"])
@pytest.mark.parametrize("kind_of_policy", ["expert", "naive", "api"])
async def test_no_prompt_holds_a_hidden_thing(
    stage: CsmStage, tmp_path: Path, view: ToolView, kind_of_policy: str
) -> None:
    codec = stage.codec(view)
    tasks = {task_id: planted(task) for task_id, task in stage.tasks.items()}
    plans = {task_id: planted_plan(plan) for task_id, plan in stage.task_set.plans.items()}
    endpoint = ExpertEndpoint({task.request: plans[task_id] for task_id, task in tasks.items()})
    policies: dict[str, Policy] = {
        "expert": ScriptedExpert(plans, codec),
        "naive": ScriptedNaive(plans, codec),
        "api": ApiPolicy(endpoint, codec),
    }
    recorder = Recorder(policies[kind_of_policy], codec)
    pairs = {
        task_id: frozenset((tool, name) for tool in task.tools for name in KINDS) for task_id, task in tasks.items()
    }
    labels = Labels(sha256=MARK, allowed=pairs, where=MARK)
    setup = replace(stage.setup(recorder, codec), graphs={}, labels=labels)
    scheduler = Scheduler(tuple(KINDS), seed=1)
    frozen = await freeze(setup, list(tasks.values()), scheduler)
    marked = {key: replace(plan, seed=SEED_MARK) if plan else None for key, plan in frozen.items()}
    manifest = Manifest(split="test", sha256=MARK, plans=marked)
    rows = await Evaluation(
        setup=setup, tasks=tasks, identity=IDENTITY, folder=tmp_path / "run", manifest=manifest
    ).run(paired_cases(list(tasks.values())))
    assert sum(row.fault_hit for row in rows) == len(tasks)
    groups = await collect(GroupCollector(setup, tasks, scheduler), [FaultSlot(task_id) for task_id in tasks])
    assert any(isinstance(group, EpisodeGroup) for group in groups)
    assert len(recorder.seen) > 100
    assert found_in(recorder.seen + endpoint.seen) == set()
    assert bool(endpoint.seen) == (kind_of_policy == "api")


@dataclass(frozen=True)
class FaultSlot:
    task_id: str
    flow: Literal["fault"] = "fault"
    boundary: None = None


async def test_the_search_sees_what_is_in_a_prompt(stage: CsmStage, tmp_path: Path) -> None:
    """Without this, an empty search would pass as well."""
    codec = stage.codec()
    task_id, task = next(iter(stage.tasks.items()))
    shown = replace(task, policy=f"{MARK} lost_ack SELECT ")
    recorder = Recorder(ScriptedExpert(stage.task_set.plans, codec), codec)
    await Evaluation(
        setup=stage.setup(recorder, codec), tasks={task_id: shown}, identity=IDENTITY, folder=tmp_path / "run"
    ).run(paired_cases([shown], conditions=("clean",)))
    tokens, messages = recorder.seen[0::2], recorder.seen[1::2]
    for form in (tokens, messages):
        assert all(found_in([text]) == {MARK, "lost_ack", "SELECT "} for text in form)
