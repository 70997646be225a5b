"""What the sampler and the rollout exchange: places of a batch, verdicts on their groups, the batch that came out.

Frozen data. `slot_state` and `waiting_state` give plain values for a checkpoint and lose nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from robustops.core.episode import Checkpoint
from robustops.rollout.group_wire import dump_checkpoint, load_checkpoint
from robustops.rollout.groups import Flow

Reason = Literal["all_success", "no_opportunity", "zero_signal", "infrastructure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One case given to one place of the batch; a group of rollouts is to be played for it.

    `dispatch`: slots handed out before this one over the whole run, which is the order of selection. `attempt`: cases
    that this place has tried before in this step. `boundary`: where a returned fault case resumes; None starts from the
    beginning. `queued_step`: when a returned case was queued; None for a fresh one.
    """

    slot_id: str
    flow: Flow
    task_id: str
    step: int
    dispatch: int
    attempt: int = 0
    boundary: Checkpoint | None = None
    queued_step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`reason` says why a group was rejected; None means accepted."""

    slot: Slot
    reason: Reason | None = None

    @property
    def is_accepted(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The outcome of a step. `slots`: the groups to train on, in dispatch order; empty when the step is skipped.

    `is_skipped`: no update now. The sampler keeps the groups accepted so far for the next step, whose policy is the
    same: keep their episodes. `missing`: empty places per flow. `counts`: decisions as "clean/accepted",
    "fault/zero_signal" and so on.
    """

    step: int
    slots: tuple[Slot, ...]
    is_skipped: bool
    missing: Mapping[Flow, int]
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A case in the delayed-return queue: eligible from RL step `eligible_step` on."""

    task_id: str
    queued_step: int
    eligible_step: int
    boundary: Checkpoint | None = None


def slot_state(slot: Slot) -> dict[str, Any]:
    return _state(slot)


def slot_from(state: Mapping[str, Any]) -> Slot:
    return Slot(**{**state, "boundary": _boundary(state)})


def waiting_state(waiting: Waiting) -> dict[str, Any]:
    return _state(waiting)


def waiting_from(state: Mapping[str, Any]) -> Waiting:
    return Waiting(**{**state, "boundary": _boundary(state)})


def _state(value: Slot | Waiting) -> dict[str, Any]:
    # as one text: a state is read "weights only", value by value, and a boundary holds thousands of token ids
    packed = None if value.boundary is None else json.dumps(dump_checkpoint(value.boundary))
    return {f.name: getattr(value, f.name) for f in fields(value)} | {"boundary": packed}


def _boundary(state: Mapping[str, Any]) -> Checkpoint | None:
    packed = state["boundary"]
    return None if packed is None else load_checkpoint(json.loads(packed))
