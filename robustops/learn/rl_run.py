"""One RL run from wherever it stands to its last step: module and callback in, a trained module out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lightning.pytorch as pl
from lightning.pytorch.loggers import Logger

from robustops.learn.callbacks import RolloutCallback
from robustops.learn.checkpoint import load_latest
from robustops.learn.grpo import GrpoModule


def run_grpo(
    module: GrpoModule,
    callback: RolloutCallback,
    *,
    folder: Path,
    steps: int,
    accelerator: str = "cpu",
    logger: Logger | None = None,
    callbacks: Sequence[pl.Callback] = (),
) -> None:
    """Resume from the newest state in `folder` and train up to `steps` RL steps in all; nothing when all are done.

    The callback owns states and resumption, so Lightning's own checkpoints are off.
    """
    saved = load_latest(folder)
    if saved is not None:
        callback.resume(module, saved)
    if callback.first_step >= steps:
        return
    trainer = pl.Trainer(
        max_epochs=steps - callback.first_step,
        accelerator=accelerator,
        devices=1,
        logger=logger or False,
        callbacks=[callback, *callbacks],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
    )
    trainer.fit(module, train_dataloaders=callback.buffer.loader())
