"""SQL text and a time in, SQL text out in which the present is that time: seeds and checks follow the virtual clock.

Public seeds fill columns with `datetime('now')` and CURRENT_TIMESTAMP, public checks ask for the last five minutes.
"""

from __future__ import annotations

import re

_PRESENT = re.compile(
    r"""(?P<now>'now')|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\bCURRENT_(?P<part>TIMESTAMP|DATE|TIME)\b""",
    re.IGNORECASE,
)
_LENGTHS = {"TIMESTAMP": slice(0, 19), "DATE": slice(0, 10), "TIME": slice(11, 19)}


def at_time(sql: str, now: str) -> str:
    """`now` is UTC as YYYY-MM-DD HH:MM:SS. Other literals, quoted names and comments stay as they are."""
    lower = sql.lower()
    if "'now'" not in lower and "current_" not in lower:
        return sql

    def replaced(match: re.Match[str]) -> str:
        if match["now"]:
            return f"'{now}'"
        return f"'{now[_LENGTHS[match['part'].upper()]]}'" if match["part"] else match.group()

    return _PRESENT.sub(replaced, sql)
