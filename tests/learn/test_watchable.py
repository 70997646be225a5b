"""Everything that a person watches RL by is in each step's row, and reaches TensorBoard and an offline W&B run."""

from __future__ import annotations

from pathlib import Path

import pytest
from bandit import PAD
from lightning.pytorch.loggers import Logger
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from test_callbacks import Bench
from tiny_qwen3 import tiny_model

from robustops.compose.trainer import build_logger, finish_logger
from robustops.config.tree import GrpoConfig, LoggerConfig, RunConfig
from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.rl_run import run_grpo

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")

# What a row always has. Shares of calls need calls; hits of a fault, decisions and stops are named by
# their kind and are there when they happened (test_step_metrics).
WATCHED = {
    *("reward/mean", "reward/mean_10_steps", "reward/success_share", "reward/progress_mean", "reward/quality_mean"),
    *("advantage/success_z_mean_abs", "advantage/progress_z_mean_abs", "advantage/quality_z_mean_abs"),
    *("advantage/reward_z_mean_abs", "advantage/std", "advantage/max_abs", "advantage/stop_cap_share"),
    *("groups/admitted_by_success_alone", "groups/admitted_by_progress_alone", "groups/admitted_by_quality_alone"),
    *("groups/all_failed_share", "groups/mixed_share", "groups/reward_std_mean"),
    *("rollout/groups_played", "rollout/groups_trained", "rollout/clean/accepted_groups"),
    *("sampler/clean_queue_cases", "sampler/fault_queue_cases"),
    *("sampler/clean_queue_age_steps", "sampler/fault_queue_age_steps"),
    *("policy/kl_nats", "policy/clip_low_share", "policy/clip_high_share", "policy/tis_share"),
    *("policy/mismatch_mean_nats", "policy/mismatch_max_nats", "policy/entropy_nats"),
    *("rollout/response_tokens_mean", "rollout/prefix_tokens_mean", "rollout/turns_mean", "rollout/tool_calls_mean"),
    *("rollout/tokens_per_s", "train/tokens_per_s", "time/sync_s", "time/rollout_s", "time/train_s"),
    *("train/grad_norm", "train/loss_nats", "train/peak_memory_mib", "sync/probe_max_nats"),
}


def logged_run(folder: Path, logger: Logger) -> set[str]:
    """One step with a reference, so that there is a KL term; returns the names of its row."""
    bench = Bench(folder, 1)
    model, reference = tiny_model(0, spread=0.02).train(), tiny_model(0, spread=0.02)
    bench.module = GrpoModule(model, reference, GrpoSettings(pad_id=PAD))
    run_grpo(bench.module, bench.callback, folder=folder / "checkpoints", steps=1, logger=logger)
    return set(bench.callback.history[0])


def configured(kind: str) -> RunConfig:
    return RunConfig(algorithm=GrpoConfig(), logger=LoggerConfig(kind=kind))


def test_a_step_s_row_in_tensorboard_has_all_that_is_watched(tmp_path: Path):
    config = configured("tensorboard")
    names = logged_run(tmp_path, build_logger(config, tmp_path))
    tags = set(EventAccumulator(str(tmp_path / "tensorboard")).Reload().Tags()["scalars"])
    assert WATCHED - tags == set()
    assert names <= tags, "a number of the row is lost on its way"


def test_a_step_s_row_in_an_offline_wandb_run_has_all_that_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    config = configured("wandb")
    logger = build_logger(config, tmp_path)
    names = logged_run(tmp_path, logger)
    latest = set(logger.experiment.summary.keys())  # the last value of everything that was logged
    finish_logger(config)
    assert (WATCHED | names) - latest == set()
