"""One Lightning run as both algorithms want it: no bars, tips or checkpoints of Lightning's own, a plain Ctrl-C."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightning.pytorch as pl
from lightning.pytorch.loggers import Logger
from torch.utils.data import DataLoader


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """`strategy` is Lightning's, for more than one GPU."""

    gpus: int = 0
    strategy: str = "auto"


def fit(
    module: pl.LightningModule,
    loader: DataLoader[Any] | None = None,
    *,
    devices: Devices | None = None,
    max_epochs: int = 1,
    logger: Logger | None = None,
    callbacks: Sequence[pl.Callback] = (),
) -> None:
    """Train. States and resumption belong to the module or a callback: they survive a kill, Lightning's do not.

    Raises KeyboardInterrupt where Lightning would turn a Ctrl-C into an exit code of its own.
    """
    chosen = devices or Devices()
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    trainer = pl.Trainer(
        accelerator="gpu" if chosen.gpus else "cpu",
        devices=chosen.gpus or 1,
        strategy=chosen.strategy if chosen.gpus > 1 else "auto",
        max_epochs=max_epochs,
        logger=logger or False,
        callbacks=list(callbacks),
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
    )
    try:
        trainer.fit(module, train_dataloaders=loader)
    except SystemExit as error:
        if trainer.interrupted:
            raise KeyboardInterrupt from error
        raise
