"""When calendars are busy: confirmed, opaque events, clipped to the range and merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from robustops.gym.domains.calendar.times import parsed, read, stored
from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, reading

MOST_CALENDARS = 50
LONGEST_RANGE = timedelta(days=366)
_BUSY = """SELECT start_datetime, end_datetime FROM events WHERE calendar_id = ? AND status = 'confirmed'
AND transparency != 'transparent' AND start_datetime < ? AND end_datetime > ? ORDER BY start_datetime, rowid"""

Span = tuple[datetime, datetime]


def merged(spans: Sequence[Span], *, earliest: datetime, latest: datetime) -> list[Span]:
    """Spans that touch or overlap become one; what lies outside the range is cut off.

    Raises TypeError where some of the times have an offset and others have none.
    """
    clipped = sorted((max(start, earliest), min(end, latest)) for start, end in spans)
    found: list[Span] = []
    for start, end in clipped:
        if start >= end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _query(db: Records, arguments: Mapping[str, Any]) -> dict[str, Any]:
    items = arguments["items"]
    if not 1 <= len(items) <= MOST_CALENDARS:
        bound = f"at {'least 1 item' if not items else f'most {MOST_CALENDARS} items'}"
        raise ToolFailure(f"Validation errors:\n- items: List should have {bound} after validation, not {len(items)}")
    earliest, latest = parsed(arguments["timeMin"]), parsed(arguments["timeMax"])
    user = db.caller["user_id"]
    head = f"Error processing FreeBusy query for user {user}:"
    if (earliest.tzinfo is None) != (latest.tzinfo is None):
        raise ToolFailure(f"{head} can't compare offset-naive and offset-aware datetimes")
    if not timedelta(0) < latest - earliest <= LONGEST_RANGE:
        raise ToolFailure(f"{head} Time range is invalid or too large (max 366 days)")
    calendars = {}
    for item in items:
        if not db.count("calendars", {"calendar_id": item["id"], "user_id": user}):
            raise ToolFailure(f"{head} Calendar with ID '{item['id']}' does not exist or is not accessible")
        calendars[item["id"]] = _calendar(db, item["id"], earliest, latest)
    bounds = {"timeMin": earliest.isoformat(), "timeMax": latest.isoformat()}
    return {"kind": "calendar#freeBusy", **bounds, "calendars": calendars, "groups": None}


def _calendar(db: Records, calendar_id: str, earliest: datetime, latest: datetime) -> dict[str, Any]:
    rows = db.select(_BUSY, (calendar_id, stored(latest), stored(earliest)))
    spans = [(read(row["start_datetime"]), read(row["end_datetime"])) for row in rows]
    try:
        busy = merged(spans, earliest=earliest, latest=latest)
    except TypeError:  # the server cannot mix times with and without an offset either
        return {"errors": [{"domain": "calendar", "reason": "backendError"}], "busy": None}
    return {
        "errors": None,
        "busy": [{"start": start.isoformat(), "end": end.isoformat()} for start, end in busy],
    }


KINDS = {"query_freebusy": reading(_query)}
