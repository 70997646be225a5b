"""What a sweeper optimises is the last value of the best-known metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustops.compose.objective import objective


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("step,reward/mean,reward/mean_10_steps\n0,0.9,0.1\n1,0.8,0.2\n", 0.2),
        ("step,reward/mean\n0,0.1\n1,0.3\n2,\n", 0.3),
        ("step,sft/loss,sft/monitoring_loss\n0,2.0,1.5\n1,1.0,\n", 1.5),
        ("step,other\n0,1\n", None),
    ],
)
def test_the_objective_is_the_last_value_that_was_written(tmp_path: Path, table: str, expected: float | None) -> None:
    (tmp_path / "metrics.csv").write_text(table)
    assert objective(tmp_path) == expected


def test_a_run_without_a_table_has_no_objective(tmp_path: Path) -> None:
    assert objective(tmp_path) is None
