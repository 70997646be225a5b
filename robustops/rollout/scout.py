"""Find where a fault could strike, and let it strike: a clean pass in, checkpoints, then one recovery boundary out.

The clean pass takes a checkpoint before every call that some mechanism finds eligible. The selected call is replayed
from its checkpoint, first natively, which must repeat the clean pass to the letter, then with the fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robustops.core.episode import Checkpoint, FaultPlan, ToolResult, Turn
from robustops.core.errors import GymError
from robustops.core.signature import call_signature
from robustops.faults.catalogue import kind_of
from robustops.faults.injector import Injector, eligible_subtypes
from robustops.faults.mechanism import Attempt, Origin
from robustops.faults.scheduler import Opportunity
from robustops.gym.session import Session
from robustops.rollout.play import Hooks
from robustops.rollout.score import read_key

SHOWN_CHARS = 40  # of each side of a difference


class ReplayRefused(GymError):
    """A checkpoint from which the clean pass does not repeat; the message is the difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One opportunity with what is needed to go back to it: the checkpoint before the call and the clean turn.

    `origin`: the state in which the episode began.
    """

    opportunity: Opportunity
    checkpoint: Checkpoint
    clean: Turn
    origin: Origin


class Scout(Hooks):
    """Watches one clean pass. Of several equal calls only the first is kept: a manifest strikes the first one too.

    For a permanent fault all calls of a tool are equal.
    """

    def __init__(self, subtypes: Sequence[str]) -> None:
        self.sightings: list[Sighting] = []
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
        targets = {subtype: tool.name if kind_of(subtype).is_permanent else signature for subtype in self._subtypes}
        new = [subtype for subtype in self._subtypes if (subtype, targets[subtype]) not in self._seen]
        found = await eligible_subtypes(attempt, session, new)
        if found:
            self._seen |= {(subtype, targets[subtype]) for subtype in found}
            offer = Opportunity(position=len(self.sightings), tool=tool.name, signature=signature, subtypes=found)
            sighting = Sighting(opportunity=offer, checkpoint=before, clean=turn, origin=self._origin)
            self.sightings.append(sighting)


async def strike(session: Session, sighting: Sighting, plan: FaultPlan) -> Checkpoint:
    """Replay the selected call with the fault and return the recovery boundary.

    Raises ReplayRefused when the restored state, the native reply or the state after it differ from the clean pass.
    """
    checkpoint, clean = sighting.checkpoint, sighting.clean
    call = checkpoint.pending
    if call is None:
        raise ValueError("a sighting's checkpoint must have a pending call")
    await _restore(session, checkpoint)
    native = await session.call(call.name, call.arguments)
    _require_same_reply(clean.native, native)
    _require_equal("state after the call", clean.hash_after, await session.state_hash())
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


def _require_same_reply(clean: ToolResult | None, replayed: ToolResult) -> None:
    if clean is None:
        raise ValueError("a sighting's clean turn must have a native reply")
    _require_equal("isError", str(clean.is_error), str(replayed.is_error))
    _require_equal("native reply", clean.observation, replayed.observation)


def _require_equal(what: str, clean: str, replayed: str) -> None:
    if clean == replayed:
        return
    shorter = min(len(clean), len(replayed))
    at = next((index for index in range(shorter) if clean[index] != replayed[index]), shorter)
    shown = slice(max(0, at - SHOWN_CHARS // 2), at + SHOWN_CHARS)
    raise ReplayRefused(f"{what} differs at character {at}: clean {clean[shown]!r}, replayed {replayed[shown]!r}")
