"""Recurrence lines and a first start in, the starts of all occurrences out. Knows no event."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice

from dateutil.rrule import rrule, rruleset, rrulestr

from robustops.gym.operations.kind import ToolFailure

MOST_OCCURRENCES = 365
_LISTED = "%Y%m%dT%H%M%SZ"


def occurrences(lines: Sequence[str], start: datetime) -> list[datetime]:
    """At most 365, the first one included. A start without an offset counts as UTC. Raises ToolFailure."""
    try:
        return list(
            islice(_rules(lines, start if start.tzinfo is not None else start.replace(tzinfo=UTC)), MOST_OCCURRENCES)
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ToolFailure(f"Recurrence validation failed: {error}") from None


def _rules(lines: Sequence[str], start: datetime) -> rruleset:
    """Lines start with RRULE, RDATE or EXDATE; parameters such as a zone are not known. Raises ValueError."""
    found, num_rules = rruleset(), 0
    for line in lines:
        head, _, value = line.strip().partition(":")
        match head.upper():
            case "RRULE":
                rule = rrulestr(f"RRULE:{value}", dtstart=start)
                assert isinstance(rule, rrule)
                found.rrule(rule)
                num_rules += 1
            case "RDATE":
                for date in _dates(value):
                    found.rdate(date)
            case "EXDATE":
                for date in _dates(value):
                    found.exdate(date)
            case _:
                raise ValueError(f"Unsupported recurrence line: {line}")
    if not num_rules:
        raise ValueError("RRULE is required for recurring events")
    return found


def _dates(text: str) -> list[datetime]:
    return [datetime.strptime(part.strip(), _LISTED).replace(tzinfo=UTC) for part in text.split(",")]
