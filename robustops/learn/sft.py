"""Masked supervised fine-tuning: weighted demonstrations in, a trained model out. Knows no episode and no gym.

One Lightning batch is one optimiser step. Lightning would divide by the number of micro-batches; the denominator here
is the number of trajectories really in the step, so optimisation is manual (docs/algorithms.md). Of several ranks
each holds all demonstrations and takes its share of each step's; the first alone writes and speaks.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Literal

import lightning
import torch
from lightning.pytorch.strategies import ParallelStrategy
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, Dataset
from transformers import PreTrainedModel

from robustops.core.json_lines import append_line
from robustops.learn import ranks
from robustops.learn.checkpoint import save_state
from robustops.learn.divergence import DivergedError, LossWatch, Spike
from robustops.learn.interrupt import Interrupt
from robustops.learn.model import load_named_weights, named_weights
from robustops.learn.sft_order import epoch_batches
from robustops.learn.sft_rows import Rows, WeightedTokens, empty_rows, packed_rows, padded_rows
from robustops.learn.sharding import LogprobNet, load_optimiser_state, optimiser_state, shard
from robustops.learn.shared_prefix import keep_apart
from robustops.learn.supervision import steps_per_epoch, supervised_loss

__all__ = ["DivergedError", "SftModule", "SftSettings", "WeightedTokens"]

Report = Callable[[int, int, str], None]  # step, steps in all, note
SPIKES = "spikes.jsonl"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SftSettings:
    """`schedule`: after `warmup_steps` linear steps, constant or half a cosine, at zero where the step after the last
    would be. `packing`: raises ValueError for a model whose attention cannot keep packed demonstrations apart."""

    epochs: int
    lr: float
    batch_size: int = 8
    schedule: Literal["constant", "cosine"] = "constant"
    warmup_steps: int = 0
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 4096
    seed: int = 0
    compute: torch.dtype = torch.float32
    save_every_steps: int = 50
    packing: bool = False
    spike_factor: float | None = None

    def lr_factor(self, step: int, num_steps: int) -> float:
        """Share of `lr` for the step with this 0-based number."""
        if step < self.warmup_steps:
            return (step + 1) / (self.warmup_steps + 1)
        if self.schedule == "constant":
            return 1.0
        done = (step - self.warmup_steps) / max(1, num_steps - self.warmup_steps)
        return 0.5 * (1 + math.cos(math.pi * done))


class SftModule(lightning.LightningModule):
    """Trains `model` from `first_step` on; the state goes to `checkpoints` at each epoch's end, every few steps and
    where a Ctrl-C or SIGTERM ends training, after the step in which it comes.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        samples: Sequence[WeightedTokens],
        monitored: Sequence[WeightedTokens],
        settings: SftSettings,
        *,
        checkpoints: Path,
        pad_id: int = 0,
        report: Report | None = None,
    ) -> None:
        super().__init__()
        if settings.packing and not keep_apart(model):
            raise ValueError("packing needs sdpa or flash attention over the full context in every layer")
        self.automatic_optimization = False
        self.net = LogprobNet(model)
        self.settings = settings
        self.samples, self.monitored = list(samples), list(monitored)
        self.checkpoints = checkpoints
        self.pad_id = pad_id
        self.report = report or (lambda done, total, note: None)
        self.steps_in_epoch = steps_per_epoch(len(self.samples), settings.batch_size)
        self.num_steps = self.steps_in_epoch * settings.epochs
        self.first_step = self.saved_step = 0
        self._interrupt = Interrupt()
        self._optimiser_state: dict[str, Any] | None = None
        self.best_loss = math.inf
        self.best_weights: dict[str, Tensor] = {}
        self.last_loss = math.nan
        self._watch = LossWatch(settings.spike_factor)
        self.spikes: list[Spike] = []

    @property
    def model(self) -> PreTrainedModel:
        return self.net.model

    def configure_model(self) -> None:
        """Lightning has a device mesh where the strategy spreads the weights over ranks."""
        if self.device_mesh is not None:
            self.net.to(self.trainer.strategy.root_device)
            shard(self.net, self.device_mesh["data_parallel"])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        return torch.optim.AdamW(trained, lr=self.settings.lr, betas=(0.9, 0.95), weight_decay=0.0)

    @property
    def _optimiser(self) -> torch.optim.Optimizer:
        """The optimiser itself: Lightning's wrapper would load a state into attributes of its own, to no effect."""
        optimiser = self.optimizers(use_pl_optimizer=False)
        assert isinstance(optimiser, torch.optim.Optimizer)
        return optimiser

    def training_step(self, batch: list[WeightedTokens], batch_idx: int) -> None:
        step = self.first_step + batch_idx
        for group in self._optimiser.param_groups:
            group["lr"] = self.settings.lr * self.settings.lr_factor(step, self.num_steps)
        self._optimiser.zero_grad()
        # Of dropout: from the step, so that no generator is part of the state. Ranks drop different units.
        torch.manual_seed(Random(f"{self.settings.seed}/dropout/{step}/{ranks.rank()}").getrandbits(63))
        total = self._accumulate(batch)
        found = clip_grad_norm_(self.model.parameters(), self.settings.max_grad_norm)
        norm = float(found.full_tensor() if isinstance(found, DTensor) else found)
        if not math.isfinite(total) or not math.isfinite(norm):
            raise DivergedError(
                f"step {step + 1}: the loss is {total}, its gradient {norm}; demonstrations "
                f"{', '.join(sample.source for sample in batch)}; lower algorithm.lr, or leave them out"
            )
        self.optimizers().step()  # type: ignore[union-attr]
        self.last_loss = total
        spike = self._watch.see(step + 1, total, [sample.source for sample in batch])
        if spike is not None:
            self._note(spike)
        self._after_step(step + 1, norm)

    def _note(self, spike: Spike) -> None:
        self.spikes.append(spike)
        if not ranks.is_first():
            return
        self.checkpoints.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.checkpoints.parent / SPIKES, asdict(spike))
        log.warning(
            "step %d: the loss is %.4f, %.1f times the recent median; its demonstrations are in %s",
            spike.step,
            spike.loss,
            spike.loss / spike.median,
            SPIKES,
        )

    def _accumulate(self, batch: Sequence[WeightedTokens]) -> float:
        """Add the step's gradient and return its loss. Ranks exchange gradients after the last of their passes."""
        strategy = self.trainer.strategy
        apart = strategy.block_backward_sync if isinstance(strategy, ParallelStrategy) else nullcontext
        parts, total = self._rows(batch), 0.0
        for number, rows in enumerate(parts, start=1):
            with apart() if number < len(parts) else nullcontext():
                loss = self._loss(rows, len(batch))
                self.manual_backward(loss)
            total += float(loss.detach())
        return self._mean_over_ranks(total)

    def _loss(self, rows: Rows, num_trajectories: int) -> Tensor:
        """This pass's summand, scaled up by the number of ranks whose gradients are averaged."""
        ids_NT, weight_NT = rows.ids_NT.to(self.device), rows.weight_NT.to(self.device)
        is_wanted_NT = weight_NT > 0
        found = self.net.logprobs(ids_NT, is_wanted_NT, compute=self.settings.compute, layout=rows.layout)
        return supervised_loss(
            found.logp_K,
            weight_NT[is_wanted_NT],
            num_trajectories=num_trajectories,
            num_averaged_ranks=ranks.num_ranks(),
        )

    def _rows(self, batch: Sequence[WeightedTokens]) -> list[Rows]:
        """This rank's share, in as many passes as the others make: gathering weights takes all of them."""
        names, lengths = list(map(str, range(len(batch)))), [len(sample.token_ids) for sample in batch]
        takers = ranks.shares(names, lengths, ranks.num_ranks())
        mine = [sample for sample, taker in zip(batch, takers, strict=True) if taker == ranks.rank()]
        max_tokens, pad_id = self.settings.micro_batch_tokens, self.pad_id
        is_packed = self.settings.packing
        found = list(packed_rows(mine, max_tokens) if is_packed else padded_rows(mine, max_tokens, pad_id=pad_id))
        num_passes = int(ranks.highest(len(found), self.device))
        return found + [empty_rows(pad_id, is_packed=is_packed)] * (num_passes - len(found))

    def _mean_over_ranks(self, loss: float) -> float:
        return ranks.sums([loss / ranks.num_ranks()], self.device)[0]

    @torch.no_grad()
    def monitoring_loss(self) -> float:
        """Mean loss of the monitored demonstrations, weighted as in training; NaN without any."""
        if not self.monitored:
            return math.nan
        self.model.train(False)
        loss = sum(float(self._loss(rows, len(self.monitored))) for rows in self._rows(self.monitored))
        self.model.train()
        return self._mean_over_ranks(loss)

    def _after_step(self, step: int, grad_norm: float) -> None:
        metrics = {"sft/loss": self.last_loss, "sft/grad_norm": grad_norm}
        is_epoch_end = step % self.steps_in_epoch == 0
        if is_epoch_end:
            loss = self.monitoring_loss()
            metrics["sft/monitoring_loss"] = loss
            if loss < self.best_loss:
                self.best_loss = loss
                weights = named_weights(self.model).items()
                self.best_weights = {name: tensor.detach().to("cpu", copy=True) for name, tensor in weights}
        is_interrupted = ranks.highest(float(self._interrupt.is_asked), self.device) > 0  # one rank may be told alone
        if is_epoch_end or is_interrupted or step % self.settings.save_every_steps == 0:
            ranks.from_first(partial(save_state, self.checkpoints, step, self.saved_state()))
            self.saved_step = step
        if self.logger is not None:
            self.logger.log_metrics(metrics, step=step)
        if ranks.is_first():
            self.report(step, self.num_steps, f"loss {self.last_loss:.4f}")
        if is_interrupted:
            raise KeyboardInterrupt

    def saved_state(self) -> dict[str, Any]:
        """Of whole tensors, so that a run may resume on another number of ranks. All ranks must call."""
        return {
            "model": named_weights(self.model),
            "optimiser": optimiser_state(self._optimiser),
            "last_loss": self.last_loss,
            "best_loss": self.best_loss,
            "best_weights": self.best_weights,
            "recent_losses": self._watch.recent,
        }

    def resume(self, step: int, state: dict[str, Any]) -> None:
        """Go on after `step`. The optimiser's part is loaded when training starts."""
        self.first_step = self.saved_step = step
        load_named_weights(self.model, state["model"])
        self.last_loss = state["last_loss"]
        self.best_loss, self.best_weights = state["best_loss"], state["best_weights"]
        self._watch.recent = list(state["recent_losses"])
        self._optimiser_state = state["optimiser"]

    def on_fit_start(self) -> None:
        if self._optimiser_state is not None:
            load_optimiser_state(self._optimiser, self._optimiser_state)

    def on_train_start(self) -> None:
        self._interrupt.listen()

    def keep_best(self) -> None:
        """Put the weights of the epoch with the lowest monitoring loss into the model; the last ones without any."""
        if self.best_weights:
            load_named_weights(self.model, self.best_weights)

    def transfer_batch_to_device(
        self, batch: list[WeightedTokens], device: torch.device, dataloader_idx: int
    ) -> list[WeightedTokens]:
        """Demonstrations stay as they are: each micro-batch goes to the device by itself."""
        return batch

    def train_dataloader(self) -> DataLoader[list[WeightedTokens]]:
        lengths = [len(sample.token_ids) for sample in self.samples]
        settings = self.settings
        order = [
            batch
            for epoch in range(settings.epochs)
            for batch in epoch_batches(lengths, settings.batch_size, seed=settings.seed, epoch=epoch)
        ]
        steps = _Steps([[self.samples[index] for index in batch] for batch in order[self.first_step :]])
        return DataLoader(steps, batch_size=None, num_workers=0)


class _Steps(Dataset[list[WeightedTokens]]):
    """What each remaining optimiser step trains on; map-style, so that Lightning prefetches nothing of its own."""

    def __init__(self, steps: list[list[WeightedTokens]]) -> None:
        self._steps = steps

    def __len__(self) -> int:
        return len(self._steps)

    def __getitem__(self, index: int) -> list[WeightedTokens]:
        return self._steps[index]
