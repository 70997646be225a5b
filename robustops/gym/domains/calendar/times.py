"""Times as callers write them, as rows hold them and as replies show them. Knows no row.

Rows hold the wall clock without its offset: the server drops the offset and converts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from typing import Any

from dateutil.parser import isoparse
from dateutil.tz import gettz

from robustops.gym.operations.kind import ToolFailure

STORED = "%Y-%m-%d %H:%M:%S.%f"
MIXED = "Internal server error: can't compare offset-naive and offset-aware datetimes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Start or end of an event. `at` keeps the offset that the caller gave, if any."""

    at: datetime
    zone: str


def parsed(text: Any) -> datetime:
    """Raises ToolFailure."""
    try:
        return isoparse(text.replace("Z", "+00:00"))
    except (AttributeError, ValueError, OverflowError):
        raise ToolFailure(f"Invalid datetime format: {text}") from None


def stored(moment: datetime) -> str:
    return moment.strftime(STORED)


def read(text: str) -> datetime:
    """A time from a row: seeds may write `T` and an offset, the server does not. Raises ToolFailure for any other."""
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise ToolFailure(f"Internal server error: Couldn't parse datetime string: {text!r}") from None


def shown(text: str | None) -> str | None:
    return None if text is None else read(text).isoformat()


@lru_cache(maxsize=1024)
def is_zone(name: str) -> bool:
    return gettz(name) is not None


def moment_of(value: Mapping[str, Any]) -> Moment:
    """A time or a whole day. Raises ToolFailure."""
    zone = value.get("timeZone")
    if zone is not None and not is_zone(zone):
        raise ToolFailure("Invalid DateTime format: Invalid timeZone; must be a valid IANA timezone name.")
    if value.get("dateTime"):
        return Moment(at=_time(value["dateTime"]), zone=zone or "UTC")
    if value.get("date"):
        return Moment(at=_day(value["date"]), zone=zone or "UTC")
    raise ToolFailure("Invalid DateTime format: DateTime object must have either dateTime or date")


def _time(text: str) -> datetime:
    try:
        return parsed(text)
    except ToolFailure as error:
        raise ToolFailure(f"Invalid DateTime format: {error}") from None


def _day(text: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(text), time.min)
    except ValueError as error:
        raise ToolFailure(f"Invalid DateTime format: {error}") from None


def is_later(end: datetime, start: datetime) -> bool:
    """Where only one of them has an offset, wall clocks are compared."""
    if (end.tzinfo is None) != (start.tzinfo is None):
        end, start = end.replace(tzinfo=None), start.replace(tzinfo=None)
    return end > start


def is_strictly_later(end: datetime, start: datetime) -> bool:
    """Raises ToolFailure where only one of them has an offset: the server crashes there."""
    if (end.tzinfo is None) != (start.tzinfo is None):
        raise ToolFailure(MIXED)
    return end > start


def event_time(text: str | None, zone: str | None) -> dict[str, Any] | None:
    """Midnight is shown as a whole day."""
    if text is None:
        return None
    moment = read(text)
    if moment.time() == time.min:
        return {"dateTime": None, "date": moment.date().isoformat(), "timeZone": zone}
    return {"dateTime": moment.isoformat(), "date": None, "timeZone": zone}
