"""One Lightning run as both algorithms want it: no bars, tips or checkpoints of Lightning's own, a plain Ctrl-C."""

from __future__ import annotations

import atexit
import logging
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import FrameType
from typing import Any, Literal

import lightning.pytorch as pl
from lightning.pytorch.loggers import Logger
from lightning.pytorch.strategies import DDPStrategy, ModelParallelStrategy, Strategy
from torch.utils.data import DataLoader

from robustops.learn import ranks

PATIENCE = timedelta(hours=12)  # ranks wait for the first one's rollouts, which take longer than any usual time-out


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """`gpus` of this machine, or without any `processes` on the CPU, one rank each.

    `strategy`, for several ranks: each holds all weights ("ddp", and "auto"), or a part of them ("fsdp").
    """

    gpus: int = 0
    processes: int = 1
    strategy: Literal["auto", "ddp", "fsdp"] = "auto"

    @property
    def num_ranks(self) -> int:
        return self.gpus or self.processes

    def strategy_of_lightning(self) -> Strategy | str:
        if self.num_ranks == 1:
            return "auto"
        if self.strategy == "fsdp":
            return ModelParallelStrategy(data_parallel_size=self.num_ranks, tensor_parallel_size=1, timeout=PATIENCE)
        return DDPStrategy(timeout=PATIENCE)


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

    With several ranks Lightning starts this command once more for each further one.
    Raises KeyboardInterrupt for a Ctrl-C, where Lightning has an exit code of its own, and for SIGTERM, which Lightning
    would answer after the step.
    """
    chosen = devices or Devices()
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    trainer = pl.Trainer(
        accelerator="gpu" if chosen.gpus else "cpu",
        devices=chosen.num_ranks,
        strategy=chosen.strategy_of_lightning(),
        use_distributed_sampler=False,  # modules deal out their batches themselves
        max_epochs=max_epochs,
        logger=logger if logger is not None and ranks.is_first() else False,
        callbacks=list(callbacks),
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
    )
    if chosen.num_ranks > 1:
        atexit.register(ranks.leave)
    try:
        with _term_as_ctrl_c():
            trainer.fit(module, train_dataloaders=loader)
    except SystemExit as error:
        if trainer.interrupted:
            raise KeyboardInterrupt from error
        raise


@contextmanager
def _term_as_ctrl_c() -> Iterator[None]:
    """SIGTERM does what a Ctrl-C does at that moment: inside a rollout, asyncio cancels it at its next step.

    Lightning calls a handler that it finds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    on_ctrl_c = signal.getsignal(signal.SIGINT)
    if not callable(on_ctrl_c):  # ignored, as in a shell's background job
        raise KeyboardInterrupt
    on_ctrl_c(signal.SIGINT, frame)
