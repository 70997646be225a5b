"""Find where a fault could strike, and let it strike: a clean pass in, checkpoints, then one recovery boundary out.

The clean pass takes a checkpoint before every call that some mechanism finds eligible. The selected call is replayed
from its checkpoint, first natively, which must repeat the clean pass to the letter, then with the fault. Where servers
have clocks of their own, the columns that these write are left out of the comparison.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from robustops.core.episode import Checkpoint, FaultPlan, ToolCall, Turn
from robustops.core.errors import GymError
from robustops.core.signature import call_signature
from robustops.faults.catalogue import kind_of
from robustops.faults.injector import Injector, eligible_subtypes
from robustops.faults.mechanism import Attempt, Origin
from robustops.faults.scheduler import Opportunity
from robustops.gym.session import Session, WallClocked
from robustops.rollout.play import Hooks
from robustops.rollout.score import read_key

SHOWN_CHARS = 40  # of each side of a difference


class ReplayRefused(GymError):
    """A checkpoint from which the clean pass does not repeat; the message is the difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One opportunity with what is needed to go back to it: the checkpoint before the call and the clean turn.

    `origin`: the state in which the episode began. `masked_after`: the hash after the call without volatile columns;
    empty where the servers have none.
    """

    opportunity: Opportunity
    checkpoint: Checkpoint
    clean: Turn
    origin: Origin
    masked_after: str = ""


class Scout(Hooks):
    """Watches one clean pass. Of several equal calls only the first is kept: a manifest strikes the first one too.

    For a permanent fault all calls of a tool are equal. `allowed`: (tool, subtype) pairs to look at; None for all.
    """

    def __init__(self, subtypes: Sequence[str], allowed: Collection[tuple[str, str]] | None = None) -> None:
        self.sightings: list[Sighting] = []
        self._allowed = allowed
        self._subtypes = tuple(subtypes)
        self._seen: set[tuple[str, str]] = set()
        self._before: Checkpoint | None = None
        self._origin: Origin | None = None

    async def before_call(self, session: Session, turns: tuple[Turn, ...]) -> None:
        keys = [key for key in map(read_key, turns) if key is not None]
        self._before = Checkpoint(
            turns=turns,
            database=await session.snapshot(),
            pending=turns[-1].call,
            read_history=tuple((key.signature, key.observation_sha, key.state_hash) for key in keys),
            state_hash=await session.state_hash(),
        )
        if self._origin is None:
            self._origin = Origin(database=self._before.database, state_hash=self._before.state_hash)

    async def after_call(self, session: Session, turn: Turn) -> None:
        before, tool = self._before, next((t for t in session.tools if turn.call and t.name == turn.call.name), None)
        if before is None or tool is None or turn.call is None or self._origin is None:
            return
        attempt = Attempt(
            tool=tool,
            arguments=turn.call.arguments,
            hash_before=before.state_hash,
            native=turn.native,
            hash_after=turn.hash_after,
            before=before.database,
            origin=self._origin,
        )
        signature = call_signature(turn.call.name, turn.call.arguments)
        targets = {
            subtype: tool.name if kind_of(subtype).is_permanent else signature
            for subtype in self._subtypes
            if self._allowed is None or (tool.name, subtype) in self._allowed
        }
        new = [subtype for subtype, target in targets.items() if (subtype, target) not in self._seen]
        found = await eligible_subtypes(attempt, session, new)
        if found:
            self._seen |= {(subtype, targets[subtype]) for subtype in found}
            offer = Opportunity(position=len(self.sightings), tool=tool.name, signature=signature, subtypes=found)
            masked = await session.masked_hash() if is_wall_clocked(session) else ""
            sighting = Sighting(
                opportunity=offer, checkpoint=before, clean=turn, origin=self._origin, masked_after=masked
            )
            self.sightings.append(sighting)


async def strike(session: Session, sighting: Sighting, plan: FaultPlan) -> Checkpoint:
    """Replay the selected call with the fault and return the recovery boundary.

    Raises ReplayRefused when the restored state, the native reply or the state after it differ from the clean pass.
    """
    checkpoint = sighting.checkpoint
    call = checkpoint.pending
    if call is None:
        raise ValueError("a sighting's checkpoint must have a pending call")
    await _restore(session, checkpoint)
    await _replay(session, sighting, call)
    await _restore(session, checkpoint)
    num_calls = sum(turn.call is not None for turn in checkpoint.turns[:-1])
    injector = Injector(session, plan, num_calls=num_calls, origin=sighting.origin)
    shown = await injector.call(call.name, call.arguments)
    if injector.last is None:
        raise ReplayRefused(f"{plan.subtype}: the replayed call {plan.signature} is no longer eligible")
    struck = replace(
        checkpoint.turns[-1],
        shown=shown,
        native=injector.last.native,
        fault=injector.last.event,
        hash_before=injector.last.event.hash_before,
        hash_after=injector.last.event.hash_after,
    )
    return replace(
        checkpoint,
        turns=(*checkpoint.turns[:-1], struck),
        database=await session.snapshot(),
        pending=None,
        state_hash=await session.state_hash(),
        plan=plan,
        remaining_cap=injector.remaining_cap,
        faults=tuple(injector.events),
    )


async def _restore(session: Session, checkpoint: Checkpoint) -> None:
    await session.restore(checkpoint.database)
    _require_equal("restored state", checkpoint.state_hash, await session.state_hash())


async def _replay(session: Session, sighting: Sighting, call: ToolCall) -> None:
    """Raises ReplayRefused where the native call does not do again what it did in the clean pass."""
    clean, replayed = sighting.clean.native, await session.call(call.name, call.arguments)
    if clean is None:
        raise ValueError("a sighting's clean turn must have a native reply")
    _require_equal("isError", str(clean.is_error), str(replayed.is_error))
    if is_wall_clocked(session):
        _require_equal("native reply", masked(clean.text, session.volatile), masked(replayed.text, session.volatile))
        _require_equal("state after the call", sighting.masked_after, await session.masked_hash())
    else:
        _require_equal("native reply", clean.observation, replayed.observation)
        _require_equal("state after the call", sighting.clean.hash_after, await session.state_hash())


def is_wall_clocked(session: Session) -> TypeGuard[WallClocked]:
    return isinstance(session, WallClocked) and bool(session.volatile)


def masked(text: str, volatile: Collection[str]) -> str:
    """A reply without what a clock wrote: JSON with those keys' values left out, in either spelling, or the text."""
    try:
        return json.dumps(_without(json.loads(text), {name.replace("_", "").lower() for name in volatile}))
    except json.JSONDecodeError:
        return text


def _without(value: Any, names: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_without(item, names) for item in value]
    if isinstance(value, dict):
        return {
            key: None if key.replace("_", "").lower() in names else _without(item, names) for key, item in value.items()
        }
    return value


def _require_equal(what: str, clean: str, replayed: str) -> None:
    if clean == replayed:
        return
    shorter = min(len(clean), len(replayed))
    at = next((index for index in range(shorter) if clean[index] != replayed[index]), shorter)
    shown = slice(max(0, at - SHOWN_CHARS // 2), at + SHOWN_CHARS)
    raise ReplayRefused(f"{what} differs at character {at}: clean {clean[shown]!r}, replayed {replayed[shown]!r}")
