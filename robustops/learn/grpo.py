"""One GRPO update: a batch of trajectories in, changed weights and metrics out. Knows no rollout and no file.

Lightning's automatic optimisation would divide by the number of micro-batches; here the denominators are fixed per
optimiser step (algorithms.md, section 5), so the module optimises by hand. Shapes: N rows, T tokens, K trained tokens.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.core.optimizer import LightningOptimizer
from torch import Tensor
from transformers import PreTrainedModel

from robustops.core.errors import SyncError
from robustops.learn.batch import TrainingBatch
from robustops.learn.denominators import TokenWeights, count_tokens, token_weights
from robustops.learn.loss import LossSums, LossTokens, PolicyLoss, policy_loss
from robustops.learn.micro_batch import MicroBatch, micro_batches, minibatches
from robustops.learn.model import token_logprobs
from robustops.learn.sft import DivergedError
from robustops.learn.sync import weights_fingerprint
from robustops.learn.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpoSettings:
    """`temperature`: that of the rollouts, whose distribution is the one being trained. `pad_id`: any valid token."""

    lr: float = 1e-6
    loss: PolicyLoss = field(default_factory=PolicyLoss)
    temperature: float = 1.0
    ppo_epochs: int = 1
    num_minibatches: int = 1
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    pad_id: int = 0
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
    """Of one RL step; means over its optimiser steps, and the loss sums of the last epoch."""

    loss: float
    grad_norm: float
    entropy_nats: float
    sums: LossSums

    def metrics(self) -> dict[str, float]:
        return {
            "train/loss_nats": self.loss,
            "train/grad_norm": self.grad_norm,
            "policy/entropy_nats": self.entropy_nats,
            **self.sums.metrics(),
        }


class GrpoModule(pl.LightningModule):
    """`reference`: the frozen SFT model; None only where `kl_coef` is 0. `num_updates` is the weight version."""

    def __init__(self, model: PreTrainedModel, reference: PreTrainedModel | None, settings: GrpoSettings) -> None:
        super().__init__()
        if reference is None and settings.loss.kl_coef:
            raise ValueError("a KL term needs the reference model")
        self.automatic_optimization = False
        self.model = model
        self.settings = settings
        self.num_updates = 0
        self.last_report: UpdateReport | None = None
        # in a tuple, so that it is neither trained, saved with the module nor switched to training mode
        self._reference = () if reference is None else (reference,)
        for frozen in self._reference:
            frozen.train(False)
            frozen.requires_grad_(False)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.model.parameters(), lr=self.settings.lr, weight_decay=0.0)

    def transfer_batch_to_device(self, batch: StepBatch, device: torch.device, dataloader_idx: int) -> StepBatch:
        return batch  # micro-batches move one by one

    def on_fit_start(self) -> None:
        for reference in self._reference:
            reference.to(self.device)  # type: ignore[arg-type]  # a decorated method loses its self

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

    def _update(self, rows: Sequence[Trajectory], step: int) -> UpdateReport:
        settings = self.settings
        reference_N = self._row_logprobs(self._reference[0], rows) if self._reference else None
        old_N = None if settings.has_one_update else self._row_logprobs(self.model, rows)
        place = {id(row): index for index, row in enumerate(rows)}
        rng = random.Random(f"{settings.seed}|{step}")
        losses, norms, entropies = [], [], []
        sums = LossSums()
        for _ in range(settings.ppo_epochs):
            sums = LossSums()
            for part in minibatches(rows, settings.num_minibatches, rng):
                indices = [place[id(row)] for row in part]
                done = self._optimiser_step(part, _pick(old_N, indices), _pick(reference_N, indices), step)
                losses.append(done.loss)
                norms.append(done.grad_norm)
                entropies.append(done.entropy_nats)
                sums = sums.plus(done.sums)
        return UpdateReport(
            loss=_mean(losses), grad_norm=_mean(norms), entropy_nats=_mean(entropies), sums=sums.over_ranks(self.device)
        )

    def _optimiser_step(
        self, rows: Sequence[Trajectory], old_N: list[Tensor] | None, reference_N: list[Tensor] | None, step: int
    ) -> UpdateReport:
        optimiser = self.optimizers()
        assert isinstance(optimiser, LightningOptimizer)
        optimiser.zero_grad()
        tokens = count_tokens([row.num_trained for row in rows], [row.flow for row in rows])
        weights = token_weights(tokens.over_ranks(self.device), num_averaged_ranks=self._num_ranks())
        loss, entropy, sums = 0.0, 0.0, LossSums()
        for batch in self._micro_batches(rows):
            part = self._backward(batch, weights, old_N, reference_N)
            ids = ", ".join(rows[index].case_id for index in batch.index_N.tolist())
            if not math.isfinite(part.loss):
                raise DivergedError(f"step {step}: the loss is {part.loss} on {ids}; lower algorithm.lr and resume")
            loss, entropy, sums = loss + part.loss, entropy + part.entropy_nats, sums.plus(part.sums)
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.max_grad_norm))
        if not math.isfinite(norm):
            raise DivergedError(f"step {step}: the gradient norm is {norm}; lower algorithm.lr and resume")
        optimiser.step()
        optimiser.zero_grad()
        return UpdateReport(loss=loss, grad_norm=norm, entropy_nats=entropy / max(1.0, sums.num_tokens), sums=sums)

    def _backward(
        self, batch: MicroBatch, weights: TokenWeights, old_N: list[Tensor] | None, reference_N: list[Tensor] | None
    ) -> UpdateReport:
        """Forward and backward of one micro-batch; `entropy_nats` is a sum over its tokens here."""
        keep_NT = batch.is_trained_NT
        found = token_logprobs(
            self.model,
            batch.token_ids_NT,
            keep_NT,
            temperature=self.settings.temperature,
            compute=self.settings.compute,
            with_entropy=True,
        )
        logp_K, indices = found.logp_K, batch.index_N.tolist()
        # With a single update the policy before it is this very forward pass.
        logp_old_K = logp_K.detach() if old_N is None else torch.cat([old_N[index] for index in indices])
        logp_ref_K = logp_K.detach() if reference_N is None else torch.cat([reference_N[index] for index in indices])
        part = policy_loss(
            LossTokens(
                logp_T=logp_K,
                logp_old_T=logp_old_K,
                logp_rollout_T=batch.logp_rollout_NT[keep_NT],
                logp_ref_T=logp_ref_K,
                advantage_T=batch.advantage_NT[keep_NT],
                is_trained_T=torch.ones_like(logp_K, dtype=torch.bool),
                flow_T=batch.flow_NT[keep_NT],
            ),
            weights,
            self.settings.loss,
        )
        if torch.isfinite(part.loss):
            self.manual_backward(part.loss)
        entropy = float(found.entropy_K.sum())
        return UpdateReport(loss=float(part.loss.detach()), grad_norm=0.0, entropy_nats=entropy, sums=part.sums)

    @torch.no_grad()
    def _row_logprobs(self, model: PreTrainedModel, rows: Sequence[Trajectory]) -> list[Tensor]:
        """Logprobs of each row's trained tokens under a model that does not change within the step."""
        found: dict[int, Tensor] = {}
        for batch in self._micro_batches(rows):
            logp_K = token_logprobs(
                model,
                batch.token_ids_NT,
                batch.is_trained_NT,
                temperature=self.settings.temperature,
                compute=self.settings.compute,
            ).logp_K
            sizes = batch.is_trained_NT.sum(1).tolist()
            found.update(zip(batch.index_N.tolist(), torch.split(logp_K, sizes), strict=True))
        return [found[index] for index in range(len(rows))]

    def _micro_batches(self, rows: Sequence[Trajectory]) -> list[MicroBatch]:
        batches = micro_batches(rows, max_tokens=self.settings.micro_batch_tokens, pad_id=self.settings.pad_id)
        return [_to(batch, self.device) for batch in batches]

    def _num_ranks(self) -> int:
        return int(self.trainer.world_size) if self._trainer is not None else 1


def _to(batch: MicroBatch, device: torch.device) -> MicroBatch:
    moved: dict[str, Any] = {name: getattr(batch, name).to(device) for name in MicroBatch.__slots__}
    return MicroBatch(**moved)


def _pick(rows: list[Tensor] | None, indices: Sequence[int]) -> list[Tensor] | None:
    return None if rows is None else [rows[index] for index in indices]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
