"""The seam between agents and tool servers. Everything above holds a `Session` and cannot tell which kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from robustops.core.episode import ToolResult
from robustops.core.task import Task, ToolSchema


class Session(Protocol):
    """One task's tool servers with databases of their own. Single use; async at the edge, sync inside.

    Raises GymError (GymTimeout, GymUnavailable) when the servers do not answer as agreed. An unknown tool or bad
    arguments are no exception: they are an error `ToolResult`, as the model must see them.
    """

    tools: tuple[ToolSchema, ...]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult: ...

    async def query(self, sql: str, gym: str | None = None) -> Any:
        """Run one read-only SELECT; returns the sql-runner's reply object ({"data": [...], ...})."""

    async def snapshot(self) -> bytes:
        """All databases and the virtual clock. Raises SnapshotUnsupported, naming the server."""

    async def restore(self, snapshot: bytes) -> None: ...

    async def state_hash(self) -> str:
        """Hash over ordered table contents; cheap when nothing was written since the last one."""

    async def close(self) -> None: ...


@runtime_checkable
class WallClocked(Protocol):
    """A session on servers whose clock may go on by itself: what they repeat differs in the columns that it writes."""

    @property
    def volatile(self) -> frozenset[str]:
        """Names of those columns; none where every server's clock can be set back."""

    async def masked_hash(self) -> str:
        """As `state_hash`, without them."""


class Gym(Protocol):
    def open(self, task: Task) -> AbstractAsyncContextManager[Session]: ...

    async def catalogue(self, domain: str) -> Sequence[ToolSchema]:
        """Every tool that one domain's server advertises, in its order."""

    async def close(self) -> None:
        """Give connections back, once no session is open; the gym may then be used from another event loop."""
