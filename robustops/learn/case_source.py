"""Where one flow's cases come from: a seeded pass over the data and the delayed-return queue. Knows no scores.

Source: docs/algorithms.md. A case leaves the pass when it is drawn and comes back in the next pass, or earlier
through the queue; while it waits there, no pass may draw it.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from robustops.core.errors import ConfigError
from robustops.learn.slot import Waiting, waiting_from, waiting_state
from robustops.rollout.groups import Flow


class CaseSource:
    def __init__(self, flow: Flow, task_ids: Sequence[str], *, seed: int, is_shuffled: bool) -> None:
        """Raises ValueError for ids that occur twice."""
        if len(set(task_ids)) != len(task_ids):
            raise ValueError(f"{flow} cases: an id occurs twice")
        self._flow = flow
        self._task_ids = tuple(task_ids)
        self._seed = seed
        self._is_shuffled = is_shuffled
        self._num_passes = 0
        self._remaining: list[str] = []
        self._queue: list[Waiting] = []

    @property
    def queue(self) -> tuple[Waiting, ...]:
        return tuple(self._queue)

    @property
    def num_passes(self) -> int:
        """Passes begun."""
        return self._num_passes

    def fresh(self, barred: Collection[str]) -> str | None:
        """The next case of the pass that is neither barred nor waiting; begins the next pass when this one has none.

        A barred case keeps its place in the pass. None when every case is barred or waiting.
        """
        waiting = {entry.task_id for entry in self._queue}
        # a case that waits is served by the queue in this pass
        self._remaining = [task_id for task_id in self._remaining if task_id not in waiting]
        found = next((task_id for task_id in self._remaining if task_id not in barred), None)
        if found is None:
            if all(task_id in waiting or task_id in barred for task_id in self._task_ids):
                return None
            self._begin_pass()
            found = next(task_id for task_id in self._remaining if task_id not in barred and task_id not in waiting)
        self._remaining.remove(found)
        return found

    def _begin_pass(self) -> None:
        order = list(self._task_ids)
        if self._is_shuffled:
            # the order follows from the pass alone, so a checkpoint needs no generator state
            random.Random(f"{self._seed}|{self._flow}|{self._num_passes}").shuffle(order)
        self._num_passes += 1
        left_over = set(self._remaining)
        self._remaining += [task_id for task_id in order if task_id not in left_over]

    def returned(self, step: int, barred: Collection[str]) -> Waiting | None:
        """Take the oldest waiting case that is eligible at this step, first in, first out."""
        for index, entry in enumerate(self._queue):
            if entry.eligible_step <= step and entry.task_id not in barred:
                return self._queue.pop(index)
        return None

    def enqueue(self, entry: Waiting) -> None:
        """Raises ValueError when the case waits already."""
        if any(entry.task_id == other.task_id for other in self._queue):
            raise ValueError(f"{self._flow} case {entry.task_id} waits already")
        self._queue.append(entry)

    def put_back(self, entry: Waiting) -> None:
        """Return a case from the queue to its old rank: its wait was served, its group was lost to infrastructure."""
        ranks = (i for i, other in enumerate(self._queue) if other.queued_step > entry.queued_step)
        self._queue.insert(next(ranks, len(self._queue)), entry)

    def state_dict(self) -> dict[str, Any]:
        return {
            "num_passes": self._num_passes,
            "remaining": list(self._remaining),
            "queue": [waiting_state(entry) for entry in self._queue],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Raises ConfigError, naming a case, when the state speaks of cases that the data does not hold."""
        queue = [waiting_from(entry) for entry in state["queue"]]
        unknown = {*state["remaining"], *(entry.task_id for entry in queue)} - set(self._task_ids)
        if unknown:
            raise ConfigError(
                f"checkpoint: {self._flow} case {min(unknown)!r} is not in the data ({len(self._task_ids)} cases, "
                f"{len(unknown)} unknown); resume with the split and tool mode that the run began with"
            )
        self._num_passes = state["num_passes"]
        self._remaining = list(state["remaining"])
        self._queue = queue
