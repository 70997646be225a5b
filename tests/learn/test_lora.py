"""Adapters: what trains, what an export holds, and that merging is the sum it should be."""

from __future__ import annotations

import pytest
import torch
from tiny_qwen3 import VOCAB, tiny_model
from transformers import AutoModelForCausalLM

from robustops.core.errors import ConfigError
from robustops.learn.export import export_model
from robustops.learn.lora import LoraSettings, attach, merged_weights
from robustops.learn.model import named_weights, token_logprobs

SETTINGS = LoraSettings(rank=2, alpha=6)


def adapted(seed: int = 0):
    """A model with adapters that do change something."""
    model = tiny_model()
    attach(model, SETTINGS)
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            parameter.data = torch.randn(parameter.shape, generator=generator) * 0.1
    return model


def logprobs(model) -> torch.Tensor:
    ids_NT = torch.arange(12).reshape(2, 6) % VOCAB
    is_wanted_NT = torch.ones_like(ids_NT, dtype=torch.bool)
    is_wanted_NT[:, 0] = False
    return token_logprobs(model, ids_NT, is_wanted_NT).logp_K


def test_fresh_adapters_change_nothing_and_alone_train():
    model, plain = tiny_model(), tiny_model()
    num_trained = attach(model, SETTINGS)
    assert torch.equal(logprobs(model), logprobs(plain))
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert trained
    assert all("lora_" in name for name in trained)
    assert num_trained == sum(p.numel() for n, p in model.named_parameters() if "lora_" in n)


def test_a_merged_weight_is_the_frozen_one_plus_the_scaled_product():
    """W + alpha / rank * B A, with alpha 6 and rank 2: three times the product."""
    model = adapted()
    layer = model.get_decoder().layers[0].self_attn.q_proj
    expected = layer.base_layer.weight + 3 * layer.lora_B["default"].weight @ layer.lora_A["default"].weight
    assert torch.allclose(merged_weights(model)["model.layers.0.self_attn.q_proj.weight"], expected, atol=1e-6)


def test_merged_weights_bear_the_names_of_a_model_without_adapters():
    assert merged_weights(adapted()).keys() == named_weights(tiny_model()).keys()
    plain = tiny_model()
    assert all(torch.equal(w, named_weights(plain)[name]) for name, w in merged_weights(plain).items())


def test_an_exported_model_with_adapters_computes_the_same_and_has_none(tmp_path, tiny_folder):
    model = adapted()
    before = logprobs(model)
    export_model(model, tmp_path / "out", source=tiny_folder)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32, attn_implementation="sdpa")
    assert not any("lora_" in name for name, _ in loaded.named_parameters())
    assert torch.allclose(logprobs(loaded), before, atol=1e-5)
    assert torch.equal(logprobs(model), before), "the trained model was changed by its export"


def test_gradients_reach_the_adapters_through_checkpointed_activations():
    model = tiny_model()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    attach(model, SETTINGS)
    logprobs(model).sum().backward()
    gradients = [p.grad for n, p in model.named_parameters() if "lora_B" in n]
    assert all(gradient is not None and gradient.abs().sum() > 0 for gradient in gradients)


def test_layers_that_the_model_lacks_are_refused_by_name():
    with pytest.raises(ConfigError, match=r"model.lora.targets: .*no_such_layer"):
        attach(tiny_model(), LoraSettings(rank=1, targets=("no_such_layer",)))


@pytest.mark.parametrize("name", ["embed_tokens", "lm_head"])
def test_adapters_on_the_embedding_or_the_head_are_refused(name):
    with pytest.raises(ConfigError, match=rf"model.lora.targets: .*{name} is not a projection"):
        attach(tiny_model(), LoraSettings(rank=1, targets=("q_proj", name)))


def test_a_frozen_head_costs_no_gradient():
    model = tiny_model()
    attach(model, SETTINGS)
    logprobs(model).sum().backward()
    assert model.lm_head.weight.grad is None
    assert all(parameter.grad is not None for parameter in model.parameters() if parameter.requires_grad)
