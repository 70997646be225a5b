"""metrics.csv outlives the process that wrote it."""

from __future__ import annotations

import csv
from pathlib import Path

from robustops.learn.metrics_table import MetricsTable


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_step_is_a_row(tmp_path: Path) -> None:
    table = MetricsTable(tmp_path)
    table.log_metrics({"reward_mean": 0.25}, step=1)
    table.log_metrics({"reward_mean": 0.5}, step=2)
    assert rows(tmp_path) == [{"step": "1", "reward_mean": "0.25"}, {"step": "2", "reward_mean": "0.5"}]


def test_a_resumed_run_goes_on_in_the_same_table(tmp_path: Path) -> None:
    MetricsTable(tmp_path).log_metrics({"loss": 3.0}, step=1)
    MetricsTable(tmp_path).log_metrics({"loss": 2.0}, step=2)
    assert [row["loss"] for row in rows(tmp_path)] == ["3.0", "2.0"]


def test_a_repeated_step_replaces_its_row(tmp_path: Path) -> None:
    MetricsTable(tmp_path).log_metrics({"loss": 3.0}, step=1)
    MetricsTable(tmp_path).log_metrics({"loss": 1.0}, step=1)
    assert rows(tmp_path) == [{"step": "1", "loss": "1.0"}]


def test_a_metric_that_appears_later_gets_a_column_of_its_own(tmp_path: Path) -> None:
    table = MetricsTable(tmp_path)
    table.log_metrics({"loss": 3.0}, step=1)
    table.log_metrics({"loss": 2.0, "monitoring_loss": 2.5}, step=2)
    assert rows(tmp_path)[0] == {"step": "1", "loss": "3.0", "monitoring_loss": ""}
    assert rows(tmp_path)[1]["monitoring_loss"] == "2.5"


def test_a_row_that_a_full_disk_cut_short_is_no_step(tmp_path: Path) -> None:
    """The step that was cut is repeated; "12" cut after its first digit must not stand for step 1."""
    table = MetricsTable(tmp_path)
    for step in (1, 11):
        table.log_metrics({"loss": 3.0}, step=step)
    path = tmp_path / "metrics.csv"
    path.write_text(path.read_text() + "1")
    MetricsTable(tmp_path).log_metrics({"loss": 2.0}, step=12)
    assert [(row["step"], row["loss"]) for row in rows(tmp_path)] == [("1", "3.0"), ("11", "3.0"), ("12", "2.0")]
