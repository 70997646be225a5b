"""What an RL run goes on from after a kill: the state after a step to disk, and back into the objects that it is of.

Weights, optimiser, sampler, fault counts, groups held back, recent rewards. All randomness follows from (seed, step),
so no generator is part of it; the step in progress is the journal's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch.optim import Optimizer

from robustops.core.episode import EpisodeGroup
from robustops.learn import ranks
from robustops.learn.checkpoint import SavedState, save_state
from robustops.learn.grpo import GrpoModule
from robustops.learn.model import load_named_weights, named_weights
from robustops.learn.sampler import Sampler
from robustops.learn.sharding import load_optimiser_state, optimiser_state
from robustops.rollout.group_wire import dump_group, load_group


class Stateful(Protocol):
    """What a fault scheduler is to a checkpoint."""

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class RlState:
    """`kept`: groups that a skipped step holds back, by slot id. `recent_rewards`: the means of the latest steps.

    `scheduler`: the fault scheduler, whose counts are part of the state.
    """

    def __init__(self, folder: Path, sampler: Sampler, scheduler: Stateful | None) -> None:
        self.kept: Mapping[str, EpisodeGroup] = {}
        self.recent_rewards: list[float] = []
        self._folder, self._sampler, self._scheduler = folder, sampler, scheduler
        self._optimiser: dict[str, Any] | None = None

    def restore(self, module: GrpoModule, saved: SavedState) -> None:
        """All but the optimiser, which there is only once training has started: `restore_optimiser`.

        Raises ConfigError where the state speaks of cases that the data does not hold.
        """
        state = saved.state
        load_named_weights(module.model, state["model"])
        module.num_updates = state["num_updates"]
        self._sampler.load_state_dict(state["sampler"])
        if self._scheduler is not None:
            self._scheduler.load_state(state["scheduler"])
        self.kept = _unpacked(state["kept"])
        self.recent_rewards = list(state["recent_rewards"])
        self._optimiser = state["optimiser"]

    def restore_optimiser(self, optimiser: Optimizer) -> None:
        """Does nothing in a run that began anew."""
        if self._optimiser is not None:
            load_optimiser_state(optimiser, self._optimiser)
            self._optimiser = None

    def save(self, step: int, module: GrpoModule, optimiser: Optimizer) -> None:
        """After `step` RL steps. All ranks must call it; the first one writes.

        Raises TableError when the disk refuses.
        """
        state = {
            "model": named_weights(module.model),
            "optimiser": optimiser_state(optimiser),
            "num_updates": module.num_updates,
            "sampler": self._sampler.state_dict(),
            "scheduler": None if self._scheduler is None else self._scheduler.state(),
            "kept": _packed(self.kept),
            "recent_rewards": list(self.recent_rewards),
        }
        if ranks.is_first():
            save_state(self._folder, step, state)


def _packed(groups: Mapping[str, EpisodeGroup]) -> str:
    # as one text: a state is read "weights only", value by value, and groups hold many token ids
    return json.dumps({slot_id: dump_group(group) for slot_id, group in groups.items()})


def _unpacked(text: str) -> dict[str, EpisodeGroup]:
    return {slot_id: load_group(line) for slot_id, line in json.loads(text).items()}
