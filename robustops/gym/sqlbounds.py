"""SQL functions that could keep a connection busy in a single step, where no step limit looks: bounded here."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

# Where the real function still is; it holds no table, so that it may be used from any thread.
_PLAIN = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
# A width or precision of six digits and more, or one that comes from an argument: `%.*c` writes it byte by byte.
_UNBOUNDED = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{6,})")


def bound_functions(connection: sqlite3.Connection) -> None:
    """Let printf and format refuse what they would write for seconds."""
    for name in ("printf", "format"):
        connection.create_function(name, -1, _printf, deterministic=True)


def _printf(*values: Any) -> Any:
    if values and _UNBOUNDED.search(str(values[0])):
        raise ValueError("width or precision too large")
    marks = ", ".join("?" for _ in values)
    return _PLAIN.execute(f"SELECT printf({marks})", values).fetchone()[0]
