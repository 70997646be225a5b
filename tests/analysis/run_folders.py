"""Small run folders with known outcomes, in the format that an evaluation writes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustops.core.episode_row import EpisodeRow, write_episodes
from robustops.core.files import write_json

SEVERITIES = ("LOW", "MEDIUM", "HIGH")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One case: a task in a condition, solved or not (None: unscored), with whatever else a test varies."""

    task_id: str
    condition: str = "clean"
    success: bool | None = True
    attempt: int = 0
    domain: str = "csm"
    tool_mode: str = "oracle"
    subtype: str | None = None
    hit: bool = False
    stop_reason: str = "stop"
    opening_tokens: int = 100
    tool_calls: int = 2
    supplemented: bool = False
    manifest: str = "a" * 64
    damage: tuple[str, ...] | None = None  # the severity of each damaged row


def outcomes(pattern: str, *, condition: str = "clean", prefix: str = "t") -> list[Outcome]:
    """'1' solved, '0' not, '?' unscored; tasks are numbered in the order of the characters."""
    marks: dict[str, bool | None] = {"1": True, "0": False, "?": None}
    return [
        Outcome(task_id=f"{prefix}{number:03d}", condition=condition, success=marks[mark])
        for number, mark in enumerate(pattern)
    ]


def faulted(cases: Iterable[Outcome], *, subtype: str = "throttled", hit: bool = True) -> list[Outcome]:
    return [replace(case, condition="fault", subtype=subtype, hit=hit) for case in cases]


def row(case: Outcome, stage: str) -> EpisodeRow:
    """Every turn samples one token and is billed for all tokens before it."""
    checks_passed = 2 if case.success else 1
    num_turns = case.tool_calls + 1
    return EpisodeRow(
        run=f"eval_{stage}",
        model=f"tiny-{stage}",
        stage=stage,
        case_id=f"{case.task_id}|{case.tool_mode}|{case.condition}|{case.attempt}",
        task_id=case.task_id,
        tool_mode=case.tool_mode,
        condition=case.condition,
        attempt=case.attempt,
        domain=case.domain,
        split="test",
        seed=0,
        success=case.success,
        success_strict=case.success,
        checks_passed=0 if case.success is None else checks_passed,
        checks_gated=0,
        checks_total=2,
        checks_scored=0 if case.success is None else 2,
        progress=None,
        quality=None,
        reward=None,
        fault_subtype=case.subtype,
        fault_planned=case.subtype is not None,
        fault_hit=case.hit,
        fault_count=int(case.hit),
        turns=num_turns,
        tool_calls=case.tool_calls,
        bad_calls=0,
        prompt_tokens=sum(case.opening_tokens + sampled for sampled in range(num_turns)),
        completion_tokens=num_turns,
        reasoning_tokens=0,
        cached_tokens=0,
        wall_s=0.1,
        stop_reason=case.stop_reason,
        error_kind="",
        damage_rows=None if case.damage is None else len(case.damage),
        damage_severity=max(case.damage or (), key=SEVERITIES.index, default=None),
        supplemented=case.supplemented,
        manifest_sha=case.manifest,
        weight_version=0,
        policy_mode="greedy",
    )


def trajectory(case: Outcome, stage: str) -> dict[str, Any]:
    """The line that belongs to `row`: two checks, and one token per turn."""
    values = {True: (3, "open"), False: (3, "closed"), None: None}[case.success]
    checks = [
        {"index": 0, "name": "count", "value": values[0], "expected": 3, "comparison": "equals"},
        {"index": 1, "name": "state", "value": values[1], "expected": "open", "comparison": "equals"},
    ] if values else []  # fmt: skip
    for check in checks:
        check |= {"passed": check["value"] == check["expected"], "reason": ""}
    names = ("task_id", "tool_mode", "condition", "attempt")
    event = {"subtype": case.subtype, "call_index": 0, "native": "[]", "shown": "[]"}
    event |= {"hash_before": "", "hash_after": "", "remaining_cap": 0}
    plan = {"subtype": case.subtype, "tool": "find_account", "signature": "find_account{}", "cap": 1, "seed": 0}
    return {
        "schema_version": 1,
        "case_id": row(case, stage).case_id,
        "case": {name: getattr(case, name) for name in names},
        "source": {"run": f"eval_{stage}", "model": f"tiny-{stage}", "stage": stage},
        "stop_reason": case.stop_reason,
        "answer": "Done.",
        "error_kind": "",
        "error": "",
        "plan": plan if case.subtype else None,
        "faults": [event] if case.hit else [],
        "boundary": None,
        "end": {"checks": checks, "gated": 0} if checks else None,
        "wall_s": 0.1,
        "damage": None if case.damage is None else [damaged(severity) for severity in case.damage],
        "turns": _turns(case),
    }


def _turns(case: Outcome) -> list[dict[str, Any]]:
    """Its calls, one token each, and the last message."""
    call = {"name": "find_account", "arguments": {}}
    reply = {"text": "[]", "observation": "[]", "is_error": False, "executed": True, "latency_s": 0.001}
    turn = {
        "context_ids": [],
        "sampled_ids": [7],
        "logprobs": [-0.5],
        "weight_version": 0,
        "text": "",
        "malformed": None,
        "fault": None,
        "generated": True,
        "hash_before": "",
        "hash_after": "",
        "policy_s": 0.01,
        "dropped_calls": 0,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
    }
    turns: list[dict[str, Any]] = [
        {"prompt_tokens": case.opening_tokens + number, **turn, "call": call, "shown": reply, "native": "as shown"}
        for number in range(case.tool_calls)
    ]
    last = {"prompt_tokens": case.opening_tokens + case.tool_calls, "call": None, "shown": None, "native": None}
    turns.append({**turn, **last, "text": "Done."})
    turns[0]["context_ids"] = [1] * case.opening_tokens
    return turns


def damaged(severity: str) -> dict[str, Any]:
    return {"gym": "desk", "table": "t", "operation": "added", "key": 1, "columns": [], "severity": severity}


MakeRun = Callable[..., Path]


def write_run(path: Path, stage: str, cases: Iterable[Outcome], info: Mapping[str, Any]) -> None:
    path.mkdir()
    cases = list(cases)
    write_episodes(path / "episodes.parquet", [row(case, stage) for case in cases])
    write_json(path / "run.json", {"stage": stage, **info})
    lines = [json.dumps(trajectory(case, stage)) + "\n" for case in cases]
    (path / "trajectories.jsonl").write_text("".join(lines))


def markdown_table(text: str, title: str) -> list[dict[str, str]]:
    """The rows of the table under '### title', by column name."""
    lines = text.split(f"### {title}\n", 1)[1].strip().splitlines()
    table = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))])
    header, _, *rows = table
    return [dict(zip(header, cells, strict=True)) for cells in rows]
