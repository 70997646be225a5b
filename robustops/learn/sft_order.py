"""Which demonstrations each optimiser step of SFT takes: fixed by the seed, so that a resumed run goes on exactly.

Lengths in, lists of indices out. Similar lengths stand together, so little is padded; batches come in random order.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

POOL_BATCHES = 16  # sorted by length within a random pool of this many batches, not over the whole epoch


def epoch_batches(lengths: Sequence[int], batch_size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Every index once; batches of `batch_size`, one of them smaller where it does not divide.

    Source: docs/algorithms.md: the last, smaller batch is kept.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    rng = Random(f"{seed}/sft/{epoch}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    batches = []
    for start in range(0, len(order), batch_size * POOL_BATCHES):
        pool = sorted(order[start : start + batch_size * POOL_BATCHES], key=lambda index: lengths[index])
        batches += [pool[place : place + batch_size] for place in range(0, len(pool), batch_size)]
    rng.shuffle(batches)
    return batches
