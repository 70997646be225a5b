"""Rows and trajectories of one run in; nothing out, or the first number that the trajectories do not confirm.

Every verdict is worked out again from the recorded check values, so that no success rests on a stored flag. A check
without an expected value (an LLM judge, required tool calls) has nothing to compare and keeps its recorded outcome;
such checks are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.source import with_trajectories
from robustops.core.episode_row import EpisodeRow, read_episodes
from robustops.core.errors import TableError


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRun:
    num_episodes: int
    num_values: int
    num_judged: int


def check_run(folder: Path) -> CheckedRun:
    """Raises TableError naming the first case and number that do not follow from the check values."""
    path = folder / "trajectories.jsonl"
    if not path.is_file():
        raise TableError(f"{path}: no such file; --check needs the trajectories of every run")
    rows = read_episodes(folder / "episodes.parquet")
    num_values = num_judged = 0
    for where, row, line in with_trajectories(folder, rows):
        try:
            recorded = [check for moment in ("boundary", "end") for check in (line[moment] or {"checks": ()})["checks"]]
            for check in recorded:
                _check_value(f"{where}: case {row.case_id}", check)
            _check_row(where, line, row)
        except (KeyError, TypeError) as error:
            raise TableError(
                f"{where}: case {row.case_id}: not an episode ({error!r}); written by another version?"
            ) from error
        num_values += len(recorded)
        num_judged += sum(not _is_comparable(check) for check in recorded)
    return CheckedRun(num_episodes=len(rows), num_values=num_values, num_judged=num_judged)


def _is_comparable(check: Mapping[str, Any]) -> bool:
    """Whether the outcome follows from value and expectation alone. A refused query has value None and fails anyway."""
    return check["passed"] is not None and check["expected"] is not None


def _check_value(where: str, check: Mapping[str, Any]) -> None:
    if not _is_comparable(check):
        return
    passed = holds(check["value"], check["expected"], check["comparison"])
    if passed != check["passed"]:
        raise TableError(
            f"{where}: check {check['index']} ({check['name']}): value {check['value']!r} {check['comparison']} "
            f"{check['expected']!r} is {passed}, the record says {check['passed']}"
        )


def holds(value: Any, expected: Any, comparison: str) -> bool:
    """The benchmark's comparisons: no coercion; what cannot be compared, and an unknown comparison, fails."""
    try:
        match comparison:
            case "equals":
                return bool(value == expected)
            case "greater_than":
                return bool(value > expected)
            case "less_than":
                return bool(value < expected)
            case "contains":
                return expected in str(value)
    except TypeError:
        pass
    return False


def _outcome(check: Mapping[str, Any]) -> bool | None:
    if not _is_comparable(check):
        return None if check["passed"] is None else bool(check["passed"])
    return holds(check["value"], check["expected"], check["comparison"])


def _check_row(where: str, line: Mapping[str, Any], row: EpisodeRow) -> None:
    for name, value in recompute(line).items():
        if (stored := getattr(row, name)) != value:
            raise TableError(
                f"{where}: case {row.case_id}: {name} is {value!r} by the trajectory, episodes.parquet says {stored!r}"
            )


def recompute(line: Mapping[str, Any]) -> dict[str, Any]:
    """Every column that the report shows and a trajectory determines, under its name in the table."""
    checks = line["end"]["checks"] if line["end"] else []
    outcomes = [_outcome(check) for check in checks]
    by_name = {check["name"]: ok for check, ok in zip(checks, outcomes, strict=True) if ok is not None}
    turns = line["turns"]
    generated = [turn for turn in turns if turn["generated"]]
    return {
        "success": all(by_name.values()) if by_name else None,
        "success_strict": None if None in outcomes or not outcomes else all(outcomes),
        "checks_passed": outcomes.count(True),
        "checks_scored": len(outcomes) - outcomes.count(None),
        "stop_reason": line["stop_reason"],
        "fault_planned": line["plan"] is not None,
        "fault_hit": bool(line["faults"]),
        "fault_count": len(line["faults"]),
        "fault_subtype": line["plan"]["subtype"] if line["plan"] else None,
        "turns": len(generated),
        "tool_calls": _num_calls(line),
        "prompt_tokens": _prompt_tokens(turns),
        "damage_rows": None if line.get("damage") is None else len(line["damage"]),
        "damage_severity": _worst(line.get("damage") or ()),
        "completion_tokens": sum(len(turn["sampled_ids"]) for turn in generated),
    }


def _worst(damage: Sequence[Mapping[str, Any]]) -> str | None:
    return max((row["severity"] for row in damage), key=("LOW", "MEDIUM", "HIGH").index, default=None)


def _num_calls(line: Mapping[str, Any]) -> int:
    """Calls and malformed calls of the policy; a block that the output budget cut off at the end is neither."""
    turns, is_cut = line["turns"], line["stop_reason"] == "length"
    return sum(
        turn["call"] is not None or (turn["malformed"] is not None and not (is_cut and turn is turns[-1]))
        for turn in turns
        if turn["generated"]
    )


def _prompt_tokens(turns: list[Mapping[str, Any]]) -> int:
    """Each generated turn is billed for all tokens before its sample."""
    total = length = 0
    for turn in turns:
        length += len(turn["context_ids"])
        if turn["generated"]:
            total += length
        length += len(turn["sampled_ids"])
    return total
