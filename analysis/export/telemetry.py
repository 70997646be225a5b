"""Per-turn telemetry: one record a turn, the benchmark's 21 fields under its own names, then six of ours.

Nothing is compacted here, so the four fields of compaction are always null. A turn's time is worked out backwards from
when its episode was written; a run of an older version has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from analysis.source import Source
from robustops.core.episode_row import EpisodeRow

FIELDS = (
    *("task_id", "trial_name", "turn", "num_turns", "input_length", "output_length", "stacked_input", "is_resolved"),
    *("task_complete", "num_steps", "timestamp", "question", "answer", "cached input length", "new input length"),
    *("tool_call names", "per-tool latency", "tokensBefore", "tokensAfter"),
    *("content before compaction", "content after compaction"),
)
BESIDE = ("tool_latency_detail", "model", "turn_duration_ms", "domain", "mode", "reward")


def telemetry_lines(source: Source, conditions: Sequence[str]) -> Iterator[dict[str, Any]]:
    trials = Counter((row.task_id, row.tool_mode, row.condition) for row in source.rows if not row.supplemented)
    for _, row, line in source.episodes():
        if row.condition in conditions and not row.supplemented:
            yield from _turns(source, row, line, trials[row.task_id, row.tool_mode, row.condition])


def _turns(source: Source, row: EpisodeRow, line: Mapping[str, Any], num_trials: int) -> Iterator[dict[str, Any]]:
    turns = line["turns"]
    times = _times(line)
    for number, turn in enumerate(turns):
        executed = bool(turn["call"] and turn["shown"])
        latency_ms = round(1000 * turn["shown"]["latency_s"]) if executed else None
        length = turn["prompt_tokens"]
        yield {
            "task_id": row.task_id,
            "trial_name": f"{row.task_id}.{row.attempt + 1}-of-{num_trials}.default",
            "turn": number + 1,
            "num_turns": len(turns),
            "input_length": length,
            "output_length": len(turn["sampled_ids"]),
            "stacked_input": length,
            "is_resolved": row.success is True,
            "task_complete": number == len(turns) - 1 and turn["call"] is None and bool(line["answer"]),
            "num_steps": int(turn["call"] is not None),
            "timestamp": times[number],
            "question": source.tasks.get(row.task_id, {}).get("request"),
            "answer": line["answer"] if number == len(turns) - 1 else turn["text"],
            "cached input length": turn["cached_tokens"],
            "new input length": length - turn["cached_tokens"],
            "tool_call names": turn["call"]["name"] if turn["call"] else "",
            "per-tool latency": latency_ms,
            "tokensBefore": None,
            "tokensAfter": None,
            "content before compaction": None,
            "content after compaction": None,
            "tool_latency_detail": {turn["call"]["name"]: latency_ms} if executed else {},
            "model": row.model,
            "turn_duration_ms": round(1000 * _duration_s(turn)),
            "domain": row.domain,
            "mode": row.tool_mode,
            "reward": float(row.success is True),
        }


def _duration_s(turn: Mapping[str, Any]) -> float:
    return float(turn["policy_s"] + (turn["shown"]["latency_s"] if turn["shown"] else 0.0))


def _times(line: Mapping[str, Any]) -> list[str | None]:
    """When each turn began."""
    if "written_at" not in line:
        return [None] * len(line["turns"])
    moment = datetime.fromisoformat(line["written_at"])
    times: list[str | None] = []
    for turn in reversed(line["turns"]):
        moment -= timedelta(seconds=_duration_s(turn))
        times.append(moment.isoformat())
    return times[::-1]
