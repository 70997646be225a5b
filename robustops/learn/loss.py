"""The policy loss: per-token logprobs, advantages and token weights in, a scalar and metric sums out. Knows no model.

Shapes: T tokens of one micro-batch, in any layout flattened to one dimension.
Source: docs/algorithms.md:

    l = -min(r A', clip(r, 1 - 0.2, 1 + 0.28) A') * w + 0.001 * k3,     L = sum over tokens of weight[flow] * l

r = exp(logp - logp_old); w = min(exp(logp_old - logp_rollout), cap), detached; k3 = exp(d) - d - 1 with
d = logp_ref - logp clamped to +-20 (Schulman, "Approximating KL divergence", 2020).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
import torch.distributed as dist
from torch import Tensor

from robustops.learn.denominators import TokenWeights

KL_CLAMP = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLoss:
    """`tis_cap` None switches the truncated importance weight off (w = 1)."""

    clip_low: float = 0.2
    clip_high: float = 0.28
    kl_coef: float = 0.001
    tis_cap: float | None = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LossTokens:
    """One micro-batch. Only tokens under `is_trained_T` are read; the rest may hold anything, NaN included.

    `logp_T` carries the gradient; `logp_old_T` is the trainer's before this step's first update, `logp_rollout_T` the
    engine's at sampling time, `logp_ref_T` the SFT model's. `flow_T` indexes denominators.FLOWS.
    """

    logp_T: Tensor
    logp_old_T: Tensor
    logp_rollout_T: Tensor
    logp_ref_T: Tensor
    advantage_T: Tensor
    is_trained_T: Tensor
    flow_T: Tensor

    def trained(self) -> LossTokens:
        """Only the trained tokens: selecting first keeps values and gradients of all others out for certain."""
        keep_T = self.is_trained_T.bool()
        return LossTokens(**{f.name: getattr(self, f.name)[keep_T] for f in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class LossSums:
    """Metrics as sums over trained tokens, so that micro-batches and ranks can be added."""

    num_tokens: float = 0.0
    clipped_low: float = 0.0
    clipped_high: float = 0.0
    kl: float = 0.0
    tis_capped: float = 0.0
    mismatch: float = 0.0
    max_mismatch: float = 0.0

    def plus(self, other: LossSums) -> LossSums:
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return LossSums(**sums | {"max_mismatch": max(self.max_mismatch, other.max_mismatch)})

    def over_ranks(self, device: torch.device | str = "cpu") -> LossSums:
        if not (dist.is_available() and dist.is_initialized()):
            return self
        names = [f.name for f in fields(self) if f.name != "max_mismatch"]
        sums = torch.tensor([getattr(self, name) for name in names], dtype=torch.float64, device=device)
        peak = torch.tensor(self.max_mismatch, dtype=torch.float64, device=device)
        dist.all_reduce(sums)
        dist.all_reduce(peak, op=dist.ReduceOp.MAX)
        return LossSums(**dict(zip(names, sums.tolist(), strict=True)), max_mismatch=float(peak))

    def metrics(self) -> dict[str, float]:
        """Shares and means over the trained tokens; mismatch is |logp_old - logp_rollout|."""
        count = max(1.0, self.num_tokens)
        return {
            "policy/clip_low_share": self.clipped_low / count,
            "policy/clip_high_share": self.clipped_high / count,
            "policy/kl_nats": self.kl / count,
            "policy/tis_share": self.tis_capped / count,
            "policy/mismatch_mean_nats": self.mismatch / count,
            "policy/mismatch_max_nats": self.max_mismatch,
            "policy/trained_tokens": self.num_tokens,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPart:
    """One micro-batch's summand of the step's loss (call backward on it) and its metric sums."""

    loss: Tensor
    sums: LossSums


def policy_loss(tokens: LossTokens, weights: TokenWeights, settings: PolicyLoss) -> LossPart:
    """The micro-batch's part of L: a weighted sum, never a mean, so that parts add up however the step is split."""
    t = tokens.trained()
    ratio_T = (t.logp_T - t.logp_old_T).exp()
    low, high = 1.0 - settings.clip_low, 1.0 + settings.clip_high
    advantage_T = t.advantage_T.to(t.logp_T.dtype)
    free_T, clipped_T = ratio_T * advantage_T, ratio_T.clamp(low, high) * advantage_T
    mismatch_T = (t.logp_old_T - t.logp_rollout_T).detach()
    importance_T = mismatch_T.exp()
    is_capped_T = torch.zeros_like(t.is_trained_T)
    if settings.tis_cap is None:
        importance_T = torch.ones_like(importance_T)
    else:
        is_capped_T = importance_T > settings.tis_cap
        importance_T = importance_T.clamp(max=settings.tis_cap)
    difference_T = (t.logp_ref_T - t.logp_T).clamp(-KL_CLAMP, KL_CLAMP)
    kl_T = difference_T.exp() - difference_T - 1.0
    token_loss_T = -torch.minimum(free_T, clipped_T) * importance_T + settings.kl_coef * kl_T
    weight_F = torch.tensor(weights.weight_of, dtype=token_loss_T.dtype, device=token_loss_T.device)
    loss = (weight_F[t.flow_T.long()] * token_loss_T).sum()
    has_lost_gradient_T = clipped_T < free_T
    sums = LossSums(
        num_tokens=float(t.logp_T.numel()),
        clipped_low=float((has_lost_gradient_T & (ratio_T < low)).sum()),
        clipped_high=float((has_lost_gradient_T & (ratio_T > high)).sum()),
        kl=float(kl_T.detach().sum()),
        tis_capped=float(is_capped_T.sum()),
        mismatch=float(mismatch_T.abs().sum()),
        max_mismatch=float(mismatch_T.abs().max()) if mismatch_T.numel() else 0.0,
    )
    return LossPart(loss=loss, sums=sums)
