"""A task's context for one server in, the headers that every request to it carries out; in process just the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def context_headers(context: Mapping[str, Any]) -> dict[str, str]:
    """Context keys as headers: as they are if they start with x-, else `x-` and the key in header spelling.

    Public tasks carry keys with stray spaces, which no HTTP client would send.
    """
    headers = {}
    for key, value in context.items():
        name = key.strip()
        if not name.lower().startswith("x-"):
            name = "x-" + name.lower().replace("_", "-")
        headers[name] = str(value).strip()
    return headers
