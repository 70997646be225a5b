"""One GRPO update: a batch of trajectories in, changed weights and metrics out. Knows no rollout and no file.

Lightning's automatic optimisation would divide by the number of micro-batches; here the denominators are fixed per
optimiser step (docs/algorithms.md), so the module optimises by hand. Every rank holds the whole batch and takes
its share of the groups. Shapes: N rows, T tokens.
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

import lightning.pytorch as pl
import torch
from lightning.pytorch.core.optimizer import LightningOptimizer
from lightning.pytorch.strategies import ParallelStrategy
from torch import Tensor
from torch.distributed.tensor import DTensor
from transformers import PreTrainedModel

from robustops.core.errors import SyncError
from robustops.learn import ranks
from robustops.learn.batch import TrainingBatch
from robustops.learn.divergence import DivergedError
from robustops.learn.loss import LossSums, PolicyLoss
from robustops.learn.micro_batch import minibatches
from robustops.learn.policy_gradient import Gradient, GradientSettings, Known, LossError, PolicyGradient
from robustops.learn.sharding import LogprobNet, shard
from robustops.learn.shared_prefix import share_prefixes
from robustops.learn.sync import weights_fingerprint
from robustops.learn.trajectory import Trajectory

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpoSettings:
    """`temperature`: that of the rollouts, whose distribution is the one being trained. `pad_id`: any valid token.

    `share_prefix`: members of a group share the computation of their common prefix, where the model supports it.
    """

    lr: float = 1e-6
    loss: PolicyLoss = field(default_factory=PolicyLoss)
    temperature: float = 1.0
    ppo_epochs: int = 1
    num_minibatches: int = 1
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    pad_id: int = 0
    share_prefix: bool = True
    compute: torch.dtype = torch.float32
    seed: int = 0

    @property
    def has_one_update(self) -> bool:
        return self.ppo_epochs == 1 and self.num_minibatches == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBatch:
    """What the loader hands to `training_step`; `batch` is None for a step without an update."""

    step: int
    batch: TrainingBatch | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """Of one RL step and all ranks; means over its optimiser steps, and the loss sums of the last epoch.

    `has_reference`: without one there is nothing to be at a distance from.
    """

    loss: float
    grad_norm: float
    entropy_nats: float
    sums: LossSums
    has_reference: bool = True

    def metrics(self) -> dict[str, float]:
        found = {
            "train/loss_nats": self.loss,
            "train/grad_norm": self.grad_norm,
            "policy/entropy_nats": self.entropy_nats,
            **self.sums.metrics(),
        }
        if not self.has_reference:
            del found["policy/kl_nats"]
        return found


class GrpoModule(pl.LightningModule):
    """`reference`: the frozen SFT model; None only where `kl_coef` is 0. `num_updates` is the weight version."""

    def __init__(self, model: PreTrainedModel, reference: PreTrainedModel | None, settings: GrpoSettings) -> None:
        super().__init__()
        if reference is None and settings.loss.kl_coef:
            raise ValueError("a KL term needs the reference model")
        self.automatic_optimization = False
        self.net = LogprobNet(model)
        self.settings = settings
        self.num_updates = 0
        self.last_report: UpdateReport | None = None
        models = [each for each in (model, reference) if each is not None]
        self.shares_prefixes = settings.share_prefix and all(share_prefixes(each) for each in models)
        if settings.share_prefix and not self.shares_prefixes:
            log.warning("prefixes are not shared: that needs model.attn=sdpa and full attention in every layer")
        # in a tuple, so that it is neither trained, saved with the module nor switched to training mode
        self._reference = () if reference is None else (LogprobNet(reference),)
        for frozen in self._reference:
            frozen.train(False)
            frozen.requires_grad_(False)

    @property
    def model(self) -> PreTrainedModel:
        return self.net.model

    def configure_model(self) -> None:
        """Lightning has a device mesh where the strategy spreads the weights over ranks."""
        if self.device_mesh is not None:
            for net in (self.net, *self._reference):
                net.to(self.trainer.strategy.root_device)
                shard(net, self.device_mesh["data_parallel"])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        trained = [parameter for parameter in self.net.parameters() if parameter.requires_grad]
        return torch.optim.AdamW(trained, lr=self.settings.lr, weight_decay=0.0)

    def transfer_batch_to_device(self, batch: StepBatch, device: torch.device, dataloader_idx: int) -> StepBatch:
        return batch  # micro-batches move one by one

    def training_step(self, batch: StepBatch, batch_idx: int) -> None:
        self.last_report = None
        if batch.batch is None:
            return
        before = weights_fingerprint(self.model)
        self.last_report = self._update(batch.batch.trajectories, batch.step)
        has_changed = weights_fingerprint(self.model) != before
        if self.last_report.grad_norm > 0 and self.settings.lr > 0 and not has_changed:
            raise SyncError(f"step {batch.step}: gradient norm {self.last_report.grad_norm:.2g}, yet no weight changed")
        self.num_updates += 1

    def policy_gradient(self) -> PolicyGradient:
        """How gradients are computed on this rank's device."""
        settings = self.settings
        chosen = GradientSettings(
            loss=settings.loss,
            temperature=settings.temperature,
            micro_batch_tokens=settings.micro_batch_tokens,
            pad_id=settings.pad_id,
            has_shared_prefixes=self.shares_prefixes,
            compute=settings.compute,
        )
        return PolicyGradient(chosen, self.device)

    def accumulate(self, rows: Sequence[Trajectory]) -> Gradient:
        """Add the gradient of one update on these rows, the reference's logprobs included; changes no weight."""
        gradient = self.policy_gradient()
        return gradient.accumulate(self.net, rows, Known(reference_N=self._reference_logprobs(gradient, rows)))

    def _reference_logprobs(self, gradient: PolicyGradient, rows: Sequence[Trajectory]) -> list[Tensor] | None:
        """Once per batch, whatever the number of epochs; in between the reference does not stand on the device."""
        for frozen in self._reference:
            is_guest = self.device_mesh is None
            if is_guest:
                frozen.to(self.device)
            found = gradient.logprobs(frozen, rows)
            if is_guest and self.device.type != "cpu":
                frozen.to("cpu")
            return found
        return None

    def _update(self, all_rows: Sequence[Trajectory], step: int) -> UpdateReport:
        settings, gradient = self.settings, self.policy_gradient()
        takers = ranks.shares(
            [row.group_id for row in all_rows], [row.num_tokens for row in all_rows], ranks.num_ranks()
        )
        rows = [row for row, taker in zip(all_rows, takers, strict=True) if taker == ranks.rank()]
        known = Known(
            old_N=None if settings.has_one_update else gradient.logprobs(self.net, rows),
            reference_N=self._reference_logprobs(gradient, rows),
        )
        place = {id(row): index for index, row in enumerate(rows)}
        rng = random.Random(f"{settings.seed}|{step}")
        done: list[UpdateReport] = []
        sums = LossSums()
        for _ in range(settings.ppo_epochs):
            sums = LossSums()
            for part in minibatches(all_rows, settings.num_minibatches, rng):
                mine = [row for row in part if id(row) in place]
                try:
                    done.append(self._optimiser_step(gradient, mine, known.of([place[id(row)] for row in mine])))
                except LossError as error:
                    raise DivergedError(f"step {step}: {error}; lower algorithm.lr and resume") from error
                if not math.isfinite(done[-1].grad_norm):
                    raise DivergedError(
                        f"step {step}: the gradient norm is {done[-1].grad_norm}; lower algorithm.lr and resume"
                    )
                sums = sums.plus(done[-1].sums)
        return UpdateReport(
            loss=_mean([part.loss for part in done]),
            grad_norm=_mean([part.grad_norm for part in done]),
            entropy_nats=_mean([part.entropy_nats for part in done]),
            sums=sums,
            has_reference=bool(self._reference),
        )

    def _optimiser_step(self, gradient: PolicyGradient, rows: Sequence[Trajectory], known: Known) -> UpdateReport:
        optimiser = self.optimizers()
        assert isinstance(optimiser, LightningOptimizer)
        optimiser.zero_grad()
        strategy = self.trainer.strategy
        apart = strategy.block_backward_sync if isinstance(strategy, ParallelStrategy) else nullcontext
        found = gradient.accumulate(self.net, rows, known, backward=self.manual_backward, apart=apart)
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.max_grad_norm)
        norm = norm.full_tensor() if isinstance(norm, DTensor) else norm
        if math.isfinite(float(norm)):
            optimiser.step()
        optimiser.zero_grad()
        loss, entropy = ranks.sums([found.loss / ranks.num_ranks(), found.entropy_nats], self.device)
        sums = found.sums.over_ranks(self.device)
        return UpdateReport(
            loss=loss, grad_norm=float(norm), entropy_nats=entropy / max(1.0, sums.num_tokens), sums=sums
        )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
