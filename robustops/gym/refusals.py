"""The 4xx answers of servers that refuse a call by HTTP status: a refusal in, status and body out.

The shape of the body was seen at a live itsm server for one code; other codes are reported, statuses partly guessed.
Models never see it: clients show a 4xx answer as an empty object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robustops.gym.arguments import ArgumentError
from robustops.gym.operations.kind import ToolFailure

INVALID = "VALIDATION_ERROR"
SUMMARY = "One or more validation errors occurred"
NOT_FOUND = "NOT_FOUND"
UNAUTHORIZED = "UNAUTHORIZED"
CODES: Mapping[str, str] = {"missing": "MISSING_FIELD", "literal_error": "INVALID_ENUM_VALUE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRefusal:
    status: int
    body: Mapping[str, Any]


def http_refusal(error: Exception, now: str) -> HttpRefusal:
    """`now`: the time that the body tells. Anything but a bad argument or a failure means that the caller is nobody."""
    if isinstance(error, ArgumentError):
        details = [_detail(CODES.get(report["type"], INVALID), *_told(report)) for report in error.reports]
        return _refusal(400, INVALID, SUMMARY, details, now)
    if not isinstance(error, ToolFailure):
        return _refusal(401, UNAUTHORIZED, str(error) or "Invalid user token", [], now)
    details = [_detail(error.code, error.field, str(error))]
    if error.code == NOT_FOUND:
        return _refusal(404, error.code, str(error), details, now)
    return _refusal(400, INVALID, SUMMARY, details, now)


def _told(report: Mapping[str, Any]) -> tuple[str, str]:
    return str(report["loc"][-1]), report["msg"]


def _detail(code: str, field: str, message: str) -> dict[str, Any]:
    return {"code": code, "context": {}, "field": field or None, "message": message}


def _refusal(status: int, code: str, message: str, details: list[dict[str, Any]], now: str) -> HttpRefusal:
    detail = {"details": details, "error": True, "error_code": code, "message": message}
    return HttpRefusal(status=status, body={"detail": {**detail, "request_id": None, "timestamp": f"{now}Z"}})
