"""An inspect_ai evaluation log (version 2 of its JSON form): one sample an episode, one score, the whole dialogue.

Written by hand, so that inspect_ai is needed to look at a log and not to write one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from analysis.rates import wilson
from analysis.source import Source
from robustops.core.episode_row import EpisodeRow
from robustops.core.files import read_json

LOG_VERSION = 2
SCORER = "checks"
LETTER = {True: "C", False: "I", None: "N"}  # inspect_ai's correct, incorrect, no answer


def inspect_log(source: Source, conditions: Sequence[str]) -> dict[str, Any]:
    info = read_json(source.folder / "run.json")
    samples: list[dict[str, Any]] = []
    usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    solved = 0
    written = []
    for key, row, line in source.episodes():
        if row.condition in conditions and not row.supplemented:
            samples.append(_sample(key, row, line, source.tasks.get(row.task_id, {})))
            usage["input_tokens"] += row.prompt_tokens
            usage["output_tokens"] += row.completion_tokens
            solved += row.success is True
            written.append(line.get("written_at"))
    usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
    times = sorted(filter(None, written)) or [datetime.fromtimestamp(0, UTC).isoformat()]
    model = f"robustops/{source.rows[0].model}"
    return {
        "version": LOG_VERSION,
        "status": "success",
        "eval": _spec(source, info, samples, created=times[0], model=model),
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(samples, solved),
        "stats": {"started_at": times[0], "completed_at": times[-1], "model_usage": {model: usage}},
        "samples": samples,
    }


def _spec(
    source: Source, info: Mapping[str, Any], samples: Sequence[Mapping[str, Any]], *, created: str, model: str
) -> dict[str, Any]:
    identity = hashlib.sha256(f"{source.folder.resolve().name}{info.get('settings_sha', '')}".encode()).hexdigest()[:22]
    return {
        "eval_id": identity,
        "run_id": identity,
        "created": created,
        "task": f"robustops/{source.rows[0].split}",
        "task_id": identity,
        "task_version": 0,
        "task_attribs": {},
        "task_args": {},
        "dataset": {
            "name": source.rows[0].split,
            "samples": len(samples),
            "sample_ids": [sample["id"] for sample in samples],
            "shuffled": False,
        },
        "model": model,
        "model_generate_config": {},
        "model_base_url": None,
        "model_args": {},
        "config": {"epochs": 1},
        "packages": {"robustops": str((info.get("versions") or {}).get("robustops"))},
        "metadata": {"manifest_sha": info.get("manifest_sha"), "revision": info.get("revision")},
    }


def _results(samples: Sequence[Mapping[str, Any]], solved: int) -> dict[str, Any]:
    rate = wilson(solved, len(samples)) if samples else None
    metrics = {"accuracy": rate.estimate} if rate else {}
    return {
        "total_samples": len(samples),
        "completed_samples": len(samples),
        "scores": [
            {
                "name": SCORER,
                "scorer": SCORER,
                "params": {},
                "metrics": {name: {"name": name, "value": value} for name, value in metrics.items()},
            }
        ],
    }


def _sample(key: str, row: EpisodeRow, line: Mapping[str, Any], task: Mapping[str, Any]) -> dict[str, Any]:
    messages = _messages(line, task)
    checks = line["end"]["checks"] if line["end"] else []
    return {
        "id": key,
        "epoch": 1,
        "input": str(task.get("request") or row.task_id),
        "target": "every check passes",
        "messages": messages,
        "output": {
            "model": row.model,
            "choices": [
                {
                    "message": {"role": "assistant", "content": line["answer"], "source": "generate"},
                    "stop_reason": "stop" if line["stop_reason"] == "stop" else "unknown",
                }
            ],
        },
        "scores": {
            SCORER: {
                "value": LETTER[row.success],
                "answer": line["answer"],
                "explanation": "\n".join(f"{_verdict(check)}: {check['name']}" for check in checks),
            }
        },
        "metadata": {
            "task_id": row.task_id,
            "domain": row.domain,
            "tool_mode": row.tool_mode,
            "condition": row.condition,
            "attempt": row.attempt,
            "fault_subtype": row.fault_subtype,
            "fault_hit": row.fault_hit,
            "stop_reason": row.stop_reason,
            "damage_rows": row.damage_rows,
        },
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }


def _verdict(check: Mapping[str, Any]) -> str:
    return {True: "passed", False: "failed", None: "unscored"}[check["passed"]]


def _messages(line: Mapping[str, Any], task: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if task.get("policy"):
        messages.append({"role": "system", "content": task["policy"]})
    if task.get("request"):
        messages.append({"role": "user", "content": task["request"]})
    for number, turn in enumerate(line["turns"], start=1):
        call_id, call = f"call_{number:04d}", turn["call"]
        message: dict[str, Any] = {"role": "assistant", "content": turn["text"], "source": "generate"}
        if call:
            message["tool_calls"] = [
                {"id": call_id, "function": call["name"], "arguments": call["arguments"], "type": "function"}
            ]
        messages.append(message)
        if turn["shown"]:
            name = call["name"] if call else None
            messages.append(
                {"role": "tool", "content": turn["shown"]["text"], "tool_call_id": call_id, "function": name}
            )
    return messages
