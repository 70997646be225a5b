"""The stated formula of memory against what a profiler counts, and against numbers known elsewhere."""

from __future__ import annotations

import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from transformers import Qwen3Config, Qwen3ForCausalLM

from robustops.learn.memory import ModelShape, activation_bytes, training_memory
from robustops.learn.sharding import LogprobNet
from robustops.learn.shared_prefix import share_prefixes

# layers, hidden, heads, key heads, feed-forward, vocabulary, tokens
SIZES = ((2, 64, 2, 1, 96, 262, 256), (4, 128, 4, 4, 384, 1536, 512), (4, 256, 8, 2, 768, 4096, 1024))
QWEN3_4B = {
    "num_hidden_layers": 36,
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}


def model_of(size: tuple[int, ...], *, is_checkpointed: bool) -> Qwen3ForCausalLM:
    layers, hidden, heads, kv_heads, feed_forward, vocabulary, _ = size
    model = Qwen3ForCausalLM(
        Qwen3Config(
            num_hidden_layers=layers,
            hidden_size=hidden,
            num_attention_heads=heads,
            num_key_value_heads=kv_heads,
            head_dim=32,
            intermediate_size=feed_forward,
            vocab_size=vocabulary,
            tie_word_embeddings=True,
        )
    ).train()
    share_prefixes(model)
    if is_checkpointed:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


def profiled_peak(model: Qwen3ForCausalLM, size: tuple[int, ...]) -> int:
    """Bytes of tensors at their most, from before forward to after backward, all parameters having gradients."""
    *_, vocabulary, tokens = size
    ids_NT = torch.randint(vocabulary, (1, tokens), generator=torch.Generator().manual_seed(0))
    is_wanted_NT = torch.arange(tokens)[None] >= tokens // 2
    net = LogprobNet(model)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        net.logprobs(ids_NT, is_wanted_NT).logp_K.sum().backward()
    now = most = 0
    for event in found.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    return most


@pytest.mark.parametrize("is_checkpointed", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_predicted_peak_of_tensors_is_within_15_percent_of_the_profiler(size, is_checkpointed):
    model = model_of(size, is_checkpointed=is_checkpointed)
    shape = ModelShape.of_config(model.config.to_dict())
    expected = activation_bytes(shape, size[-1], compute_bytes=4, is_checkpointed=is_checkpointed)
    assert profiled_peak(model, size) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("size", SIZES)
def test_parameters_are_counted_exactly(size):
    model = model_of(size, is_checkpointed=False)
    assert ModelShape.of_config(model.config.to_dict()).parameters == sum(p.numel() for p in model.parameters())


def test_a_4b_model_has_its_four_billion_parameters_and_sixteen_bytes_for_each():
    """Qwen3-4B names 4.0 B parameters; float32 weights, gradients and two moments of Adam are 16 bytes each."""
    shape = ModelShape.of_config(QWEN3_4B)
    assert shape.parameters == pytest.approx(4.02e9, rel=0.005)
    found = training_memory(shape, 1024)
    assert found.states == 16 * shape.parameters
    assert found.resident == 12 * shape.parameters
    assert training_memory(shape, 1024, num_shards=2).states == 8 * shape.parameters
    assert shape.kv_bytes(2) == 36 * 2 * 8 * 128 * 2
