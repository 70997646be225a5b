"""From `hardware`, `logger` and `model.lora` to what a training run takes."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Literal, cast

import torch
import wandb
from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger

from robustops.compose.run_id import run_id
from robustops.config import RunConfig
from robustops.learn.fit import Devices
from robustops.learn.lora import LoraSettings
from robustops.learn.metrics_table import MetricsTable

COMPUTE = {"fp32": torch.float32, "bf16": torch.bfloat16}


def build_devices(config: RunConfig) -> Devices:
    hardware = config.hardware
    strategy = cast(Literal["auto", "ddp", "fsdp"], hardware.strategy)
    return Devices(gpus=hardware.gpus, processes=hardware.processes, strategy=strategy)


def lora_of(config: RunConfig) -> LoraSettings | None:
    """None where all parameters are trained."""
    lora = config.model.lora
    if not lora.rank:
        return None
    return LoraSettings(rank=lora.rank, alpha=lora.alpha, dropout=lora.dropout, targets=tuple(lora.targets))


def build_logger(config: RunConfig, folder: Path) -> Logger:
    """`csv` writes metrics.csv, which the reports draw; a resumed run goes on in the same file or under the same id."""
    if config.logger.kind == "tensorboard":
        return TensorBoardLogger(folder, name="tensorboard", version="")
    if config.logger.kind == "wandb":
        return WandbLogger(
            project=config.logger.project,
            name="/".join(folder.parts[-2:]),
            save_dir=folder,
            offline=config.logger.mode == "offline",
            id=run_id(folder),
            resume="allow",
            config=asdict(config),
        )
    return MetricsTable(folder)


def finish_logger(config: RunConfig) -> None:
    """Close what a job has open, so that the next job of a multirun has a run of its own."""
    if config.logger.kind == "wandb":
        wandb.finish()
