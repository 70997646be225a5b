"""Experiment trackers without a network: each leaves its files, and W&B has one run a job, resumed under its id."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from robustops.compose.run_id import run_id
from robustops.compose.trainer import build_logger, finish_logger
from robustops.config.tree import GrpoConfig, LoggerConfig, RunConfig


def logged(kind: str) -> RunConfig:
    return RunConfig(algorithm=GrpoConfig(), logger=LoggerConfig(kind=kind))


def test_tensorboard_leaves_its_events(tmp_path: Path) -> None:
    logger = build_logger(logged("tensorboard"), tmp_path)
    logger.log_metrics({"reward_mean": 0.25}, step=3)
    logger.finalize("success")
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload().Scalars("reward_mean")
    assert [(event.step, event.value) for event in events] == [(3, 0.25)]


def test_the_table_is_a_csv_file(tmp_path: Path) -> None:
    logger = build_logger(logged("csv"), tmp_path)
    logger.log_metrics({"reward_mean": 0.25}, step=3)
    logger.finalize("success")
    header, row = (tmp_path / "metrics.csv").read_text().splitlines()[:2]
    assert dict(zip(header.split(","), row.split(","), strict=True))["reward_mean"] == "0.25"


def test_a_folder_keeps_its_id_and_every_folder_has_its_own(tmp_path: Path) -> None:
    for name in ("first/0", "second/0"):  # job 0 of two multiruns
        (tmp_path / name).mkdir(parents=True)
    first = run_id(tmp_path / "first" / "0")
    assert run_id(tmp_path / "first" / "0") == first
    assert run_id(tmp_path / "second" / "0") != first


def test_wandb_offline_has_one_run_a_job_and_a_resumed_job_goes_on_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    ids = []
    for job in ("0", "1", "0"):  # the third resumes the first
        folder = tmp_path / job
        folder.mkdir(exist_ok=True)
        logger = build_logger(logged("wandb"), folder)
        logger.log_metrics({"reward_mean": 0.25})
        ids.append(logger.experiment.id)
        assert logger.experiment.config["seed"] == 0
        finish_logger(logged("wandb"))
    assert ids[0] == ids[2] != ids[1]
    # offline-run-TIME-ID, and -1 behind it where two runs of one id began in one second
    runs = {path.name.split("-")[3] for path in tmp_path.rglob("offline-run-*") if path.is_dir()}
    assert runs == {ids[0], ids[1]}
