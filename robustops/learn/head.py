"""The LM head's logprobs in chunks: hidden states and the head's weight in, logprobs with gradients out.

Logits exist for one chunk at a time, in forward and again in backward, where the gradient is written over them. No
tensor of all tokens times the vocabulary is ever made. Source of the gradient: d logp_t / d logits = onehot - softmax.

Shapes: K tokens, D hidden, V vocabulary, C tokens of one chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

CHUNK_TOKENS = 512  # benchmarks/sft.py, B4


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprobs:
    """`logp_K`: of the wanted tokens, float32. `entropy_K`: of the distribution each was drawn from, in nats, detached;
    empty where it was not asked for."""

    logp_K: Tensor
    entropy_K: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    temperature: float
    compute: torch.dtype
    chunk_tokens: int
    with_entropy: bool

    def logits(self, hidden_CD: Tensor, weight_VD: Tensor) -> Tensor:
        logits_CV = functional.linear(hidden_CD.to(self.compute), weight_VD).float()
        return logits_CV if self.temperature == 1.0 else logits_CV.div_(self.temperature)

    def chunks(self, num_tokens: int) -> Iterator[slice]:
        for start in range(0, num_tokens, self.chunk_tokens):
            yield slice(start, start + self.chunk_tokens)


def head_logprobs(
    hidden_KD: Tensor,
    weight_VD: Tensor,
    target_K: Tensor,
    *,
    temperature: float = 1.0,
    compute: torch.dtype = torch.float32,
    with_entropy: bool = False,
    chunk_tokens: int = CHUNK_TOKENS,
) -> TokenLogprobs:
    """Logprob of each target under softmax(hidden @ weight^T / temperature); products in `compute`, sums in float32."""
    settings = _Settings(temperature=temperature, compute=compute, chunk_tokens=chunk_tokens, with_entropy=with_entropy)
    logp_K, entropy_K = _Head.apply(hidden_KD, weight_VD, target_K, settings)  # type: ignore[no-untyped-call]
    return TokenLogprobs(logp_K=logp_K, entropy_K=entropy_K)


class _Head(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, hidden_KD: Tensor, weight_VD: Tensor, target_K: Tensor, settings: _Settings
    ) -> tuple[Tensor, Tensor]:
        compute_VD = weight_VD.to(settings.compute)
        log_sum_K = hidden_KD.new_empty(len(target_K), dtype=torch.float32)
        logp_K = torch.empty_like(log_sum_K)
        entropy_K = torch.empty_like(log_sum_K) if settings.with_entropy else log_sum_K.new_empty(0)
        for part in settings.chunks(len(target_K)):
            logits_CV = settings.logits(hidden_KD[part], compute_VD)
            top_C1 = logits_CV.amax(-1, keepdim=True)
            logits_CV.sub_(top_C1)
            target_C = logits_CV.gather(-1, target_K[part, None])[:, 0]
            powers_CV = logits_CV.exp() if settings.with_entropy else logits_CV.exp_()
            sum_C = powers_CV.sum(-1)
            logp_K[part] = target_C - sum_C.log()
            log_sum_K[part] = sum_C.log() + top_C1[:, 0]
            if settings.with_entropy:  # -sum p log p, with p = power / sum
                entropy_K[part] = sum_C.log() - powers_CV.mul_(logits_CV).sum(-1) / sum_C
        ctx.settings = settings
        ctx.save_for_backward(hidden_KD, weight_VD, target_K, log_sum_K)
        ctx.mark_non_differentiable(entropy_K)
        return logp_K, entropy_K

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_K: Tensor, _: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        hidden_KD, weight_VD, target_K, log_sum_K = ctx.saved_tensors
        settings: _Settings = ctx.settings
        compute_VD = weight_VD.to(settings.compute)
        grad_hidden_KD = torch.empty_like(hidden_KD)
        grad_weight_VD = torch.zeros_like(weight_VD) if ctx.needs_input_grad[1] else None  # frozen beside adapters
        for part in settings.chunks(len(target_K)):
            hidden_CD, scale_C1 = hidden_KD[part].to(settings.compute), grad_K[part, None] / settings.temperature
            grad_CV = settings.logits(hidden_CD, compute_VD).sub_(log_sum_K[part, None]).exp_().mul_(-scale_C1)
            grad_CV.scatter_add_(1, target_K[part, None], scale_C1)
            grad_CV = grad_CV.to(settings.compute)
            grad_hidden_KD[part] = grad_CV @ compute_VD
            if grad_weight_VD is None:
                continue
            if settings.compute == grad_weight_VD.dtype:
                grad_weight_VD.addmm_(grad_CV.T, hidden_CD)
            else:
                grad_weight_VD += grad_CV.T @ hidden_CD
        return grad_hidden_KD, grad_weight_VD, None, None
