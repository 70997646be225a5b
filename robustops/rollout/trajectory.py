"""One episode as one JSON line, and back without loss. The line is what analysis, the viewer and a resumed run read.

Field names are those of `core.episode`; `prompt_tokens` of a turn is derived and only for readers. A native reply that
was shown unchanged is written once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from robustops.core.episode import (
    CheckResult,
    DamagedRow,
    Episode,
    FaultEvent,
    FaultPlan,
    ToolCall,
    ToolResult,
    Turn,
    Verdict,
)
from robustops.core.errors import TableError
from robustops.core.files import SCHEMA_VERSION
from robustops.core.json_lines import read_lines
from robustops.core.task import Case

AS_SHOWN = "as shown"


def dump_episode(episode: Episode, *, source: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """`source`: where it comes from (run, model, stage, seed), copied into the line."""
    return {
        "schema_version": SCHEMA_VERSION,
        "case_id": episode.case.case_id,
        "case": _flat(episode.case),
        "source": dict(source or {}),
        "stop_reason": episode.stop_reason,
        "answer": episode.answer,
        "error_kind": episode.error_kind,
        "error": episode.error,
        "plan": _flat(episode.plan),
        "faults": [_flat(event) for event in episode.faults],
        "boundary": _dump_verdict(episode.boundary),
        "end": _dump_verdict(episode.end),
        "wall_s": episode.wall_s,
        "damage": None if episode.damage is None else [_flat(row) for row in episode.damage],
        "turns": dump_turns(episode.turns),
    }


def dump_turns(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    prompt_tokens, lines = 0, []
    for turn in turns:
        prompt_tokens += len(turn.context_ids)
        lines.append(_dump_turn(turn, prompt_tokens))
        prompt_tokens += len(turn.sampled_ids)
    return lines


def _dump_turn(turn: Turn, prompt_tokens: int) -> dict[str, Any]:
    is_as_shown = turn.native is not None and turn.native == turn.shown
    return {
        "prompt_tokens": prompt_tokens,
        **_fields(turn),
        "call": _flat(turn.call),
        "shown": _flat(turn.shown),
        "native": AS_SHOWN if is_as_shown else _flat(turn.native),
        "fault": _flat(turn.fault),
    }


def _dump_verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    return {"checks": [_flat(check) for check in verdict.checks], "gated": verdict.gated} if verdict else None


def _flat(value: Any) -> dict[str, Any] | None:
    return _fields(value) if value is not None else None


def _fields(value: Any) -> dict[str, Any]:
    """One level of a dataclass; `asdict` would copy every token id by itself."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def load_episode(line: Mapping[str, Any]) -> Episode:
    """Raises TableError naming the case and what is missing or unknown."""
    where = f"trajectory {line.get('case_id', '?')}"
    if line.get("schema_version") != SCHEMA_VERSION:
        raise TableError(f"{where}: schema version {line.get('schema_version')!r}, expected {SCHEMA_VERSION}")
    try:
        return Episode(
            case=Case(**line["case"]),
            turns=load_turns(line["turns"]),
            boundary=_load_verdict(line["boundary"]),
            end=_load_verdict(line["end"]),
            stop_reason=line["stop_reason"],
            answer=line["answer"],
            error_kind=line["error_kind"],
            error=line["error"],
            faults=tuple(FaultEvent(**event) for event in line["faults"]),
            plan=FaultPlan(**line["plan"]) if line["plan"] else None,
            wall_s=line["wall_s"],
            damage=_load_damage(line.get("damage")),
        )
    except (KeyError, TypeError) as error:
        raise TableError(f"{where}: not an episode ({error}); was it written by another version?") from error


def read_trajectories(path: Path) -> Iterator[Episode]:
    for line in read_lines(path):
        yield load_episode(line)


def load_turns(lines: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    return tuple(_load_turn(line) for line in lines)


def _load_turn(line: Mapping[str, Any]) -> Turn:
    fields = {key: value for key, value in line.items() if key != "prompt_tokens"}
    shown = ToolResult(**fields["shown"]) if fields["shown"] else None
    native = fields["native"]
    fields["call"] = ToolCall(**fields["call"]) if fields["call"] else None
    fields["shown"] = shown
    fields["native"] = shown if native == AS_SHOWN else (ToolResult(**native) if native else None)
    fields["fault"] = FaultEvent(**fields["fault"]) if fields["fault"] else None
    for name in ("context_ids", "sampled_ids", "logprobs"):
        fields[name] = tuple(fields[name])
    return Turn(**fields)


def _load_damage(rows: Sequence[Mapping[str, Any]] | None) -> tuple[DamagedRow, ...] | None:
    if rows is None:
        return None
    return tuple(DamagedRow(**{**row, "columns": tuple(row["columns"])}) for row in rows)


def _load_verdict(line: Mapping[str, Any] | None) -> Verdict | None:
    if line is None:
        return None
    return Verdict(checks=tuple(CheckResult(**check) for check in line["checks"]), gated=line["gated"])
