"""ATIF, version 1.5: one trajectory a line, with what the model was asked, what it did and what it was shown.

Prompt tokens are counted, not repeated; sampled ids and their log-probabilities stand in each step's metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.source import Source
from robustops import __version__
from robustops.core.episode_row import EpisodeRow

VERSION = "ATIF-v1.5"


def atif_lines(source: Source, conditions: Sequence[str]) -> Iterator[dict[str, Any]]:
    for key, row, line in source.episodes():
        if row.condition in conditions:
            yield _trajectory(key, row, line, source.tasks.get(row.task_id, {}))


def _trajectory(key: str, row: EpisodeRow, line: Mapping[str, Any], task: Mapping[str, Any]) -> dict[str, Any]:
    opening = [("system", task.get("policy")), ("user", task.get("request"))]
    steps: list[dict[str, Any]] = [{"source": who, "message": text} for who, text in opening if text]
    steps += [_step(number, turn) for number, turn in enumerate(line["turns"], start=1)]
    return {
        "schema_version": VERSION,
        "session_id": f"{row.run}|{key}",
        "agent": {"name": "robustops", "version": __version__, "model_name": row.model},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": {
            "total_prompt_tokens": row.prompt_tokens,
            "total_completion_tokens": row.completion_tokens,
            "total_cached_tokens": row.cached_tokens,
            "total_steps": len(steps),
        },
        "extra": {
            "case_id": row.case_id,
            "success": row.success,
            "stop_reason": row.stop_reason,
            "fault": line["plan"] and line["plan"]["subtype"],
            "checks": line["end"]["checks"] if line["end"] else [],
        },
    }


def _step(number: int, turn: Mapping[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": turn["text"]}
    call_id = f"call_{number:04d}"
    if turn["call"]:
        step["tool_calls"] = [
            {
                "tool_call_id": call_id,
                "function_name": turn["call"]["name"],
                "arguments": turn["call"]["arguments"],
            }
        ]
    if turn["shown"]:
        reference = {"source_call_id": call_id} if turn["call"] else {}
        step["observation"] = {"results": [{**reference, "content": turn["shown"]["observation"]}]}
    step["metrics"] = {
        "prompt_tokens": turn["prompt_tokens"],
        "completion_tokens": len(turn["sampled_ids"]),
        "cached_tokens": turn["cached_tokens"],
        "completion_token_ids": turn["sampled_ids"],
        "logprobs": turn["logprobs"],
    }
    return step
