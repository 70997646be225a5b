"""What calls and replies of the server have in common: context URLs, times, JSON columns, updates of something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from robustops.gym.operations.kind import ToolFailure

GRAPH = "https://graph.microsoft.com/v1.0"
CONTEXT = f"{GRAPH}/$metadata#"


def iso(value: Any) -> Any:
    """A stored time as replies show it: with a T."""
    return value.replace(" ", "T", 1) if isinstance(value, str) else value


def zulu(value: Any) -> Any:
    """The same with the zone."""
    return None if value is None else f"{iso(value).removesuffix('Z')}Z"


def decoded(value: Any) -> Any:
    """What a JSON column holds."""
    return json.loads(value) if isinstance(value, str) and value else value


def flag(value: Any) -> bool | None:
    return None if value is None else bool(value)


def require_change(values: Mapping[str, Any]) -> None:
    """Raises ToolFailure for an update of nothing."""
    if not values:
        raise ToolFailure("At least one property must be provided for update")
