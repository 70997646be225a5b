"""What an operation is: compiled once from a declaration, then run per call on checked arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from robustops.gym.database import Database
from robustops.gym.domain import Domain, Tool
from robustops.gym.ids import Ids


class ToolFailure(Exception):
    """The server refuses the call; the text is the detail that it gives, `code` and `field` what some add to it."""

    def __init__(self, text: str, *, code: str = "VALIDATION_ERROR", field: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.field = field


@dataclass(frozen=True, slots=True)
class Mishap:
    """The server writes its rows and fails afterwards: they stay, and the reply is an error with this text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The surroundings of one call: `now` is the second that all its writes share, `caller` the acting user's row.

    An operation returns what the reply shows, or None where the server answers without a body.
    """

    database: Database
    now: str
    caller: Mapping[str, Any]
    ids: Ids = field(default_factory=lambda: Ids(""))


Operation = Callable[[Call, Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One word of the declaration language. `place` heads the location in argument reports.

    `output`: the schema of the reply, where the server advertises those.
    """

    compile: Callable[[Domain, Tool], Operation]
    output: Callable[[Tool], dict[str, Any] | None] = lambda _tool: None
    is_write: bool = False
    place: Literal["query", "body"] = "query"
