"""From `hardware` and `logger` to a Lightning trainer. Checkpoints and progress are ours: they survive a kill."""

from __future__ import annotations

from pathlib import Path

import lightning
import torch
from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

from robustops.config import RunConfig
from robustops.learn.metrics_table import MetricsTable

COMPUTE = {"fp32": torch.float32, "bf16": torch.bfloat16}


def build_trainer(config: RunConfig, folder: Path) -> lightning.Trainer:
    hardware = config.hardware
    return lightning.Trainer(
        accelerator="gpu" if hardware.gpus else "cpu",
        devices=hardware.gpus or 1,
        strategy=hardware.strategy if hardware.gpus > 1 else "auto",
        max_epochs=1,
        logger=build_logger(config, folder),
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
        default_root_dir=folder,
    )


def build_logger(config: RunConfig, folder: Path) -> Logger:
    """`csv` writes metrics.csv, which the reports draw; a resumed run goes on in the same file or under the same id."""
    if config.logger.kind == "tensorboard":
        return TensorBoardLogger(folder, name="tensorboard", version="")
    if config.logger.kind == "wandb":
        return WandbLogger(
            project=config.logger.project,
            save_dir=folder,
            offline=config.logger.mode == "offline",
            id=folder.name,
            resume="allow",
        )
    return MetricsTable(folder)
