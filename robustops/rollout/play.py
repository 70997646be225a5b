"""Play one episode: a session, a policy and a task in, an `Episode` out.

One tool call a turn. Malformed calls and unknown tools become error observations. Before each request the prompt and
the reserve must fit the context; history is never trimmed. Knows no vLLM, no trainer and no file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from robustops.agent.policy import Policy, Sample, Sampling
from robustops.core.episode import Checkpoint, Episode, StopReason, ToolCall, ToolResult, Turn, Verdict
from robustops.core.errors import GymError, GymTimeout, SnapshotUnsupported
from robustops.core.task import Case, CheckGraph, Task, ToolSchema
from robustops.faults.injector import Injector
from robustops.gym.session import Session
from robustops.rollout.boundary import Record, boundary
from robustops.rollout.dialogue import ChatCodec, Dialogue

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`reserve_tokens` must be free in the context before each request; `max_turns` counts inherited turns too."""

    max_context_tokens: int
    reserve_tokens: int
    max_turns: int = 50
    max_tokens_per_turn: int = 2048
    call_timeout_s: float = 60.0
    episode_timeout_s: float = 1800.0

    def __post_init__(self) -> None:
        if not 0 < self.reserve_tokens < self.max_context_tokens:
            raise ValueError(f"expected 0 < reserve_tokens < max_context_tokens, got {self}")
        if min(self.max_turns, self.max_tokens_per_turn, self.call_timeout_s, self.episode_timeout_s) <= 0:
            raise ValueError(f"limits must be positive, got {self}")


class Verify(Protocol):
    """robustops.gym.verify.verify with its judge bound."""

    async def __call__(
        self, session: Session, task: Task, *, graph: CheckGraph | None, calls: Sequence[ToolCall], answer: str
    ) -> Verdict: ...


class Hooks:
    """Watch an episode; both are awaited, and the session must be left as it is."""

    async def before_call(self, session: Session, turns: tuple[Turn, ...]) -> None:
        """The last turn has made its call, which has not run yet."""

    async def after_call(self, session: Session, turn: Turn) -> None:
        """The call has run; `turn` holds its reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where an episode begins; without a checkpoint, at the task's own start.

    `verdict`: of the boundary, where it is already known, so that members of a group share one.
    `is_own`: the inherited turns are this policy's own and count as generated.
    """

    checkpoint: Checkpoint | None = None
    verdict: Verdict | None = None
    is_own: bool = False


class _DeadlineReached(Exception):
    pass


def request_seed(seed: int, case_id: str, turn: int, member: int) -> int:
    """One request's seed, from what it is and not from when it runs."""
    digest = hashlib.sha256(f"{seed}|{case_id}|{turn}|{member}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


async def play(
    session: Session,
    policy: Policy,
    codec: ChatCodec,
    task: Task,
    case: Case,
    *,
    limits: Limits,
    sampling: Sampling,
    verify: Verify,
    graph: CheckGraph | None = None,
    start: Start | None = None,
    hooks: Hooks | None = None,
    seed: int | None = None,
    member: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> Episode:
    """Play to the end and verify; a failure of the gym or engine is an episode with `stop_reason="infrastructure"`.

    `session` may be an Injector: its injections are recorded. With `start` the session is restored to its database.
    `seed`: None keeps `sampling.seed` for every request.
    """
    record = Record(case=case, clock=clock)
    game = _Game(
        session=session,
        policy=policy,
        codec=codec,
        task=task,
        record=record,
        limits=limits,
        sampling=sampling,
        verify=verify,
        graph=graph,
        hooks=hooks or Hooks(),
        seed=seed,
        member=member,
    )
    return await boundary(record, lambda: game.run(start))


@dataclass(slots=True, kw_only=True)
class _Game:
    session: Session
    policy: Policy
    codec: ChatCodec
    task: Task
    record: Record
    limits: Limits
    sampling: Sampling
    verify: Verify
    graph: CheckGraph | None
    hooks: Hooks
    seed: int | None
    member: int
    answer: str = ""
    is_hashable: bool = True
    latest_hash: str = ""  # nothing but our own calls changes the state, and a remote hash is a dump

    async def run(self, start: Start | None) -> Episode:
        dialogue = Dialogue(self.codec, self.task, selected_tools(self.task, self.session.tools))
        if isinstance(self.session, Injector):
            self.record.plan, self.record.faults = self.session.plan, tuple(self.session.events)
        if start is not None and start.checkpoint is not None:
            await self._continue_from(start.checkpoint, start.is_own, dialogue)
        known = start.verdict if start is not None else None
        self.record.boundary = known if known is not None else await self._verdict()
        try:
            stop = await self._turns(dialogue)
        except _DeadlineReached:
            stop = "deadline"
        return Episode(
            case=self.record.case,
            turns=tuple(self.record.turns),
            boundary=self.record.boundary,
            end=await self._verdict(),
            stop_reason=stop,
            answer=self.answer,
            faults=self.record.faults,
            plan=self.record.plan,
            wall_s=self.record.wall_s,
        )

    async def _continue_from(self, checkpoint: Checkpoint, is_own: bool, dialogue: Dialogue) -> None:
        if checkpoint.pending is not None:
            raise ValueError(f"{self.record.case.case_id}: the checkpoint's pending call has not been replayed yet")
        await self.session.restore(checkpoint.database)
        found = await self._hash()
        if checkpoint.state_hash and found and found != checkpoint.state_hash:
            raise GymError(f"restored state hashes to {found[:12]}, the checkpoint says {checkpoint.state_hash[:12]}")
        for turn in checkpoint.turns:
            self.record.turns.append(replace(turn, generated=is_own))
            dialogue.advance(turn)

    async def _turns(self, dialogue: Dialogue) -> StopReason:
        while len(self.record.turns) < self.limits.max_turns:
            room = self.limits.max_context_tokens - dialogue.num_tokens
            if room < self.limits.reserve_tokens:
                return "context"
            turn, finish = await self._decide(dialogue, min(self.limits.max_tokens_per_turn, room))
            if finish == "length":
                self.record.turns.append(turn)
                return "length"
            if turn.call is None and turn.malformed is None:
                self.record.turns.append(turn)
                self.answer = self.codec.parse(turn.text).content
                return "stop"
            self.record.turns.append(turn)  # before the call: should the gym fail, the attempt is on record
            if turn.malformed is not None:
                turn = replace(turn, shown=malformed_reply(turn.malformed))
            elif turn.call is not None:
                turn = await self._execute(turn, turn.call)
            self.record.turns[-1] = turn
            dialogue.advance(turn)
        return "max_turns"

    async def _decide(self, dialogue: Dialogue, max_tokens: int) -> tuple[Turn, str]:
        index = len(self.record.turns)
        seed = self.sampling.seed
        if self.seed is not None:
            seed = request_seed(self.seed, self.record.case.case_id, index, self.member)
        sampling = replace(self.sampling, max_tokens=max_tokens, seed=seed)
        before_s = self.record.clock()
        sample = await self._in_time(self.policy.act(dialogue.prompt(self.record.case), sampling))
        return self._turn(sample, dialogue, self.record.clock() - before_s), sample.finish

    def _turn(self, sample: Sample, dialogue: Dialogue, policy_s: float) -> Turn:
        decision = self.codec.parse(sample.text)
        is_cut = sample.finish == "length"  # what was cut off is no call, however complete it looks
        return Turn(
            context_ids=dialogue.context_ids,
            sampled_ids=tuple(sample.token_ids),
            logprobs=tuple(sample.logprobs),
            weight_version=sample.weight_version,
            text=sample.text,
            call=None if is_cut else decision.call,
            malformed=decision.malformed,
            policy_s=policy_s,
            dropped_calls=sample.dropped_calls + decision.dropped_calls,
            cached_tokens=sample.cached_tokens,
            reasoning_tokens=sample.reasoning_tokens,
        )

    async def _execute(self, turn: Turn, call: ToolCall) -> Turn:
        await self.hooks.before_call(self.session, tuple(self.record.turns))
        hash_before = self.latest_hash or await self._hash()
        shown = await self._in_time(self.session.call(call.name, call.arguments), self.limits.call_timeout_s)
        hash_after = await self._hash()
        injection = self.session.last if isinstance(self.session, Injector) else None
        if injection is not None:
            self.record.faults = (*self.record.faults, injection.event)
        turn = replace(
            turn,
            shown=shown,
            native=shown if injection is None else injection.native,
            fault=injection.event if injection is not None else None,
            hash_before=hash_before,
            hash_after=hash_after,
        )
        await self.hooks.after_call(self.session, turn)
        return turn

    async def _in_time(self, work: Awaitable[T], limit_s: float | None = None) -> T:
        """Wait within the episode's deadline and, where given, a limit whose passing is the gym's fault."""
        left_s = max(0.0, self.limits.episode_timeout_s - self.record.wall_s)
        is_gym_late = limit_s is not None and limit_s < left_s
        try:
            async with asyncio.timeout(limit_s if is_gym_late else left_s) as scope:
                return await work
        except TimeoutError as error:
            if not scope.expired():
                raise
            if is_gym_late:
                raise GymTimeout(f"no reply within {limit_s:g} s") from error
            raise _DeadlineReached from error

    async def _hash(self) -> str:
        """Empty where the gym cannot tell: unknown, which is evidence of nothing."""
        if self.is_hashable:
            try:
                self.latest_hash = await self.session.state_hash()
            except SnapshotUnsupported:
                self.is_hashable, self.latest_hash = False, ""
        return self.latest_hash

    async def _verdict(self) -> Verdict:
        calls = executed_calls(self.record.turns)
        return await self.verify(self.session, self.task, graph=self.graph, calls=calls, answer=self.answer)


def executed_calls(turns: Iterable[Turn]) -> list[ToolCall]:
    """Those that reached the tools, as far as the policy was shown; what checks on calls look at."""
    return [turn.call for turn in turns if turn.call and turn.shown and turn.shown.executed]


def selected_tools(task: Task, tools: Sequence[ToolSchema]) -> tuple[ToolSchema, ...]:
    """The task's selection in the servers' order, as the benchmark offers it; without a selection, every tool."""
    return tuple(tool for tool in tools if not task.tools or tool.name in task.tools)


def malformed_reply(reason: str) -> ToolResult:
    text = json.dumps({"error": f"malformed tool call: {reason}"}, ensure_ascii=False)
    observation = json.dumps({"content": [{"type": "text", "text": text}], "isError": True})
    return ToolResult(text=text, observation=observation, is_error=True, executed=False)
