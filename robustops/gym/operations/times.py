"""Times as callers write them (ISO 8601, with or without zone, or a bare date) in, naive UTC out."""

from __future__ import annotations

from datetime import UTC, datetime


def naive_utc(text: str) -> datetime | None:
    """None for a text that is no time, or one before the first year or after the last."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
