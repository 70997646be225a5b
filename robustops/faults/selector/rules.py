"""The selector that needs no key: tool schemas and the reply shapes of a clean pass in, candidates with reasons out.

Each kind of fault is judged alone, by what its mechanism would check anyway; there is no quota.
"""

from __future__ import annotations

from collections.abc import Iterator

from robustops.faults.catalogue import KINDS
from robustops.faults.labels import Candidate
from robustops.faults.mechanism import required_names
from robustops.faults.mechanisms.ignored_filter import NOT_FILTERS
from robustops.faults.mechanisms.incomplete_read import MIN_CHARS, MIN_ROWS
from robustops.faults.selector.evidence import ReplyShape, TaskEvidence, ToolEvidence

ANY_CALL = ("throttled", "unavailable", "permanent_outage")
ANY_WRITE = ("lost_ack", "timeout_not_committed", "silent_noop")


def select_by_rules(evidence: TaskEvidence) -> tuple[Candidate, ...]:
    """One candidate per tool and subtype, in the order of the task's tools and of the catalogue."""
    found: list[Candidate] = []
    for seen in evidence.tools:
        reasons: dict[str, str] = {}
        for subtype, reason in _of_tool(seen):
            reasons.setdefault(subtype, reason)
        found += [
            Candidate(tool=seen.tool.name, subtype=subtype, reason=reasons[subtype])
            for subtype in KINDS
            if subtype in reasons
        ]
    return tuple(found)


def _of_tool(seen: ToolEvidence) -> Iterator[tuple[str, str]]:
    for subtype in ANY_CALL:
        yield subtype, "any call"
    if seen.tool.input_schema.get("properties"):
        yield "schema_drift", "takes parameters"
    for shape in seen.replies:
        if shape.form != "error":
            yield from _of_write(shape) if shape.is_write else _of_read(shape, required_names(seen.tool))
    if not seen.replies and (seen.tool.output_schema or {}).get("type") == "array":
        yield "partial_list", "replies with a list, by its schema"
        yield "truncated_reply", "replies with a list, by its schema"
        if _filters(tuple(seen.tool.input_schema.get("properties") or ()), required_names(seen.tool)):
            yield "dropped_filter", "replies with a list that can be filtered, by its schema"


def _of_write(shape: ReplyShape) -> Iterator[tuple[str, str]]:
    for subtype in ANY_WRITE:
        yield subtype, "changed the databases"


def _of_read(shape: ReplyShape, required: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if shape.form == "list" and shape.num_rows >= MIN_ROWS:
        yield "partial_list", f"list of {shape.num_rows} rows"
    if shape.form in ("list", "object") and shape.num_chars >= MIN_CHARS:
        yield "truncated_reply", f"JSON of {shape.num_chars} characters"
    if shape.form == "object" and shape.keys and shape.arguments:
        yield "swapped_reply", "reads one object that its arguments name"
    if shape.form == "list" and (filters := _filters(shape.arguments, required)):
        yield "dropped_filter", f"list filtered by {', '.join(filters)}"
    if shape.form in ("list", "object"):
        yield "stale_read", "may lag behind a write"


def _filters(names: tuple[str, ...], required: tuple[str, ...]) -> list[str]:
    return [name for name in names if name not in required and name not in NOT_FILTERS]
