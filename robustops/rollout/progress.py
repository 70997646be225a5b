"""How far a job is, said to whoever shows it. Knows no terminal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`done` of `total` cases."""

    done: int
    total: int


def silent(progress: Progress) -> None:
    """For a job that nobody watches."""
