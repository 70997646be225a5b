"""One call's identity: tool and arguments in, a stable string out. Two spellings of the same JSON are the same call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def call_signature(tool: str, arguments: Mapping[str, Any]) -> str:
    """`name{canonical JSON}`: keys sorted at every depth, no spaces; a list keeps its order, 1 and "1" stay apart."""
    return tool + json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
