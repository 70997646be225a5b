"""Which part a public task belongs to, and whether it can be run. A task in, its split entry out.

The rule depends on the request alone, so that a task keeps its part when others are added or missing, and two tasks
with one request never straddle two parts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Literal

from robustops.core.task import Part, Task
from robustops.data.public.inventory import Inventory

Allocation = Literal["by_request", "test"]
TRAIN, VAL = 0.7, 0.1  # shares; the rest is test
RULES: Mapping[Allocation, str] = {
    "by_request": "sha256 of the request as a fraction: below 0.7 train, below 0.8 val, else test",
    "test": "the whole set is for evaluation",
}


def part_of(request: str, allocation: Allocation) -> Part:
    if allocation == "test":
        return "test"
    normal = " ".join(request.lower().split())
    fraction = int.from_bytes(hashlib.sha256(f"robustops/{normal}".encode()).digest()[:8], "big") / 2**64
    if fraction < TRAIN:
        return "train"
    return "val" if fraction < TRAIN + VAL else "test"


def why_not_runnable(task: Task, inventory: Inventory, catalogues: Mapping[str, frozenset[str]]) -> str:
    """The reason, or nothing. `catalogues`: tool names by server."""
    known: set[str] = set()
    for server in task.servers:
        if server.name not in catalogues:
            return f"server {server.name} is not known"
        if inventory.seed(server.seed_file) is None:
            return f"seed database {server.seed_file} is missing"
        known |= catalogues[server.name]
    unknown = sorted(set(task.tools) - known)
    return f"no server of it offers {', '.join(unknown)}" if unknown else ""
