"""Synthetic tasks on the embedded gym: unsolved at the start, solved by the expert's plan, with and without faults."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from robustops.agent.plan import Plan
from robustops.agent.policy import Policy, Sampling
from robustops.agent.scripted import ScriptedExpert, ScriptedNaive
from robustops.core.episode import Episode, FaultPlan
from robustops.core.signature import call_signature
from robustops.core.task import Case, Task
from robustops.data.synth.draft import Template
from robustops.data.synth.generate import DOMAINS, GENERATED, TASKS_PER_WORLD, SynthTask, draw, generate, write_task_set
from robustops.data.synth.world import World, sql_of
from robustops.data.task_set import TaskSet
from robustops.data.tasks import domains_of
from robustops.data.tool_modes import with_distractors
from robustops.faults.catalogue import KINDS
from robustops.faults.injector import Injector
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.session import Session
from robustops.gym.verify import verify
from robustops.rollout.play import Limits, play
from tests.data.chat import TextCodec

LIMITS = Limits(max_context_tokens=10_000, reserve_tokens=100, max_turns=40)
GYM = EmbeddedGym()


@pytest.fixture(scope="module")
def task_set(tmp_path_factory) -> TaskSet:
    root = tmp_path_factory.mktemp("synth")
    size = sum(len(domain.templates) for domain in GENERATED.values())
    generate(root, domains=list(GENERATED), num_train=2 * size, num_val=size, num_test=2 * size, seed=11)
    return TaskSet.load(root)


async def play_task(
    task_set: TaskSet, task: Task, policy: Policy, *, codec: TextCodec | None = None, fault: FaultPlan | None = None
) -> Episode:
    async with GYM.open(task) as session:
        return await play_on(session if fault is None else Injector(session, fault), task_set, task, policy, codec)


async def play_on(
    session: Session, task_set: TaskSet, task: Task, policy: Policy, codec: TextCodec | None = None
) -> Episode:
    return await play(
        session,
        policy,
        codec or TextCodec(),
        task,
        Case(task_id=task.task_id),
        limits=LIMITS,
        sampling=Sampling(),
        verify=partial(verify, judge=None),
        graph=task_set.graphs[task.task_id],
    )


def names_of(episode: Episode) -> list[str]:
    return [turn.call.name for turn in episode.turns if turn.call is not None]


@pytest.mark.parametrize("domain", GENERATED)
async def test_every_task_is_unsolved_at_first_and_solved_by_its_plan(task_set, domain):
    num_played = 0
    for entry in task_set.split.entries.values():
        if entry.domain != domain:
            continue
        task = task_set.task(entry.task_id)
        episode = await play_task(task_set, task, ScriptedExpert(task_set.plans))
        assert (episode.stop_reason, episode.answer) == ("stop", "Done."), (task.task_id, episode.error)
        assert episode.boundary.strict is False, task.task_id
        assert episode.end.strict is True, (task.task_id, [c for c in episode.end.checks if not c.passed])
        assert any(check.passed for check in episode.boundary.checks), (
            f"{task.task_id} has no check that holds at first"
        )
        assert 2 <= len(names_of(episode)) <= 5
        assert all(turn.native is not None and not turn.native.is_error for turn in episode.turns[:-1])
        num_played += 1
    assert num_played == 5 * len(GENERATED[domain].templates)


@pytest.mark.parametrize("domain", GENERATED)
async def test_who_also_does_another_task_of_the_same_kind_has_changed_too_much(domain, tmp_path):
    """The guards of every template: what a second task writes in the same database is not what the first asked for."""
    drawn: list[SynthTask] = []
    for template in GENERATED[domain].templates:
        alone = replace(GENERATED[domain], templates=(replace(template, held_out=False),))
        one, *others = draw(alone, "train", TASKS_PER_WORLD, seed=3)
        shared = [len(set(one.draft.slots.values()) & set(other.draft.slots.values())) for other in others]
        pair = (one, others[shared.index(min(shared))])
        drawn += [replace(task, task_id=f"{template.name}-{place}") for place, task in enumerate(pair)]
    write_task_set(tmp_path, drawn, source="two tasks a template")
    made = TaskSet.load(tmp_path)
    for asked, other in zip(drawn[::2], drawn[1::2], strict=True):
        task = made.task(asked.task_id)
        async with GYM.open(task) as session:
            for name, is_solved in ((asked.task_id, True), (other.task_id, False)):
                expert = ScriptedExpert({task.task_id: made.plans[name]})
                episode = await play_on(session, made, task, expert)
                assert (episode.answer, episode.end.strict) == ("Done.", is_solved), (name, other.draft.slots)


@pytest.mark.parametrize("mode", ["plus5", "plus10", "plus15"])
@pytest.mark.parametrize("domain", GENERATED)
async def test_a_task_is_solved_among_unselected_tools_of_its_domains(task_set, domain, mode):
    task = next(task_set.task(e.task_id) for e in task_set.split.entries.values() if e.domain == domain)
    names = [tool.name for name in domains_of(task) for tool in await GYM.catalogue(name)]
    wider = with_distractors(task, mode, names)
    assert len(set(wider.tools)) == len(task.tools) + int(mode.removeprefix("plus"))
    async with GYM.open(wider) as session:
        assert {tool.name for tool in session.tools} == set(wider.tools)
    assert (await play_task(task_set, wider, ScriptedExpert(task_set.plans))).end.strict is True


async def test_full_and_compact_views_lead_to_the_same_calls(task_set):
    for task_id in task_set.split.select("train", limit=16):
        task = task_set.task(task_id)
        compact, full = [
            await play_task(task_set, task, ScriptedExpert(task_set.plans), codec=TextCodec(view=view))
            for view in ("compact", "full")
        ]
        assert [turn.text for turn in compact.turns] == [turn.text for turn in full.turns]


@pytest.mark.parametrize("subtype", [name for name, kind in KINDS.items() if kind.pack != "stress"])
async def test_the_expert_solves_every_template_under_every_fault_that_can_hit_it(task_set, subtype):
    """Each call of one task a template is hit in turn, as often as the fault's cap allows."""
    by_template = {entry.template: entry.task_id for entry in task_set.split.entries.values()}
    num_hit = 0
    for task_id in by_template.values():
        task, expert = task_set.task(task_id), ScriptedExpert(task_set.plans)
        for turn in (await play_task(task_set, task, expert)).turns[:-1]:
            signature = call_signature(turn.call.name, turn.call.arguments)
            cap = KINDS[subtype].caps.high
            plan = FaultPlan(subtype=subtype, tool=turn.call.name, signature=signature, cap=cap, seed=5)
            episode = await play_task(task_set, task, expert, fault=plan)
            num_hit += bool(episode.faults)
            assert episode.end.strict is True, (task.template, turn.call, names_of(episode), episode.answer)
    assert num_hit >= 3


async def test_recovery_makes_the_difference(task_set):
    """A list cut short, an update turned away and a lost creation each defeat the script that does not recover."""
    by_template = {entry.template: entry.task_id for entry in task_set.split.entries.values()}
    for template, tool, subtype in (
        ("csm_unit_status", "update_installed_product_details", "throttled"),
        ("csm_case_notify", "create_new_case", "lost_ack"),
        ("csm_account_domain", "find_account", "truncated_reply"),
    ):
        task = task_set.task(by_template[template])
        clean = await play_task(task_set, task, ScriptedNaive(task_set.plans))
        assert clean.end.strict is True
        (hit,) = [turn.call for turn in clean.turns[:-1] if turn.call.name == tool]
        plan = FaultPlan(subtype=subtype, tool=tool, signature=call_signature(hit.name, hit.arguments), cap=1, seed=1)
        naive = await play_task(task_set, task, ScriptedNaive(task_set.plans), fault=plan)
        expert = await play_task(task_set, task, ScriptedExpert(task_set.plans), fault=plan)
        assert naive.faults
        assert expert.faults
        assert (naive.end.strict, expert.end.strict) == (False, True)


async def test_a_probe_that_was_not_committed_is_repeated_after_the_read_back(task_set):
    """`timeout_not_committed`: the same words as `lost_ack`, and the write is missing."""
    (task_id,) = [e.task_id for e in task_set.split.entries.values() if e.template == "csm_unit_status"][:1]
    task, expert = task_set.task(task_id), ScriptedExpert(task_set.plans)
    update = (await play_task(task_set, task, expert)).turns[1].call
    signature = call_signature(update.name, update.arguments)
    back = ["find_installed_product_by_serial", update.name, "retrieve_installed_products"]
    for subtype, calls in (("lost_ack", back), ("timeout_not_committed", [*back, update.name])):
        plan = FaultPlan(subtype=subtype, tool=update.name, signature=signature, cap=1, seed=1)
        assert names_of(await play_task(task_set, task, expert, fault=plan)) == calls


def remapped(world: World) -> World:
    """The same world under other ids: n becomes 9,900 - n in every key and reference."""
    columns = {*world.key_columns.values(), "portal_user_id", "assigned_to", "assignment_group_id"}
    tables = {
        table: [{k: other(v) if k in columns and v is not None else v for k, v in row.items()} for row in rows]
        for table, rows in world.tables.items()
    }
    return replace(world, tables=tables)


def other(number: int) -> int:
    return 9_900 - number


def csm_templates() -> tuple[Template, ...]:
    return DOMAINS["csm"].templates


@pytest.mark.parametrize("template", csm_templates(), ids=lambda template: template.name)
async def test_other_ids_in_the_database_change_nothing_but_ids_in_the_calls(template, tmp_path, task_set):
    world = DOMAINS["csm"].build("test", Random(f"remap {template.name}"), 24)
    draft = next(filter(None, (template.draw(world, Random(k)) for k in range(200))))
    known = {row[key] for table, key in world.key_columns.items() for row in world.tables[table]}
    calls = []
    for name, version in (("a", world), ("b", remapped(world))):
        (tmp_path / f"{name}.sql").write_text(sql_of(version))
        model = task_set.task(task_set.split.select("test")[0])
        server = replace(model.servers[0], seed_file=f"{name}.sql", context=world.context)
        tools = Plan(task_id="t", steps=draft.steps).tools
        task = replace(model, servers=(server,), seed_root=str(tmp_path), tools=tools, checks=())
        expert = ScriptedExpert({task.task_id: Plan(task_id=task.task_id, steps=draft.steps)})
        async with GYM.open(task) as session:
            episode = await play(
                session,
                expert,
                TextCodec(),
                task,
                Case(task_id=task.task_id),
                limits=LIMITS,
                sampling=Sampling(),
                verify=partial(verify, judge=None),
            )
        assert episode.answer == "Done."
        calls.append([turn.call for turn in episode.turns[:-1]])
    assert len(calls[0]) == len(calls[1]) == len(draft.steps)
    for one, two in zip(*calls, strict=True):
        assert (one.name, list(one.arguments)) == (two.name, list(two.arguments))
        for key in one.arguments:
            is_id = key.endswith("_id") and one.arguments[key] in known
            is_new = key.endswith("_id") and not is_id  # made by an earlier step: the next free number of its database
            if is_id:
                assert two.arguments[key] == other(one.arguments[key])
            elif not is_new:
                assert two.arguments[key] == one.arguments[key]


async def test_a_tool_of_both_servers_goes_to_the_first_of_the_task(task_set):
    """csm and hr both have `send_notification`; which of them a call reaches follows from the task's order alone."""
    entry = next(e for e in task_set.split.entries.values() if e.template == "hybrid_tell_colleague")
    task = task_set.task(entry.task_id)
    assert [server.name for server in task.servers] == ["sn-csm-server", "sn-hr-internal"]
    solved = await play_task(task_set, task, ScriptedExpert(task_set.plans))
    assert solved.end.strict is True
    turned = replace(task, servers=task.servers[::-1])
    episode = await play_task(task_set, turned, ScriptedExpert(task_set.plans))
    assert episode.end.strict is False
    notify = next(turn for turn in episode.turns if turn.call is not None and turn.call.name == "send_notification")
    assert notify.native.is_error or "case_id" not in notify.native.text
