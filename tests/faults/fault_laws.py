"""What must hold after every call through an injector, whatever the domain, and whichever way the tools are reached."""

from collections.abc import Sequence
from typing import Any

from robustops.core.episode import FaultPlan, ToolResult
from robustops.core.signature import call_signature
from robustops.faults.catalogue import KINDS
from robustops.faults.injector import Injector

Call = tuple[str, dict[str, Any]]
NEVER_RUN = {"throttled", "unavailable", "permanent_outage", "schema_drift"}
TAKEN_BACK = {"timeout_not_committed", "silent_noop"}
READS = {"partial_list", "truncated_reply", "swapped_reply", "dropped_filter", "stale_read"}


def plan_for(subtype: str, call: Call, *, cap: int = 1, seed: int = 3, intensity: float | None = None) -> FaultPlan:
    name, arguments = call
    signature = call_signature(name, arguments)
    return FaultPlan(subtype=subtype, tool=name, signature=signature, cap=cap, seed=seed, intensity=intensity)


async def play_by_the_laws(session: Any, twin: Any, plan: FaultPlan, calls: Sequence[Call]) -> Injector:
    """Play `calls` on `session` through an injector and check each against `twin`, which plays clean from its state."""
    injector = Injector(session, plan)
    for index, (name, arguments) in enumerate(calls):
        await twin.restore(await session.snapshot())
        before = await session.state_hash()
        shown, native = await injector.call(name, arguments), await twin.call(name, arguments)
        after, clean = await session.state_hash(), await twin.state_hash()
        if injector.last is None:
            assert (_said(shown), after) == (_said(native), clean)
            continue
        event = injector.last.event
        assert (event.call_index, event.hash_before, event.hash_after) == (index, before, after)
        assert (event.native, event.shown) == ("" if plan.subtype in NEVER_RUN else native.text, shown.text)
        if KINDS[plan.subtype].is_permanent:
            assert name == plan.tool
        else:
            assert call_signature(name, arguments) == plan.signature
        check_state(plan.subtype, before=before, after=after, clean=clean)
        check_reply(plan.subtype, injector, native, shown)
    num_events = len(injector.events)
    assert num_events <= plan.cap
    assert injector.remaining_cap == plan.cap - num_events
    assert [event.remaining_cap for event in injector.events] == [plan.cap - n for n in range(1, num_events + 1)]
    return injector


def check_state(subtype: str, *, before: str, after: str, clean: str) -> None:
    """`clean`: the state after the same call without a fault."""
    if subtype == "lost_ack":
        assert before != after == clean
    elif subtype in TAKEN_BACK:
        assert before == after != clean
    elif subtype in READS:
        assert before == after == clean
    else:
        assert subtype in NEVER_RUN
        assert before == after


def check_reply(subtype: str, injector: Injector, native: ToolResult, shown: ToolResult) -> None:
    assert injector.last is not None
    if subtype in NEVER_RUN:
        assert injector.last.native is None
        assert (shown.is_error, shown.executed) == (True, False)
        return
    assert injector.last.native is not None
    assert _said(injector.last.native) == _said(native)
    assert not native.is_error
    assert (shown.text == native.text) == (subtype == "silent_noop")


def _said(reply: ToolResult) -> tuple[str, str, bool, bool]:
    """A reply without how long it took."""
    return reply.text, reply.observation, reply.is_error, reply.executed
