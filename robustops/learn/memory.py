"""How much memory training takes: the shape of a model and a step in, bytes out; and what was really taken."""

from __future__ import annotations

import resource
import sys

import torch


def peak_memory_mib(device: torch.device) -> float:
    """The most that this process has held so far: on its GPU, else resident in the machine's memory."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
