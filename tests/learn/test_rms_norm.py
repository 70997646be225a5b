"""Our norm against its definition in double precision, and against the one that it stands for."""

from __future__ import annotations

import pytest
import torch
from tiny_qwen3 import tiny_model
from torch import nn
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from robustops.learn.rms_norm import RmsNorm, replace_norms
from robustops.learn.sharding import LogprobNet

EPS = 1e-6


def definition(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + EPS)


@pytest.mark.parametrize("shape", [(7, 32), (2, 5, 3, 16), (1, 1)])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_values_and_gradients_are_those_of_the_definition(shape, scale):
    rng = torch.Generator().manual_seed(0)
    x = (torch.randn(shape, generator=rng) * scale).requires_grad_()
    weight = nn.Parameter(torch.rand(shape[-1], generator=rng) + 0.5)
    upstream = torch.randn(shape, generator=rng)
    found = RmsNorm(weight, EPS)(x)
    found.backward(upstream)
    exact_x, exact_weight = x.detach().double().requires_grad_(), weight.detach().double().requires_grad_()
    expected = definition(exact_x, exact_weight)
    expected.backward(upstream.double())
    for ours, exact in ((found.detach(), expected.detach()), (x.grad, exact_x.grad), (weight.grad, exact_weight.grad)):
        assert ours.dtype == torch.float32
        assert float((ours - exact).abs().max()) <= 2e-6 * float(exact.abs().max()) + 1e-6 / scale


def test_a_row_of_zeros_gives_zeros_and_a_finite_gradient():
    x = torch.zeros(2, 8, requires_grad=True)
    found = RmsNorm(nn.Parameter(torch.ones(8)), EPS)(x)
    found.sum().backward()
    assert torch.equal(found, torch.zeros(2, 8))
    assert torch.allclose(x.grad, torch.full((2, 8), EPS**-0.5))


def test_under_autocast_the_result_is_of_the_compute_type_and_the_gradient_of_the_inputs():
    x = torch.randn(4, 16, requires_grad=True)
    norm = RmsNorm(nn.Parameter(torch.ones(16)), EPS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = norm(x)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, definition(x.detach(), norm.weight.detach()).bfloat16())
    found.sum().backward()
    assert x.grad.dtype == norm.weight.grad.dtype == torch.float32


def test_a_frozen_weight_gets_no_gradient():
    norm = RmsNorm(nn.Parameter(torch.ones(16), requires_grad=False), EPS)
    norm(torch.randn(4, 16, requires_grad=True)).sum().backward()
    assert norm.weight.grad is None


def test_a_model_keeps_its_weights_their_names_and_its_numbers():
    model, ids = tiny_model(0, spread=0.1), torch.arange(1, 9)[None]
    before, names = model(input_ids=ids).logits.detach(), list(model.state_dict())
    weights = [id(parameter) for parameter in model.parameters()]
    assert any(isinstance(module, Qwen3RMSNorm) for module in model.modules())
    LogprobNet(model)
    assert not any(isinstance(module, Qwen3RMSNorm) for module in model.modules())
    assert list(model.state_dict()) == names
    assert [id(parameter) for parameter in model.parameters()] == weights
    torch.testing.assert_close(model(input_ids=ids).logits, before, atol=1e-5, rtol=1e-5)


def test_a_norm_of_another_formula_stays():
    model = nn.Sequential(GemmaRMSNorm(8))
    replace_norms(model)
    assert isinstance(model[0], GemmaRMSNorm)
