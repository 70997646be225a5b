"""From `hardware` and `logger` to what a Lightning run takes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import torch
from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

from robustops.config import RunConfig
from robustops.learn.fit import Devices
from robustops.learn.metrics_table import MetricsTable

COMPUTE = {"fp32": torch.float32, "bf16": torch.bfloat16}


def build_devices(config: RunConfig) -> Devices:
    hardware = config.hardware
    strategy = cast(Literal["auto", "ddp", "fsdp"], hardware.strategy)
    return Devices(gpus=hardware.gpus, processes=hardware.processes, strategy=strategy)


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
