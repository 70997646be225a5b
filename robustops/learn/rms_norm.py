"""RMS normalisation that keeps little for backward: the norms of a model in, leaner ones of the same formula out.

transformers' own is written in single operations: autograd keeps a float32 copy of the input, the normalised input and,
in bfloat16, a cast for each product that reads it. Here the input and one factor a row are kept. Under autocast the
result is of the compute type, as products take it; so queries and keys are rounded to it before rotary positions, where
transformers rounds them after. Knows no loss.

    y = w x r,  r = (mean(x^2) + eps)^-1/2,  dx = r (w g - x r mean(w g x r)),  dw = sum over rows of g x r

Shapes: ... D, the last dimension is normalised.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

REPLACED = ("Qwen3RMSNorm", "Qwen2RMSNorm", "LlamaRMSNorm")  # all the same formula, unlike Gemma's


def replace_norms(model: nn.Module) -> None:
    """Put `RmsNorm` in the place of each norm that it can stand for; weights stay the same objects."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if type(child).__name__ in REPLACED:
                own = RmsNorm(child.weight, child.variance_epsilon)  # type: ignore[arg-type]
                setattr(parent, name, own.train(child.training))


class RmsNorm(nn.Module):
    def __init__(self, weight: nn.Parameter, eps: float) -> None:
        super().__init__()
        self.weight = weight
        self.eps = eps

    def forward(self, x_D: Tensor) -> Tensor:
        device = x_D.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x_D.dtype
        found: Tensor = _RmsNorm.apply(x_D, self.weight, self.eps, kind)  # type: ignore[no-untyped-call]
        return found

    def extra_repr(self) -> str:
        return f"{len(self.weight)}, eps={self.eps}"


class _RmsNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x_D: Tensor, weight_D: Tensor, eps: float, kind: torch.dtype) -> Tensor:
        full_D = x_D.float()
        norm_1 = torch.linalg.vector_norm(full_D, dim=-1, keepdim=True)
        factor_1 = norm_1.square_().div_(x_D.shape[-1]).add_(eps).rsqrt_()
        ctx.save_for_backward(x_D, weight_D, factor_1)
        found_D: Tensor = (full_D * factor_1).mul_(weight_D)
        return found_D.to(kind)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_D: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        x_D, weight_D, factor_1 = ctx.saved_tensors
        grad_D, normal_D = grad_D.float(), x_D.float() * factor_1
        product_D = grad_D * normal_D
        grad_weight_D = product_D.flatten(0, -2).sum(0).to(weight_D.dtype) if ctx.needs_input_grad[1] else None
        mean_1 = product_D.mul_(weight_D).mean(-1, keepdim=True)
        grad_x_D = torch.mul(grad_D, weight_D, out=product_D).addcmul_(normal_D, mean_1, value=-1.0).mul_(factor_1)
        return grad_x_D.to(x_D.dtype), grad_weight_D, None, None
