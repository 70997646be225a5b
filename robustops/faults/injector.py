"""The injector: a Session around a Session that lets one planned fault happen, at most `cap` times.

A call reaches the native session untouched unless it matches the plan (its signature; for a permanent fault its tool)
and the mechanism finds it eligible by arguments, native reply and state; only then an event is consumed and recorded.
With no plan, every method hands through. Knows no agent and no task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from robustops.core.episode import FaultEvent, FaultPlan, ToolResult
from robustops.core.signature import call_signature
from robustops.core.task import ToolSchema
from robustops.faults.catalogue import Kind, kind_of
from robustops.faults.mechanism import Attempt, Draw, Mechanism, Origin
from robustops.gym.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """One call that was hit: what the tools said (None: they were never asked) and what happened."""

    native: ToolResult | None
    event: FaultEvent


class Injector:
    """`num_calls`, `remaining_cap` and `events` continue an episode from a recovery boundary.

    `origin`: the state in which the episode began, where `session` is no longer in it.
    """

    def __init__(
        self,
        session: Session,
        plan: FaultPlan | None,
        *,
        num_calls: int = 0,
        remaining_cap: int | None = None,
        events: Sequence[FaultEvent] = (),
        origin: Origin | None = None,
    ) -> None:
        self.tools: tuple[ToolSchema, ...] = session.tools
        self.plan = plan
        self.remaining_cap = remaining_cap if remaining_cap is not None else (plan.cap if plan is not None else 0)
        self.events: list[FaultEvent] = list(events)
        self.last: Injection | None = None  # of the latest call; None when the native reply was shown
        self._session = session
        self._num_calls = num_calls
        self._kind: Kind | None = kind_of(plan.subtype) if plan is not None else None
        self._origin = origin
        self._schemas = {tool.name: tool for tool in session.tools}

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        index, self._num_calls, self.last = self._num_calls, self._num_calls + 1, None
        await self._note_origin()
        mechanism = self._matching(name, arguments)
        if mechanism is None:
            return await self._session.call(name, arguments)
        attempt = Attempt(
            tool=self._schemas[name],
            arguments=arguments,
            hash_before=await self._session.state_hash(),
            before=await self._session.snapshot() if "before" in mechanism.needs else None,
            origin=self._origin,
        )
        if mechanism.executes:
            attempt = await executed(attempt, self._session)
        if not await mechanism.is_eligible(attempt, self._session):
            return attempt.native if attempt.native is not None else await self._native(attempt)
        shown = await mechanism.reply(attempt, self._session, self._draw())
        await self._record(attempt, shown, index)
        return shown

    async def _native(self, attempt: Attempt) -> ToolResult:
        assert self._kind is not None
        return await self._session.call(attempt.tool.name, self._kind.translate(attempt.tool, attempt.arguments))

    def _matching(self, name: str, arguments: Mapping[str, Any]) -> Mechanism | None:
        if self.plan is None or self._kind is None or self.remaining_cap <= 0 or name not in self._schemas:
            return None
        if self._kind.is_permanent:
            is_hit = name == self.plan.tool
        else:
            is_hit = call_signature(name, arguments) == self.plan.signature
        return self._kind.mechanism if is_hit else None

    async def _note_origin(self) -> None:
        """Before anything is changed or restored, for the mechanisms that look back."""
        if self._origin is None and self._kind is not None and "origin" in self._kind.mechanism.needs:
            self._origin = Origin(database=await self._session.snapshot(), state_hash=await self._session.state_hash())

    def _draw(self) -> Draw:
        assert self.plan is not None
        return Draw(rng=self._rng(), intensity=self.plan.intensity)

    def _rng(self) -> Random:
        """One generator per event, so that a checkpoint need not carry a generator's state."""
        assert self.plan is not None
        return Random(hashlib.sha256(f"{self.plan.seed}|{len(self.events)}".encode()).digest())

    async def _record(self, attempt: Attempt, shown: ToolResult, index: int) -> None:
        assert self.plan is not None
        self.remaining_cap -= 1
        event = FaultEvent(
            subtype=self.plan.subtype,
            call_index=index,
            native=attempt.native.text if attempt.native is not None else "",
            shown=shown.text,
            hash_before=attempt.hash_before,
            hash_after=await self._session.state_hash(),
            remaining_cap=self.remaining_cap,
        )
        self.events.append(event)
        self.last = Injection(native=attempt.native, event=event)

    async def query(self, sql: str, gym: str | None = None) -> Any:
        return await self._session.query(sql, gym)

    async def snapshot(self) -> bytes:
        return await self._session.snapshot()

    async def restore(self, snapshot: bytes) -> None:
        await self._note_origin()
        await self._session.restore(snapshot)

    async def state_hash(self) -> str:
        return await self._session.state_hash()

    async def close(self) -> None:
        await self._session.close()


async def executed(attempt: Attempt, session: Session) -> Attempt:
    """The attempt after its call ran natively."""
    native = await session.call(attempt.tool.name, attempt.arguments)
    return Attempt(
        tool=attempt.tool,
        arguments=attempt.arguments,
        hash_before=attempt.hash_before,
        native=native,
        hash_after=await session.state_hash(),
        before=attempt.before,
        origin=attempt.origin,
    )


async def eligible_subtypes(attempt: Attempt, session: Session, subtypes: Sequence[str]) -> tuple[str, ...]:
    """Which subtypes could have hit a call that has just run natively; the session stays as it is."""
    return tuple([subtype for subtype in subtypes if await kind_of(subtype).mechanism.is_eligible(attempt, session)])
