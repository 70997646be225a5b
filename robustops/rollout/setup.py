"""What stays the same between the episodes of one run, and how one episode is opened and played with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from robustops.agent.policy import Policy, Sampling
from robustops.core.episode import Checkpoint, Episode, FaultEvent, FaultPlan, ToolCall
from robustops.core.task import Case, CheckGraph, Task
from robustops.faults.injector import Injector
from robustops.faults.labels import Labels
from robustops.gym.session import Gym, Session
from robustops.rollout.boundary import Record, boundary
from robustops.rollout.damage import Authority, begin_audit
from robustops.rollout.dialogue import ChatCodec
from robustops.rollout.play import Hooks, Limits, Start, Verify, executed_calls, play


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """`graphs`: by task id; a task without one has no prerequisites. `seed`: root of all per-request seeds.

    `authority`: says what each task may change; without one, damage is unknown. `labels`: which kinds of faults to
    consider for which tools; without them, all for all.
    """

    gym: Gym
    policy: Policy
    codec: ChatCodec
    verify: Verify
    limits: Limits
    sampling: Sampling
    seed: int
    graphs: Mapping[str, CheckGraph] = field(default_factory=dict)
    authority: Authority | None = None
    labels: Labels | None = None

    def reseeded(self, seed: int) -> Setup:
        return replace(self, seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injecting:
    """A planned fault and how much of it has happened already."""

    plan: FaultPlan
    num_calls: int = 0
    remaining_cap: int | None = None
    events: tuple[FaultEvent, ...] = ()


async def play_case(
    setup: Setup,
    task: Task,
    case: Case,
    *,
    injecting: Injecting | None = None,
    start: Start | None = None,
    hooks: Hooks | None = None,
    member: int = 0,
) -> Episode:
    """Open a session of its own, play, close. A gym that cannot be opened is an infrastructure episode as well."""
    record = Record(case=case, plan=injecting.plan if injecting else None)

    async def body() -> Episode:
        async with setup.gym.open(task) as native:
            audit = await begin_audit(setup.authority, task, native)
            session: Session = native
            if injecting is not None:
                session = Injector(
                    native,
                    injecting.plan,
                    num_calls=injecting.num_calls,
                    remaining_cap=injecting.remaining_cap,
                    events=injecting.events,
                )
            episode = await play_in(session, setup, task, case, start=start, hooks=hooks, member=member)
            if audit is None or episode.is_spoilt:
                return episode
            return replace(episode, damage=await audit.finish(native))

    return await boundary(record, body)


async def play_in(
    session: Session,
    setup: Setup,
    task: Task,
    case: Case,
    *,
    start: Start | None = None,
    hooks: Hooks | None = None,
    member: int = 0,
) -> Episode:
    """Play in a session that is open already."""
    return await play(
        session,
        setup.policy,
        setup.codec,
        task,
        case,
        limits=setup.limits,
        sampling=setup.sampling,
        verify=setup.verify,
        graph=setup.graphs.get(task.task_id),
        start=start,
        hooks=hooks,
        seed=setup.seed,
        member=member,
    )


async def verify_start(setup: Setup, task: Task, case: Case, checkpoint: Checkpoint | None) -> Episode:
    """The checks at a group's start, once for all of its members, as an episode of no turn of its own."""
    record = Record(case=case)

    async def body() -> Episode:
        async with setup.gym.open(task) as session:
            calls: list[ToolCall] = []
            if checkpoint is not None:
                await session.restore(checkpoint.database)
                calls = executed_calls(checkpoint.turns)
            graph = setup.graphs.get(task.task_id)
            verdict = await setup.verify(session, task, graph=graph, calls=calls, answer="")
        return Episode(case=case, turns=(), boundary=verdict, end=verdict, stop_reason="stop", wall_s=record.wall_s)

    return await boundary(record, body)
