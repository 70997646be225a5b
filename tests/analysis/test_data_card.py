"""The data card counts what the file holds, against numbers counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.data import card, coverage, load, main, tokens_by_reason
from robustops.core.listing import write_listing


def row(task: str, condition: str, fault: str, length: int, domain: str = "csm", mode: str = "oracle") -> dict:
    """Ten tokens of context, a call of four, and the rest as planning."""
    spans = [[0, 10, "context"], [10, 14, "call"], [14, length, "planning"]]
    facts = {"task_id": task, "domain": domain, "tool_mode": mode, "condition": condition, "fault": fault}
    return {"source": f"run/{task}|{condition}", "token_ids": [1] * length, "spans": spans, "facts": facts}


ROWS = [
    row("a", "clean", "", 20),
    row("a", "fault", "lost_ack", 30),
    row("b", "clean", "", 40, domain="hr"),
    row("c", "fault", "throttled", 50, mode="plus5"),
    row("c", "fault", "lost_ack", 60),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_listing(tmp_path / "sft.jsonl", ROWS, kind="sft", split="train", source="expert")
    return tmp_path / "sft.jsonl"


def tables(file: Path, cap: int = 32768) -> dict[str, tuple]:
    document = card(load(file), cap=cap)
    return {table.title: table.rows for section in document.sections for table in section.tables}


def test_demonstrations_are_counted_by_domain_mode_and_fault(file):
    found = tables(file)
    assert found["By domain"] == (("csm", "4", "80.0%"), ("hr", "1", "20.0%"))
    assert found["By tool mode"] == (("oracle", "4", "80.0%"), ("plus5", "1", "20.0%"))
    assert found["By fault"] == (("none", "2", "40.0%"), ("lost_ack", "2", "40.0%"), ("throttled", "1", "20.0%"))


def test_coverage_is_over_pairs_of_task_and_tool_mode():
    """a by both; b clean alone; c after faults alone, in two tool modes: four pairs in all."""
    found = coverage(ROWS)
    assert {name: len(pairs) for name, pairs in found.items()} == {"clean": 2, "fault": 3, "either": 4, "both": 1}


def test_masked_tokens_are_shared_out_by_reason(file):
    """200 tokens: five times ten of context and four of call, the rest 130."""
    assert tokens_by_reason(ROWS) == {"context": 50, "call": 20, "planning": 130}
    rows = {cells[0]: cells for cells in tables(file)["Tokens by reason"]}
    assert rows["call"] == ("call", "yes", "5", "20", "10.0%", "13.3%")
    assert rows["planning"][1] == "no"


def test_lengths_are_held_against_the_cap(file):
    document = card(load(file), cap=50)
    assert document.summary[2] == "The longest has 60 tokens; 1 of 5 exceed the cap of 50."
    rows = {cells[0]: cells[1:] for cells in tables(file, cap=50)["Tokens of a demonstration"]}
    assert (rows["0%"], rows["50%"], rows["100%"]) == (("20", "40.0%"), ("40", "80.0%"), ("60", "120.0%"))


def test_the_command_prints_the_card_and_writes_its_page(file, capsys):
    assert main([str(file.parent)]) == 0
    assert "By fault" in capsys.readouterr().out
    page = (file.parent / "data_card" / "report.html").read_text()
    assert "<svg" in page
    assert "lost_ack" in page


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no demonstration in it"),
        ([{key: value for key, value in ROWS[0].items() if key != "facts"}], "collect do=export"),
    ],
)
def test_a_file_that_has_no_card_is_one_line(tmp_path, capsys, rows, message):
    write_listing(tmp_path / "sft.jsonl", rows, kind="sft", split="train", source="expert")
    assert main([str(tmp_path / "sft.jsonl")]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_shown_rows_are_those_of_the_file(file):
    assert [json.loads(line)["source"] for line in file.read_text().splitlines()[1:]] == [r["source"] for r in ROWS]
