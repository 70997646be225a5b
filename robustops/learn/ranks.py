"""The processes that train together: who is first, sums over all, one result for all, rows for each. Knows no model.

Everything here is exact for one process without any process group, and is a collective call otherwise: every rank must
make it, in the same order.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
import torch.distributed as dist
from lightning.pytorch.utilities import rank_zero_only

from robustops.core.errors import RobustopsError

T = TypeVar("T")


class RankError(RobustopsError):
    """Another rank stopped; the message is its reason."""


def is_first() -> bool:
    """Whether this process rolls out, writes files and speaks. Known before any process group exists."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0


def num_ranks() -> int:
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    return dist.get_rank() if num_ranks() > 1 else 0


def leave() -> None:
    """End this process's part in the group, for `atexit`.

    Gloo's threads may hold tensors until they end, and letting one go takes the interpreter: where it is gone, the
    process aborts after its work is done. No model wrapped for training may be left by then: as the group's last holder
    it would wait for those threads without letting them have the interpreter.
    """
    if dist.is_available() and dist.is_initialized():
        gc.collect()
        dist.destroy_process_group()


def sums(values: Sequence[float], device: torch.device | str = "cpu") -> list[float]:
    """Each value's sum over all ranks."""
    return _reduced(values, dist.ReduceOp.SUM, device)


def highest(value: float, device: torch.device | str = "cpu") -> float:
    return _reduced([value], dist.ReduceOp.MAX, device)[0]


def _reduced(values: Sequence[float], operation: dist.ReduceOp.RedOpType, device: torch.device | str) -> list[float]:
    if num_ranks() == 1:
        return list(values)
    found = torch.tensor(values, dtype=torch.float64, device=device)
    dist.all_reduce(found, op=operation)
    return list(found.tolist())


def from_first(make: Callable[[], T]) -> T:
    """What `make` returns on the first rank, on all ranks. What it raises there ends the others with a RankError."""
    if num_ranks() == 1:
        return make()
    made: list[T | RobustopsError | None] = [None]
    if rank() == 0:
        try:
            made[0] = make()
        except BaseException as error:
            dist.broadcast_object_list([RankError(f"rank 0 stopped: {type(error).__name__}: {error}")], src=0)
            raise
    dist.broadcast_object_list(made, src=0)
    if isinstance(made[0], RankError):
        raise made[0]
    return made[0]  # type: ignore[return-value]


def shares(groups: Sequence[str], sizes: Sequence[int], num: int) -> list[int]:
    """Which of `num` ranks takes each row: whole groups, the largest first, each to the rank with the least so far."""
    total: dict[str, int] = {}
    for group, size in zip(groups, sizes, strict=True):
        total[group] = total.get(group, 0) + size
    load, taker = [0] * num, {}
    for group in sorted(total, key=lambda name: -total[name]):
        taker[group] = load.index(min(load))
        load[taker[group]] += total[group]
    return [taker[group] for group in groups]
