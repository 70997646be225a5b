"""Dynamic sampling and delayed return: cases in, slots to play out; scores of played groups in, a batch out.

Source: docs/algorithms.md. One step: `plan` -> play -> `accept` or `reject` each slot -> `refill` each rejected
one -> play -> ... -> `finish`. Every dispatched group is waited for, so a short episode gains nothing over a long one.
Knows no gym, no model and no tokens; keeps no generator, since a pass's order follows from its number.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from robustops.core.episode import Checkpoint
from robustops.core.errors import UserError
from robustops.learn.advantage import NormKind, has_signal
from robustops.learn.case_source import CaseSource
from robustops.learn.denominators import FLOWS
from robustops.learn.slot import Decision, Reason, Selected, Slot, Waiting, slot_from, slot_state
from robustops.rollout.groups import Flow
from robustops.rollout.score import RewardWeights, Score

Underfill = Literal["smaller_batch", "skip", "raise"]
log = logging.getLogger(__name__)


class UnderfullBatch(UserError):
    """A batch with empty places under `on_underfill: raise`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerSettings:
    """`max_attempts`: cases that one place may try in a step; `max_replacements`: lost groups replaced in a step.

    `is_shuffled`: False keeps the given order in every pass, for a curriculum list. `delayed_return`: False queues
    nothing, so that a case without signal returns in the next pass like any other.
    """

    clean_groups: int = 16
    fault_groups: int = 16
    group_size: int = 4
    delay_steps: int = 10
    delayed_return: bool = True
    max_attempts: int = 4
    max_replacements: int = 8
    on_underfill: Underfill = "smaller_batch"
    is_shuffled: bool = True
    seed: int = 0

    @property
    def places(self) -> dict[Flow, int]:
        return {"clean": self.clean_groups, "fault": self.fault_groups}


def judge(scores: Sequence[Score | None], *, group_size: int, weights: RewardWeights, norm: NormKind) -> Reason | None:
    """Why a played group is not accepted; None when it is. Local credit and lengths have no say.

    A missing or unscorable member makes the whole group infrastructure: fewer than `group_size` are never accepted.
    """
    members = [score for score in scores if score is not None]
    if len(members) < len(scores) or len(members) != group_size:
        return "infrastructure"
    if all(score.success for score in members):
        return "all_success"
    return None if has_signal(members, weights=weights, kind=norm) else "zero_signal"


class Sampler:
    def __init__(
        self,
        task_ids: Mapping[Flow, Sequence[str]],
        settings: SamplerSettings,
        *,
        weights: RewardWeights,
        norm: NormKind = "component",
    ) -> None:
        self.settings = settings
        self._weights = weights
        self._norm = norm
        self._sources: dict[Flow, CaseSource] = {
            flow: CaseSource(flow, ids, seed=settings.seed, is_shuffled=settings.is_shuffled)
            for flow, ids in task_ids.items()
        }
        if set(self._sources) != set(FLOWS):
            raise ValueError(f"expected task ids for each of {FLOWS}, got {sorted(self._sources)}")
        self._step: int | None = None
        self._num_dispatched = 0
        self._num_replaced = 0
        self._seen: dict[Flow, set[str]] = {"clean": set(), "fault": set()}
        self._open: dict[str, Slot] = {}
        self._vacated: dict[str, Decision] = {}
        self._accepted: list[Slot] = []
        self._counts: Counter[str] = Counter()

    def plan(self, step: int) -> list[Slot]:
        """Open a step and hand out its slots. For a step that was open in a checkpoint: those still without a decision.

        Fewer slots than places where the data has no further case, or where a skipped step left accepted groups.
        """
        if self._step is not None and self._step != step:
            raise ValueError(f"step {self._step} is not finished, cannot plan step {step}")
        if self._step == step:
            for decision in list(self._vacated.values()):
                self.refill(decision.slot)
            return list(self._open.values())
        self._step, self._num_replaced, self._counts = step, 0, Counter()
        for flow in self._sources:
            kept = [slot.task_id for slot in self._accepted if slot.flow == flow]
            self._seen[flow] = set(kept)
            for _ in range(self.settings.places[flow] - len(kept)):
                if self._fresh(flow, attempt=0) is None and self._returned(flow, attempt=0) is None:
                    break
        return list(self._open.values())

    def accept(self, slot: Slot, scores: Sequence[Score | None], *, boundary: Checkpoint | None = None) -> Decision:
        """Decide on a played group; None is an unscorable member. `boundary`: where a fault group started.

        Raises ValueError for a slot that is not open, and for a fault group to be queued without a boundary.
        """
        reason = judge(scores, group_size=self.settings.group_size, weights=self._weights, norm=self._norm)
        boundary = boundary or slot.boundary
        if reason == "zero_signal" and slot.flow == "fault" and boundary is None:
            raise ValueError(f"slot {slot.slot_id}: a fault case cannot wait without its recovery boundary")
        if reason is not None:
            return self._vacate(slot, reason, boundary)
        self._close(slot)
        self._accepted.append(slot)
        self._counts[f"{slot.flow}/accepted"] += 1
        return Decision(slot=slot)

    def reject(self, slot: Slot, reason: Literal["no_opportunity", "infrastructure"]) -> Decision:
        """Give up a slot whose group was not played to its end."""
        return self._vacate(slot, reason, None)

    def refill(self, slot: Slot) -> Slot | None:
        """Another case for a rejected slot: the oldest eligible one of the queue, else a fresh one.

        None when the place has tried `max_attempts` cases, infrastructure used up its budget, or no case is left.
        """
        decision = self._vacated.pop(slot.slot_id, None)
        if decision is None:
            raise ValueError(f"slot {slot.slot_id} was not rejected, or is filled again already")
        attempt = slot.attempt + 1
        if decision.reason == "infrastructure":
            # a failure of the gym is no try of the place, but it has a budget of its own
            attempt = slot.attempt
            self._num_replaced += 1
            if self._num_replaced > self.settings.max_replacements:
                return None
        if attempt >= self.settings.max_attempts:
            return None
        return self._returned(slot.flow, attempt) or self._fresh(slot.flow, attempt)

    def finish(self, step: int) -> Selected:
        """Close the step. Raises UnderfullBatch under `on_underfill: raise`, ValueError while a slot is undecided."""
        if step != self._step:
            raise ValueError(f"step {step} is not open (open: {self._step})")
        if self._open:
            raise ValueError(f"step {step}: no decision yet on {', '.join(self._open)}")
        places = self.settings.places
        filled = Counter(slot.flow for slot in self._accepted)
        missing: dict[Flow, int] = {flow: places[flow] - filled[flow] for flow in self._sources}
        counts = dict(sorted(self._counts.items()))
        if any(missing.values()):
            message = f"step {step}: {missing['clean']} clean and {missing['fault']} fault places stay empty"
            if self.settings.on_underfill == "raise":
                raise UnderfullBatch(
                    f"{message} after {counts}, expected {places['clean']} + {places['fault']} groups; "
                    "give more tasks, raise algorithm.max_attempts or choose algorithm.on_underfill=smaller_batch"
                )
            log.warning("%s", message)
        is_skipped = not self._accepted or (any(missing.values()) and self.settings.on_underfill == "skip")
        slots = () if is_skipped else tuple(sorted(self._accepted, key=lambda slot: slot.dispatch))
        if not is_skipped:
            self._accepted = []
        self._vacated, self._step = {}, None
        return Selected(step=step, slots=slots, is_skipped=is_skipped, missing=missing, counts=counts)

    def metrics(self, step: int) -> dict[str, float]:
        """Queue length and the age of its oldest entry in RL steps, per flow; passes begun."""
        found: dict[str, float] = {}
        for flow, source in self._sources.items():
            ages = [step - entry.queued_step for entry in source.queue]
            found[f"sampler/{flow}_queue_cases"] = len(ages)
            found[f"sampler/{flow}_queue_age_steps"] = max(ages, default=0)
            found[f"sampler/{flow}_passes"] = source.num_passes
        return found

    def state_dict(self) -> dict[str, Any]:
        """Plain JSON values: queues with their boundaries, cursors, and a step in progress with its decisions."""
        return {
            "step": self._step,
            "num_dispatched": self._num_dispatched,
            "num_replaced": self._num_replaced,
            "seen": {flow: sorted(ids) for flow, ids in self._seen.items()},
            "open": [slot_state(slot) for slot in self._open.values()],
            "vacated": [{"slot": slot_state(d.slot), "reason": d.reason} for d in self._vacated.values()],
            "accepted": [slot_state(slot) for slot in self._accepted],
            "counts": dict(self._counts),
            "sources": {flow: source.state_dict() for flow, source in self._sources.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raises ConfigError, naming a case, when the data does not hold what the state speaks of."""
        for flow, source in self._sources.items():
            source.load_state_dict(state["sources"][flow])
            self._seen[flow] = set(state["seen"][flow])
        self._step = state["step"]
        self._num_dispatched, self._num_replaced = state["num_dispatched"], state["num_replaced"]
        self._open = {entry["slot_id"]: slot_from(entry) for entry in state["open"]}
        vacated = [Decision(slot=slot_from(entry["slot"]), reason=entry["reason"]) for entry in state["vacated"]]
        self._vacated = {decision.slot.slot_id: decision for decision in vacated}
        self._accepted = [slot_from(entry) for entry in state["accepted"]]
        self._counts = Counter(state["counts"])

    def _vacate(self, slot: Slot, reason: Reason, boundary: Checkpoint | None) -> Decision:
        self._close(slot)
        source, step = self._sources[slot.flow], slot.step
        if reason == "zero_signal" and self.settings.delayed_return:
            start = boundary if slot.flow == "fault" else None
            eligible = step + self.settings.delay_steps
            source.enqueue(Waiting(task_id=slot.task_id, queued_step=step, eligible_step=eligible, boundary=start))
        elif reason == "infrastructure" and slot.queued_step is not None:
            source.put_back(
                Waiting(
                    task_id=slot.task_id,
                    queued_step=slot.queued_step,
                    eligible_step=step + 1,
                    boundary=slot.boundary,
                )
            )
        self._counts[f"{slot.flow}/{reason}"] += 1
        decision = Decision(slot=slot, reason=reason)
        self._vacated[slot.slot_id] = decision
        return decision

    def _close(self, slot: Slot) -> None:
        if self._open.pop(slot.slot_id, None) is None:
            raise ValueError(f"slot {slot.slot_id} is not open: decided already, or of another step")

    def _fresh(self, flow: Flow, attempt: int) -> Slot | None:
        task_id = self._sources[flow].fresh(self._seen[flow])
        return None if task_id is None else self._dispatch(flow, task_id, attempt, None)

    def _returned(self, flow: Flow, attempt: int) -> Slot | None:
        assert self._step is not None
        entry = self._sources[flow].returned(self._step, self._seen[flow])
        return None if entry is None else self._dispatch(flow, entry.task_id, attempt, entry)

    def _dispatch(self, flow: Flow, task_id: str, attempt: int, entry: Waiting | None) -> Slot:
        assert self._step is not None
        slot = Slot(
            slot_id=f"{self._step}/{flow}/{self._num_dispatched}",
            flow=flow,
            task_id=task_id,
            step=self._step,
            dispatch=self._num_dispatched,
            attempt=attempt,
            boundary=entry.boundary if entry else None,
            queued_step=entry.queued_step if entry else None,
        )
        self._num_dispatched += 1
        self._seen[flow].add(task_id)
        self._open[slot.slot_id] = slot
        return slot
