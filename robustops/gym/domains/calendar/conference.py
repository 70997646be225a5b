"""The conference of an event: checked arguments in, a row out. Knows no event beyond its id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustops.gym.operations.kind import ToolFailure
from robustops.gym.operations.records import Records, Row

_SOLUTIONS = ("hangoutsMeet", "addOn")
_ENTRY_FIELDS = ("accessCode", "entryPointType", "label", "meetingCode", "passcode", "pin", "uri")


def solution_type(conference: Mapping[str, Any]) -> str | None:
    key = (conference.get("conferenceSolution") or {}).get("key") or {}
    return key.get("type")


def conference_id(db: Records, conference: Mapping[str, Any]) -> str | None:
    """The id that the caller gives, or for a hangoutsMeet one the server makes up. Raises ToolFailure."""
    kind, given = solution_type(conference), conference.get("conferenceId")
    expected = "is not valid value. Please provide either 'hangoutsMeet' or 'addOn'"
    if kind and kind not in _SOLUTIONS:
        raise ToolFailure(f"Value for type under key field in the conferenceSolution {expected}")
    if kind == "hangoutsMeet":
        if given:
            raise ToolFailure("ConferenceId will be set internally. Please remove this field")
        given = "-".join(db.ids.letters(length) for length in (3, 4, 3))
    elif kind == "addOn" and given is None:
        raise ToolFailure(
            "Please provide valid value of conferenceId key for conferenceData or add conferenceId key with valid "
            "value if not present"
        )
    wanted = (conference.get("createRequest") or {}).get("conferenceSolutionKey")
    if wanted and wanted.get("type") not in _SOLUTIONS:
        raise ToolFailure(f"Value for type under conferenceSolutionKey  inside the createRequest field {expected}")
    return given


def add_conference(db: Records, event_id: str, conference: Mapping[str, Any], given_id: str | None) -> None:
    """A request id that is in use already makes a conference whose creation failed. Raises ToolFailure.

    Without a createRequest the server stores nothing.
    """
    if given_id is not None and db.count("conference_data", {"id": given_id}):
        raise ToolFailure(f"Conference Id '{given_id}' already exists. Please use different ConferenceId")
    request = conference.get("createRequest")
    if not request:
        return
    solution = conference.get("conferenceSolution") or {}
    entries = conference.get("entryPoints") or []
    video = next(
        (entry["uri"] for entry in entries if entry.get("entryPointType") == "video" and entry.get("uri")), None
    )
    row: Row = {"id": given_id or db.ids.uuid(), "event_id": event_id}
    row |= {"solution_type": solution_type(conference), "solution_name": solution.get("name")}
    row |= {"solution_icon_uri": solution.get("iconUri"), "label": solution.get("name"), "meeting_uri": video}
    row |= {"notes": conference.get("notes"), "signature": conference.get("signature")}
    request_id = request.get("requestId")
    if request_id is not None and db.count("conference_data", {"request_id": request_id}):
        db.add("conference_data", {**row, "status_code": "failure"})
        return
    kept = [{name: entry.get(name) for name in _ENTRY_FIELDS} for entry in entries]
    row |= {"request_id": request_id, "status_code": "success", "entry_points": kept or "null"}
    row |= {"create_solution_type": (request.get("conferenceSolutionKey") or {}).get("type")}
    db.add("conference_data", row)
