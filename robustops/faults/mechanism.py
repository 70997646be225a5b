"""The seam of fault kinds: one attempted call in, whether it may be hit and what is shown out. Knows no agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, Protocol, TypeVar

from robustops.core.episode import ToolResult
from robustops.core.task import ToolSchema
from robustops.gym.session import Session

Option = TypeVar("Option")
Family = Literal[
    "not_executed",
    "incomplete_read",
    "reply_mixup",
    "unknown_commit",
    "ignored_filter",
    "stale_state",
    "false_ack",
    "lasting_outage",
    "interface_drift",
]
Need = Literal["before", "origin"]  # snapshots: of just before the call, of the episode's beginning


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The databases as they were when the episode began."""

    database: bytes
    state_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A call on its way. `native` and `hash_after` are unset where the mechanism stops the call before it runs.

    `before`: a snapshot taken before the call, `origin`: of the beginning; only for mechanisms that need one.
    """

    tool: ToolSchema
    arguments: Mapping[str, Any]
    hash_before: str
    native: ToolResult | None = None
    hash_after: str = ""
    before: bytes | None = None
    origin: Origin | None = None

    @property
    def is_read(self) -> bool:
        """The call succeeded and left the databases as they were."""
        return self._succeeded and self.hash_before == self.hash_after

    @property
    def is_write(self) -> bool:
        """The call succeeded and changed the databases: the only evidence of a write that is accepted."""
        return self._succeeded and self.hash_before != self.hash_after

    @property
    def _succeeded(self) -> bool:
        return self.native is not None and self.native.executed and not self.native.is_error

    @property
    def has_required_arguments(self) -> bool:
        return all(name in self.arguments for name in required_names(self.tool))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The free choices of one event. `intensity` in [0, 1] settles how bad each is; None leaves it to `rng`."""

    rng: Random
    intensity: float | None = None

    def amount(self, *, mild: int, severe: int) -> int:
        """A whole number from `mild` (intensity 0) to `severe` (intensity 1), both included, either being larger."""
        if self.intensity is None:
            return self.rng.randint(min(mild, severe), max(mild, severe))
        return mild + round(self.intensity * (severe - mild))

    def degree(self, options: Sequence[Option], *, badness: Callable[[Option], int]) -> Option:
        """One of several, the least bad at intensity 0 and the worst at 1."""
        if self.intensity is None:
            return self.rng.choice(options)
        return sorted(options, key=badness)[round(self.intensity * (len(options) - 1))]


class Mechanism(Protocol):
    """One subtype. Stateless: the injector holds caps and draws the seed."""

    subtype: str
    executes: bool  # False: the call never reaches the tools
    needs: frozenset[Need]

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        """Judge by arguments, native reply and state alone; leaves the session as it is."""

    async def reply(self, attempt: Attempt, session: Session, draw: Draw) -> ToolResult:
        """What is shown instead. Called only for an eligible attempt."""


def required_names(tool: ToolSchema) -> tuple[str, ...]:
    return tuple(str(name) for name in tool.input_schema.get("required") or ())
