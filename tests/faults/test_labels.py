"""Selector labels narrow what is looked at, and a file that is not for this task set is refused by name."""

from pathlib import Path
from typing import Any

import pytest

from robustops.core.errors import ManifestError
from robustops.core.listing import set_name
from robustops.faults.labels import Candidate, label_row, read_labels, write_labels

SET = set_name("synthetic", "abcdef0123456789")
ROW = label_row(
    "csm-1", [Candidate(tool="t", subtype="lost_ack", reason="r"), Candidate(tool="t", subtype="throttled", reason="s")]
)


def read(path: Path, rows: list[dict[str, Any]], *, split: str = SET) -> Any:
    write_labels(path, rows, split=SET, source="rules")
    return read_labels(path, split=split, task_ids={"csm-1", "csm-2"})


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    assert ROW == {"task_id": "csm-1", "tools": {"t": {"lost_ack": "r", "throttled": "s"}}}
    labels = read(tmp_path / "labels", [ROW])
    assert labels.of_task("csm-1") == {("t", "lost_ack"), ("t", "throttled")}


def test_a_task_that_nobody_looked_at_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"labels: no row for task 'csm-2' \(1 tasks\)"):
        read(tmp_path / "labels", [ROW]).of_task("csm-2")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"task_id": "hr-1", "tools": {}}, ":2: task 'hr-1' is not in this task set \\(2 ids\\)"),
        ({"task_id": "csm-1", "tools": {"t": {"lost_akc": "r"}}}, ":2: unknown fault subtype 'lost_akc'"),
        ({"task_id": "csm-1"}, ":2: expected task_id and tools, got task_id"),
    ],
)
def test_a_row_that_cannot_be_is_refused(tmp_path: Path, row: dict[str, Any], expected: str) -> None:
    with pytest.raises(ManifestError, match=expected):
        read(tmp_path / "labels", [row])


def test_labels_of_another_set_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="made for task set 'synthetic@abcdef012345', this run uses 'synthetic@0'"):
        read(tmp_path / "labels", [ROW], split="synthetic@0")


def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels"
    read(path, [ROW])
    path.write_text(path.read_text().replace('"lost_ack"', '"silent_noop"'))
    with pytest.raises(ManifestError, match="it was edited or cut"):
        read_labels(path, split=SET, task_ids={"csm-1"})
