"""The seam of fault kinds: one attempted call in, whether it may be hit and what is shown out. Knows no agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, Protocol

from robustops.core.episode import ToolResult
from robustops.core.task import ToolSchema
from robustops.gym.session import Session

Family = Literal["not_executed", "incomplete_read", "reply_mixup", "unknown_commit", "ignored_filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A call on its way. `native` and `hash_after` are unset where the mechanism stops the call before it runs.

    `before`: a snapshot taken before the call, only for mechanisms that need one.
    """

    tool: ToolSchema
    arguments: Mapping[str, Any]
    hash_before: str
    native: ToolResult | None = None
    hash_after: str = ""
    before: bytes | None = None

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


class Mechanism(Protocol):
    """One subtype. Stateless: the injector holds caps and draws the seed."""

    subtype: str
    executes: bool  # False: the call never reaches the tools
    needs_snapshot: bool

    async def is_eligible(self, attempt: Attempt, session: Session) -> bool:
        """Judge by arguments, native reply and state alone; leaves the session as it is."""

    async def reply(self, attempt: Attempt, session: Session, rng: Random) -> ToolResult:
        """What is shown instead. Called only for an eligible attempt."""


def required_names(tool: ToolSchema) -> tuple[str, ...]:
    return tuple(str(name) for name in tool.input_schema.get("required") or ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReply:
    """A reply that is an array of records, or an object around exactly one such array (`key`)."""

    rows: tuple[Any, ...]
    key: str | None
    whole: Any


def parsed(reply: ToolResult | None) -> Any:
    """The reply's text as JSON, or None."""
    if reply is None:
        return None
    try:
        return json.loads(reply.text)
    except json.JSONDecodeError:
        return None


def list_reply(reply: ToolResult | None) -> ListReply | None:
    value = parsed(reply)
    if isinstance(value, list):
        return ListReply(rows=tuple(value), key=None, whole=value)
    if isinstance(value, dict):
        keys = [key for key, inner in value.items() if isinstance(inner, list)]
        if len(keys) == 1:
            return ListReply(rows=tuple(value[keys[0]]), key=keys[0], whole=value)
    return None
