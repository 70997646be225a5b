"""Two hundred steps with synthetic outcomes, checked by an observer that keeps its own books."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from robustops.core.episode import Checkpoint
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.learn.slot import Decision, Slot
from robustops.rollout.groups import Flow
from robustops.rollout.score import Evidence, RewardWeights, Score

NUM_STEPS = 200
DELAY = 10
SETTINGS = SamplerSettings(clean_groups=16, fault_groups=16, delay_steps=DELAY, max_attempts=4, seed=5)
TASKS: dict[Flow, list[str]] = {
    "clean": [f"task{n}" for n in range(150)],
    "fault": [f"task{n}" for n in range(150)],
}
NO_EVIDENCE = Evidence(num_calls=0, bad=(), repeated_turns=())


def member(success: bool, progress: Fraction) -> Score:
    return Score(success=success, progress=progress, quality=Fraction(0), evidence=NO_EVIDENCE)


def outcome(slot: Slot) -> str:
    """Fixed by case and step alone, so that a resumed run meets the same world."""
    rng = random.Random(f"{slot.flow} {slot.task_id} {slot.step}")
    return rng.choices(["accepted", "all_success", "zero_signal", "infrastructure", "no_opportunity"], [9, 4, 5, 1, 1])[
        0
    ]


def boundary_of(slot: Slot) -> Checkpoint:
    name = f"{slot.task_id}@{slot.queued_step if slot.boundary else slot.step}"
    return slot.boundary or Checkpoint(turns=(), database=name.encode(), state_hash=name)


def decide(sampler: Sampler, slot: Slot) -> Decision:
    match outcome(slot):
        case "accepted":
            scores = [member(True, Fraction(1)), *[member(False, Fraction(0))] * 3]
        case "all_success":
            scores = [member(True, Fraction(1))] * 4
        case "no_opportunity" if slot.flow == "fault" and slot.boundary is None:
            return sampler.reject(slot, "no_opportunity")
        case "infrastructure":
            return sampler.reject(slot, "infrastructure")
        case _:
            scores = [member(False, Fraction(1, 3))] * 4
    return sampler.accept(slot, scores, boundary=boundary_of(slot) if slot.flow == "fault" else None)


@dataclass
class Observer:
    """Books of its own: what waits since when, what was drawn; raises on any broken rule."""

    waiting: dict[Flow, dict[str, Slot]] = field(default_factory=lambda: {"clean": {}, "fault": {}})
    drawn: dict[Flow, Counter[str]] = field(default_factory=lambda: {"clean": Counter(), "fault": Counter()})
    returned: Counter[Flow] = field(default_factory=Counter)
    log: list[tuple[str, str, str | None]] = field(default_factory=list)

    def dispatched(self, slot: Slot, in_step: set[tuple[Flow, str]]) -> None:
        assert (slot.flow, slot.task_id) not in in_step, "a case twice in one batch"
        in_step.add((slot.flow, slot.task_id))
        waits = self.waiting[slot.flow]
        if slot.queued_step is None:
            assert slot.task_id not in waits, "a fresh draw of a case that waits"
            assert slot.boundary is None
            self.drawn[slot.flow][slot.task_id] += 1
            return
        entry = waits.pop(slot.task_id)
        self.returned[slot.flow] += 1
        assert slot.queued_step == entry.step
        assert slot.step >= entry.step + DELAY, "returned before its time"
        assert (slot.boundary is not None) == (slot.flow == "fault")
        assert slot.boundary is None or slot.boundary == boundary_of(entry)
        older = [name for name, other in waits.items() if other.step < entry.step and (slot.flow, name) not in in_step]
        assert not older, "an older eligible case was passed over"

    def decided(self, decision: Decision) -> None:
        slot = decision.slot
        self.log.append((slot.slot_id, slot.task_id, decision.reason))
        if decision.reason == "zero_signal":
            self.waiting[slot.flow][slot.task_id] = slot
        elif decision.reason == "infrastructure" and slot.queued_step is not None:
            boundary = slot.boundary
            self.waiting[slot.flow][slot.task_id] = Slot(
                slot_id="", flow=slot.flow, task_id=slot.task_id, step=slot.queued_step, dispatch=0,
                boundary=boundary, queued_step=slot.queued_step,
            )  # fmt: skip


def new_sampler() -> Sampler:
    return Sampler(TASKS, SETTINGS, weights=RewardWeights())


def one_round(sampler: Sampler, observer: Observer, slots: list[Slot], in_step: set[tuple[Flow, str]]) -> list[Slot]:
    for slot in slots:
        observer.dispatched(slot, in_step)
    decisions = [decide(sampler, slot) for slot in slots]
    for decision in decisions:
        observer.decided(decision)
    refilled = [sampler.refill(decision.slot) for decision in decisions if not decision.is_accepted]
    return [slot for slot in refilled if slot is not None]


def simulate(sampler: Sampler, observer: Observer, steps: range) -> list[list[str]]:
    """Task ids of every selected batch."""
    batches = []
    for step in steps:
        in_step: set[tuple[Flow, str]] = set()
        pending = sampler.plan(step)
        planned = Counter(slot.flow for slot in pending)
        assert planned == {"clean": 16, "fault": 16}
        while pending:
            pending = one_round(sampler, observer, pending, in_step)
        selected = sampler.finish(step)
        filled = Counter(slot.flow for slot in selected.slots)
        for flow in ("clean", "fault"):
            assert filled[flow] + selected.missing[flow] == 16
        assert len({slot.slot_id for slot in selected.slots}) == len(selected.slots)
        dispatches = [slot.dispatch for slot in selected.slots]
        assert dispatches == sorted(dispatches)
        batches.append([f"{slot.flow} {slot.task_id}" for slot in selected.slots])
    return batches


@pytest.fixture(scope="module")
def undisturbed() -> tuple[Observer, list[list[str]], Sampler]:
    sampler, observer = new_sampler(), Observer()
    return observer, simulate(sampler, observer, range(NUM_STEPS)), sampler


def test_clock_order_flows_and_uniqueness_hold_over_two_hundred_steps(
    undisturbed: tuple[Observer, list[list[str]], Sampler],
) -> None:
    observer, batches, _ = undisturbed
    assert all(len(batch) == len(set(batch)) for batch in batches)
    assert min(observer.returned["clean"], observer.returned["fault"]) > 100, "the queue was hardly used"
    reasons = {reason for *_, reason in observer.log}
    assert reasons == {None, "all_success", "zero_signal", "infrastructure", "no_opportunity"}


def test_flows_are_balanced_and_passes_draw_every_case_about_equally(
    undisturbed: tuple[Observer, list[list[str]], Sampler],
) -> None:
    observer, batches, sampler = undisturbed
    trained = Counter(name.split()[0] for batch in batches for name in batch)
    # a place tries four cases, infrastructure apart, of which 9 in 19 are accepted: 1 - (10/19)^4 = 92.3% are filled
    share, places = 1 - (10 / 19) ** 4, 16 * NUM_STEPS
    for flow in ("clean", "fault"):
        assert abs(trained[flow] - share * places) < 4 * (share * (1 - share) * places) ** 0.5
    passes = {flow: int(sampler.metrics(NUM_STEPS)[f"sampler/{flow}_passes"]) for flow in ("clean", "fault")}
    for flow, drawn in observer.drawn.items():
        assert set(drawn) == set(TASKS[flow])
        assert max(drawn.values()) <= passes[flow], "a case was drawn twice in one pass"


@pytest.mark.parametrize("rounds_before_kill", [0, 1, 2])
def test_run_resumed_in_the_middle_of_a_step_equals_the_undisturbed_one(
    undisturbed: tuple[Observer, list[list[str]], Sampler], rounds_before_kill: int
) -> None:
    whole, batches, end = undisturbed
    observer, killed = Observer(), new_sampler()
    found = simulate(killed, observer, range(77))
    in_step: set[tuple[Flow, str]] = set()
    pending = killed.plan(77)
    for _ in range(rounds_before_kill):
        pending = one_round(killed, observer, pending, in_step)

    resumed = new_sampler()
    resumed.load_state_dict(json.loads(json.dumps(killed.state_dict())))
    assert resumed.plan(77) == pending
    while pending:
        pending = one_round(resumed, observer, pending, in_step)
    found.append([f"{slot.flow} {slot.task_id}" for slot in resumed.finish(77).slots])
    found += simulate(resumed, observer, range(78, NUM_STEPS))
    assert found == batches
    assert observer.log == whole.log
    assert resumed.state_dict() == end.state_dict()


def test_run_killed_between_decision_and_refill_loses_no_place() -> None:
    straight, killed = new_sampler(), new_sampler()
    decisions = [decide(sampler, slot) for sampler in (straight, killed) for slot in sampler.plan(0)]
    state = json.loads(json.dumps(killed.state_dict()))
    resumed = new_sampler()
    resumed.load_state_dict(state)
    refilled = [straight.refill(decision.slot) for decision in decisions[:32] if not decision.is_accepted]
    assert resumed.plan(0) == [slot for slot in refilled if slot is not None]
