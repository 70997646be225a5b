"""What training holds: work in, most bytes of tensors alive at a time and the largest one out. A count, no clock.

Every allocation and release of tensor memory is counted, as torch's profiler notes them, what autograd keeps included.
What was there before (the weights) is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from torch.profiler import ProfilerActivity, profile


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorBytes:
    peak: int
    largest: int


def tensor_bytes(work: Callable[[], object]) -> TensorBytes:
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        work()
    changes = [event.nbytes() for event in found.profiler.kineto_results.events() if event.name() == "[memory]"]
    return TensorBytes(peak=max(accumulate(changes)), largest=max(changes))
