"""One episode as the page shows it: a trajectory in, a small record out. Token ids and hashes stay behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustops.core.episode_row import EpisodeRow

AS_SHOWN = "as shown"


def summary(row: EpisodeRow) -> dict[str, Any]:
    """What lists and filters need, without opening the episode."""
    return {
        "solved": row.success,
        "stop": row.stop_reason,
        "turns": row.turns,
        "calls": row.tool_calls,
        "bad": row.bad_calls,
        "tokens": row.prompt_tokens + row.completion_tokens,
        "hit": row.fault_hit,
        "damage": row.damage_rows,
        "reward": row.reward,
    }


def searchable(line: Mapping[str, Any]) -> str:
    """Words by which an episode is found: tools, the answer, error and stop."""
    tools = dict.fromkeys(turn["call"]["name"] for turn in line["turns"] if turn["call"])
    return " ".join((*tools, line["answer"], line["error_kind"], line["stop_reason"]))


def episode(
    line: Mapping[str, Any], advantages: Sequence[Mapping[str, Any]] | None, *, limit: int | None
) -> dict[str, Any]:
    """`limit`: characters of a text that are kept; None keeps all."""
    turns = [_turn(turn, limit) for turn in line["turns"]]
    for turn, found in zip(turns, advantages or (), strict=False):
        if found["pieces"]:
            turn["pieces"], turn["advantages"] = found["pieces"], [round(value, 4) for value in found["advantages"]]
    return {
        "turns": turns,
        "checks": _checks(line, limit),
        "answer": cut(line["answer"], limit),
        "error": cut(": ".join(filter(None, (line["error_kind"], line["error"]))), limit),
        "plan": line["plan"] and {name: line["plan"][name] for name in ("subtype", "tool", "cap")},
        "damage": [
            f"{row['table']} {row['key']}: {row['operation']}{_named(row['columns'])}, {row['severity'].lower()}"
            for row in line.get("damage") or ()
        ],
        "wall_s": round(line.get("wall_s", 0.0), 2),
    }


def _named(columns: Sequence[str]) -> str:
    return f" {', '.join(columns)}" if columns else ""


def _turn(turn: Mapping[str, Any], limit: int | None) -> dict[str, Any]:
    shown, native = turn.get("shown"), turn.get("native")
    record: dict[str, Any] = {
        "text": cut(turn.get("text", ""), limit),
        "call": turn["call"],
        "tokens": [turn.get("prompt_tokens", 0), len(turn["sampled_ids"])],
        "inherited": not turn["generated"],
    }
    if turn["malformed"]:
        record["malformed"] = cut(turn["malformed"], limit)
    if shown:
        record["shown"] = cut(shown["text"] or shown["observation"], limit)
        record["is_error"], record["executed"] = shown["is_error"], shown["executed"]
        record["ms"] = round(1000 * shown["latency_s"], 1)
    if native and native != AS_SHOWN:
        record["native"] = cut(native["text"] or native["observation"], limit)
    if turn.get("fault"):
        record["fault"] = turn["fault"]["subtype"]
    if turn.get("dropped_calls"):
        record["dropped"] = turn["dropped_calls"]
    return record


def _checks(line: Mapping[str, Any], limit: int | None) -> list[dict[str, Any]]:
    """One record a check, with its value and outcome at the boundary and at the end."""
    records: dict[int, dict[str, Any]] = {}
    for moment in ("boundary", "end"):
        for check in (line[moment] or {"checks": ()})["checks"]:
            record = records.setdefault(
                check["index"],
                {"name": check["name"], "expected": check["expected"], "comparison": check["comparison"]},
            )
            value = check["value"]
            record[moment] = {
                "passed": check["passed"],
                "value": cut(value, limit) if isinstance(value, str) else value,
                "reason": cut(check.get("reason", ""), limit),
            }
    return [records[index] for index in sorted(records)]


def cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]} … [{len(text) - limit:,} more characters in trajectories.jsonl]"
