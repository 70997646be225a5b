"""A task in, the same task with its request in other words out: for measuring how much wording matters.

Rules and not a model, so that the meaning cannot change: the request stands inside unaltered, and what is put around it
asks for nothing. Which words is settled by the task's id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from robustops.core.task import Task

POLITE = (
    "Could you please help me with the following? {request} Thank you!",
    "Hello, one thing that needs to be done: {request} Thanks in advance.",
    "I would be grateful if you took care of this. {request}",
)
WORDY = (
    "Sorry for the short notice, I am between two meetings and on my phone. {request} No need to write a long answer.",
    "Good morning! A colleague used to do this, and now it is with me. So here goes: {request} Have a good day.",
    "I am not sure whether this is the right place to ask, but the last time it worked. {request} That is all for now.",
)
LEVELS: tuple[tuple[str, ...], ...] = (("{request}",), POLITE, WORDY)


def paraphrased(task: Task, level: int) -> Task:
    """Level 0 is the request as it is, 1 a polite frame, 2 idle talk around it. Raises ValueError beyond."""
    if not 0 <= level < len(LEVELS):
        raise ValueError(f"paraphrase level {level}, expected 0 to {len(LEVELS) - 1}")
    return replace(task, request=_chosen(LEVELS[level], task.task_id).replace("{request}", task.request))


def _chosen(frames: Sequence[str], task_id: str) -> str:
    return frames[int.from_bytes(hashlib.sha256(task_id.encode()).digest()[:4], "big") % len(frames)]
