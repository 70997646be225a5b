"""One RL run from wherever it stands to its last step: module and callback in, a trained module out."""

from __future__ import annotations

from pathlib import Path

from lightning.pytorch.loggers import Logger

from robustops.core.errors import ConfigError
from robustops.learn.callbacks import RolloutCallback
from robustops.learn.checkpoint import load_latest
from robustops.learn.fit import Devices, fit
from robustops.learn.grpo import GrpoModule


def run_grpo(
    module: GrpoModule,
    callback: RolloutCallback,
    *,
    folder: Path,
    steps: int,
    devices: Devices | None = None,
    logger: Logger | None = None,
) -> None:
    """Resume from the newest state in `folder` and train up to `steps` RL steps in all; nothing when all are done.

    The callback owns states and resumption, so Lightning's own checkpoints are off.
    """
    saved = load_latest(folder)
    if saved is not None:
        saved.require("sampler")
        callback.resume(module, saved)
    if callback.first_step > steps:
        raise ConfigError(
            f"algorithm.steps: got {steps}, and {callback.first_step} are done in {folder}; "
            f"expected at least {callback.first_step}, or another run.dir"
        )
    if callback.first_step == steps:
        return
    fit(
        module,
        callback.buffer.loader(),
        devices=devices,
        max_epochs=steps - callback.first_step,
        logger=logger,
        callbacks=[callback],
    )
