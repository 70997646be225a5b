"""The gradient of one optimiser step: trajectories of this rank in, gradients on the model and metric sums out.

However many micro-batches and ranks there are, the gradient is that of the whole step: the denominators are counted
over all of them first (docs/algorithms.md). Knows no optimiser. Shapes: N rows, T tokens, K trained tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor

from robustops.core.errors import RobustopsError
from robustops.learn import ranks
from robustops.learn.denominators import TokenWeights, count_tokens, token_weights
from robustops.learn.loss import LossPart, LossSums, LossTokens, PolicyLoss, policy_loss
from robustops.learn.micro_batch import MicroBatch, empty_micro_batch, micro_batches, packed_micro_batches
from robustops.learn.sharding import LogprobNet
from robustops.learn.trajectory import Trajectory

Backward = Callable[[Tensor], None]


class LossError(RobustopsError):
    """A loss that is no number; the message names the cases of its micro-batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientSettings:
    """`temperature`: that of the rollouts, whose distribution is the one being trained. `pad_id`: any valid token.

    `has_shared_prefixes`: members of a group share the computation of their common prefix.
    """

    loss: PolicyLoss = field(default_factory=PolicyLoss)
    temperature: float = 1.0
    micro_batch_tokens: int = 16384
    pad_id: int = 0
    has_shared_prefixes: bool = False
    compute: torch.dtype = torch.float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Logprobs of each row's trained tokens, computed before; None: those of this very forward pass."""

    old_N: list[Tensor] | None = None
    reference_N: list[Tensor] | None = None

    def of(self, indices: Sequence[int]) -> Known:
        return Known(old_N=_picked(self.old_N, indices), reference_N=_picked(self.reference_N, indices))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient:
    """Of this rank's part: `loss` is its summand, scaled up by the number of ranks whose gradients are averaged."""

    loss: float
    entropy_nats: float
    sums: LossSums


class PolicyGradient:
    def __init__(self, settings: GradientSettings, device: torch.device) -> None:
        self._settings = settings
        self._device = device

    def accumulate(
        self,
        net: LogprobNet,
        rows: Sequence[Trajectory],
        known: Known,
        *,
        backward: Backward = torch.Tensor.backward,
        apart: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> Gradient:
        """Add the step's gradient. `apart` surrounds all backward passes but the last, after which ranks exchange.

        Raises LossError for a loss that is no number, before it reaches the gradients.
        """
        tokens = count_tokens([row.num_trained for row in rows], [row.flow for row in rows])
        weights = token_weights(tokens.over_ranks(self._device), num_averaged_ranks=ranks.num_ranks())
        loss, entropy, sums = 0.0, 0.0, LossSums()
        batches = self._micro_batches(rows)
        for number, batch in enumerate(batches, start=1):
            with apart() if number < len(batches) else nullcontext():
                part, entropy_nats = self._part(net, batch, weights, known)
                if not math.isfinite(float(part.loss.detach())):
                    cases = ", ".join(rows[index].case_id for index in batch.indices)
                    raise LossError(f"the loss is {float(part.loss.detach())} on {cases}")
                backward(part.loss)
            loss, entropy, sums = loss + float(part.loss.detach()), entropy + entropy_nats, sums.plus(part.sums)
        return Gradient(loss=loss, entropy_nats=entropy, sums=sums)

    def _part(self, net: LogprobNet, batch: MicroBatch, weights: TokenWeights, known: Known) -> tuple[LossPart, float]:
        """One micro-batch's summand of the loss, and the sum of its tokens' entropies."""
        keep_NT, settings = batch.is_trained_NT, self._settings
        found = net.logprobs(
            batch.token_ids_NT,
            keep_NT,
            temperature=settings.temperature,
            compute=settings.compute,
            with_entropy=True,
            layout=batch.layout,
        )
        logp_K, its_own = found.logp_K, known.of(batch.indices)
        # With a single update the policy before it is this very forward pass.
        logp_old_K = logp_K.detach() if its_own.old_N is None else _joined(its_own.old_N, logp_K)
        logp_ref_K = logp_K.detach() if its_own.reference_N is None else _joined(its_own.reference_N, logp_K)
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
            settings.loss,
        )
        return part, float(found.entropy_K.sum())

    @torch.no_grad()
    def logprobs(self, net: LogprobNet, rows: Sequence[Trajectory]) -> list[Tensor]:
        """Logprobs of each row's trained tokens under a model that does not change within the step."""
        found: dict[int, Tensor] = {}
        for batch in self._micro_batches(rows):
            logp_K = net.logprobs(
                batch.token_ids_NT,
                batch.is_trained_NT,
                temperature=self._settings.temperature,
                compute=self._settings.compute,
                layout=batch.layout,
            ).logp_K
            found.update(zip(batch.indices, torch.split(logp_K, list(batch.num_trained)), strict=True))
        return [found[index] for index in range(len(rows))]

    def _micro_batches(self, rows: Sequence[Trajectory]) -> list[MicroBatch]:
        """As many on each rank: gathering weights and exchanging gradients takes all of them."""
        limit, pad_id = self._settings.micro_batch_tokens, self._settings.pad_id
        if self._settings.has_shared_prefixes:
            batches = packed_micro_batches(rows, max_tokens=limit)
        else:
            batches = micro_batches(rows, max_tokens=limit, pad_id=pad_id)
        num_passes = int(ranks.highest(len(batches), self._device))
        batches += [empty_micro_batch(pad_id)] * (num_passes - len(batches))
        return [batch.to(self._device) for batch in batches]


def _picked(rows: list[Tensor] | None, indices: Sequence[int]) -> list[Tensor] | None:
    return None if rows is None else [rows[index] for index in indices]


def _joined(parts: list[Tensor], like_K: Tensor) -> Tensor:
    return torch.cat(parts) if parts else like_K.detach()
