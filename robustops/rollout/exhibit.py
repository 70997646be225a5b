"""What faults could do to a task, without letting any stand: a task in, every call with every reply it might get out.

One clean pass; after each call it is played once more under each kind of fault, and the state is put back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from robustops.core.episode import Episode, FaultPlan, ToolCall, ToolResult, Turn
from robustops.core.signature import call_signature
from robustops.core.task import Case, Task
from robustops.faults.catalogue import kind_of
from robustops.faults.injector import Injector
from robustops.faults.mechanism import Origin
from robustops.gym.session import Session
from robustops.rollout.play import Hooks
from robustops.rollout.setup import Setup, play_in

Effect = Literal["nothing ran", "a read", "written", "taken back"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a fault would show of a call, and what would have become of the databases."""

    text: str
    is_error: bool
    effect: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One call of the clean pass. `faults`: by subtype; a subtype that could not hit this call is absent."""

    call: ToolCall
    native: ToolResult
    is_write: bool
    faults: Mapping[str, Shown]


class Showcase(Hooks):
    """Collects exhibits. `intensity` and `seed` as in a plan."""

    def __init__(self, subtypes: Sequence[str], *, seed: int, intensity: float | None = None) -> None:
        self.exhibits: list[Exhibit] = []
        self._subtypes = tuple(subtypes)
        self._plan = FaultPlan(subtype="", tool="", signature="", cap=1, seed=seed, intensity=intensity)
        self._before = b""
        self._origin: Origin | None = None

    async def before_call(self, session: Session, turns: tuple[Turn, ...]) -> None:
        self._before = await session.snapshot()
        if self._origin is None:
            self._origin = Origin(database=self._before, state_hash=await session.state_hash())

    async def after_call(self, session: Session, turn: Turn) -> None:
        if turn.call is None or turn.native is None:
            return
        after = await session.snapshot()
        faults = {}
        for subtype in self._subtypes:
            shown = await self._try(session, turn.call, subtype, turn)
            if shown is not None:
                faults[subtype] = shown
        await session.restore(after)
        is_write = turn.hash_before != turn.hash_after
        self.exhibits.append(Exhibit(call=turn.call, native=turn.native, is_write=is_write, faults=faults))

    async def _try(self, session: Session, call: ToolCall, subtype: str, clean: Turn) -> Shown | None:
        await session.restore(self._before)
        signature = call_signature(call.name, call.arguments)
        plan = replace(self._plan, subtype=subtype, tool=call.name, signature=signature)
        injector = Injector(session, plan, origin=self._origin)
        shown = await injector.call(call.name, call.arguments)
        if injector.last is None:
            return None
        event = injector.last.event
        effect: Effect = "a read"
        if not kind_of(subtype).mechanism.executes:
            effect = "nothing ran"
        elif event.hash_before != event.hash_after:
            effect = "written"
        elif clean.hash_before != clean.hash_after:
            effect = "taken back"
        return Shown(text=shown.text, is_error=shown.is_error, effect=effect)


async def exhibits_of(setup: Setup, task: Task, showcase: Showcase) -> Episode:
    """Play the task once; the showcase then holds its calls."""
    async with setup.gym.open(task) as session:
        case = Case(task_id=task.task_id, tool_mode=task.tool_mode)
        return await play_in(session, setup, task, case, hooks=showcase)
