"""Results in the formats of others, field by field, and tables that other libraries read as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from analysis.export.__main__ import main
from analysis.export.telemetry import BESIDE, FIELDS
from robustops.data.formats.atif import VERSION
from tests.analysis.run_folders import MakeRun, faulted, outcomes

LISTED = [
    *("task_id", "trial_name", "turn", "num_turns", "input_length", "output_length", "stacked_input", "is_resolved"),
    *("task_complete", "num_steps", "timestamp", "question", "answer", "cached input length", "new input length"),
    *("tool_call names", "per-tool latency", "tokensBefore", "tokensAfter"),
    *("content before compaction", "content after compaction"),
]


@pytest.fixture
def run(make_run: MakeRun) -> Path:
    """Two tasks, two calls an episode; the first is solved. Each turn takes 10 ms of the model and 1 ms of the tool."""
    clean = outcomes("10")
    folder = make_run("rl", [*clean, *(replace(case, attempt=1) for case in clean), *faulted(clean)])
    asked = {"task_id": "t000", "domain": "csm", "request": "Close it.", "policy": "Be kind.", "checks": []}
    (folder / "tasks.jsonl").write_text(json.dumps(asked) + "\n")
    path = folder / "trajectories.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["written_at"] = "2026-01-01T00:00:01+00:00"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def exported(run: Path, form: str, *flags: str) -> Any:
    out = run / "out"
    assert main([str(run), "--format", form, "--out", str(out), *flags]) == 0
    text = out.read_text()
    return json.loads(text) if form == "inspect" else [json.loads(line) for line in text.splitlines()]


def test_telemetry_has_the_21_fields_in_their_order_and_six_beside(run: Path) -> None:
    turns = exported(run, "telemetry", "--condition", "clean")
    assert len(FIELDS) == 21
    assert list(FIELDS) == LISTED
    assert all(list(turn) == [*LISTED, *BESIDE] for turn in turns)
    assert len(turns) == 2 * 2 * 3  # tasks, attempts, turns


def test_telemetry_says_what_happened_in_a_turn(run: Path) -> None:
    first, _, last, *others = exported(run, "telemetry", "--condition", "clean")
    assert first["trial_name"] == "t000.1-of-2.default"
    assert (first["turn"], first["num_turns"], first["input_length"], first["output_length"]) == (1, 3, 100, 1)
    assert (first["tool_call names"], first["num_steps"], first["per-tool latency"]) == ("find_account", 1, 1)
    assert (first["is_resolved"], first["reward"], first["task_complete"]) == (True, 1.0, False)
    assert (last["task_complete"], last["tool_call names"], last["per-tool latency"]) == (True, "", None)
    assert (first["question"], last["answer"]) == ("Close it.", "Done.")
    assert (first["tokensBefore"], first["content after compaction"]) == (None, None)
    # Written at second 1: the last turn took 10 ms, the two before it 11 ms each.
    assert last["timestamp"] == "2026-01-01T00:00:00.990000+00:00"
    assert first["timestamp"] == "2026-01-01T00:00:00.968000+00:00"
    assert any(not turn["is_resolved"] and turn["reward"] == 0.0 for turn in others)


def test_an_atif_trajectory_refers_every_reply_to_its_call_and_counts_all_tokens(run: Path) -> None:
    lines = exported(run, "atif")
    assert len(lines) == 6
    first = lines[0]
    assert first["schema_version"] == "ATIF-v1.5" == VERSION  # as the export of demonstrations
    assert [step["source"] for step in first["steps"]] == ["system", "user", "agent", "agent", "agent"]
    assert [step["step_id"] for step in first["steps"]] == [1, 2, 3, 4, 5]
    for step in first["steps"][2:4]:
        (call,), (result,) = step["tool_calls"], step["observation"]["results"]
        assert call["tool_call_id"] == result["source_call_id"]
    totals = first["final_metrics"]
    assert totals["total_prompt_tokens"] == sum(step["metrics"]["prompt_tokens"] for step in first["steps"][2:])
    assert totals["total_completion_tokens"] == 3


def test_an_inspect_log_scores_every_episode(run: Path) -> None:
    log = exported(run, "inspect", "--condition", "clean")
    assert [sample["scores"]["checks"]["value"] for sample in log["samples"]] == ["C", "I", "C", "I"]
    assert log["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 0.5
    assert [message["role"] for message in log["samples"][0]["messages"]][:4] == ["system", "user", "assistant", "tool"]


def test_inspect_ai_reads_the_log(run: Path) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed: pip install inspect-ai")
    exported(run, "inspect")
    (run / "out").rename(run / "out.json")
    found = log.read_eval_log(str(run / "out.json"))
    assert found.status == "success"
    assert len(found.samples) == 6


def test_pandas_and_polars_read_the_rows_as_they_are(run: Path) -> None:
    by_pandas, by_polars = pd.read_parquet(run / "episodes.parquet"), pl.read_parquet(run / "episodes.parquet")
    assert by_pandas["success"].sum() == by_polars["success"].sum() == 3
    assert by_pandas["case_id"].tolist() == by_polars["case_id"].to_list()
    assert pl.read_ndjson(run / "trajectories.jsonl").height == 6


def test_an_unknown_format_is_one_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(run), "--format", "atiff", "--out", "x"]) == 2
    assert "invalid choice: 'atiff'" in capsys.readouterr().err
