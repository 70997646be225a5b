"""What a sweep optimises is what a training run logs."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml
from test_callbacks import Bench

from robustops.compose.objective import OBJECTIVES
from robustops.learn.metrics_table import MetricsTable
from robustops.learn.rl_run import run_grpo

SWEEPS = sorted((Path(__file__).resolve().parents[2] / "experiments" / "ablations").glob("*.yaml"))

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Of the table that an RL run of one step leaves; other loggers get the same names."""
    folder = tmp_path_factory.mktemp("run")
    bench = Bench(folder, 1)
    run_grpo(bench.module, bench.callback, folder=folder / "checkpoints", steps=1, logger=MetricsTable(folder))
    with (folder / "metrics.csv").open(newline="") as file:
        return set(next(csv.reader(file)))


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_the_metric_of_a_sweep_is_one_that_training_logs(path: Path, columns: set[str]) -> None:
    metric = yaml.safe_load(path.read_text())["metric"]
    assert metric["name"] in columns
    assert metric["goal"] == "maximize"


def test_what_a_hydra_sweeper_gets_from_rl_is_logged_as_well(columns: set[str]) -> None:
    assert {name for name in OBJECTIVES if name.startswith("reward/")} <= columns
