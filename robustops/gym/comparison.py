"""A sql-runner's reply in, one value out; a value and an expectation in, an outcome out. Pure; knows no session.

Both functions follow the benchmark's own verifier to the letter, oddities included, because its verdicts are the
benchmark's results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    passed: bool
    details: str


def extract_value(reply: Any) -> Any:
    """The value a check compares, taken from the reply object of a sql-runner.

    Looks for `data`, then `rows`, then `content`, then `result`; any other reply is its own value.
    """
    if not isinstance(reply, Mapping):
        return reply
    if "data" in reply:
        return _unwrap(reply["data"], from_lists=False)
    if "rows" in reply:
        return _unwrap(reply["rows"], from_lists=True)
    if "content" in reply:
        return _first_text(reply)
    if "result" in reply:
        return reply["result"]
    return reply


def _unwrap(rows: Any, *, from_lists: bool) -> Any:
    """A single row of one column becomes its value, a single row itself; none or several stay the list."""
    if not isinstance(rows, list) or len(rows) != 1:
        return rows
    row = rows[0]
    if isinstance(row, Mapping) and len(row) == 1:
        return next(iter(row.values()))
    if from_lists and isinstance(row, list) and len(row) == 1:
        return row[0]
    return row


def _first_text(reply: Mapping[str, Any]) -> Any:
    content = reply["content"]
    if isinstance(content, Sequence) and not isinstance(content, str):
        for block in content:
            if isinstance(block, Mapping) and block.get("type") == "text":
                return block.get("text", reply)
    return content


def compare(actual: Any, expected: Any, comparison: str) -> Outcome:
    """Apply one comparison with Python's own operators: no coercion, so that 1 does not equal "1".

    An unknown comparison and operands that cannot be compared are failed checks, not errors.
    """
    try:
        match comparison:
            case "equals":
                passed = actual == expected
            case "greater_than":
                passed = actual > expected
            case "less_than":
                passed = actual < expected
            case "contains":
                passed = expected in str(actual)
            case _:
                return Outcome(passed=False, details=f"Unknown comparison type: {comparison}")
    except TypeError as error:
        return Outcome(passed=False, details=f"Comparison error: {error}")
    return Outcome(passed=bool(passed), details=f"Comparison {comparison}: {actual} vs {expected}")
