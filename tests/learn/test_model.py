"""Logprobs from the chunked head on chosen tokens against the plain model: all logits, log-softmax, gather."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny_qwen3 import VOCAB, tiny_model
from torch import Tensor

from robustops.core.errors import ConfigError
from robustops.learn.model import load_model, load_named_weights, named_weights, token_logprobs

LENGTHS = (23, 9, 40, 17)


def rows(seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random tokens of different lengths, padded at the end with 0; about a third of the real tokens is wanted."""
    generator = torch.Generator().manual_seed(seed)
    ids_NT = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.long)
    is_wanted_NT = torch.zeros_like(ids_NT, dtype=torch.bool)
    for row, length in enumerate(LENGTHS):
        ids_NT[row, :length] = torch.randint(VOCAB, (length,), generator=generator)
        is_wanted_NT[row, 1:length] = torch.rand(length - 1, generator=generator) < 0.35
    return ids_NT, is_wanted_NT


def plain_logprobs(model, ids_NT: Tensor, is_wanted_NT: Tensor, temperature: float = 1.0) -> Tensor:
    """Row by row, without padding, over all positions and the whole vocabulary."""
    found = []
    for row, length in enumerate(LENGTHS):
        ids_T = ids_NT[row, :length]
        table_TV = (model(ids_T[None]).logits[0] / temperature).log_softmax(-1)
        found += [table_TV[t - 1, ids_T[t]] for t in range(length) if is_wanted_NT[row, t]]
    return torch.stack(found)


def gradients(model, loss: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


@pytest.fixture(scope="module")
def model():
    return tiny_model(0)


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_are_those_of_all_logits_row_by_row(model, temperature):
    ids_NT, is_wanted_NT = rows()
    found = token_logprobs(model, ids_NT, is_wanted_NT, temperature=temperature)
    expected_K = plain_logprobs(model, ids_NT, is_wanted_NT, temperature)
    assert len(found.logp_K) == int(is_wanted_NT.sum())
    torch.testing.assert_close(found.logp_K, expected_K, atol=1e-4, rtol=1e-5)
    assert found.entropy_K.numel() == 0


def test_what_stands_in_the_padding_changes_nothing(model):
    ids_NT, is_wanted_NT = rows()
    other_NT = ids_NT.clone()
    for row, length in enumerate(LENGTHS):
        other_NT[row, length:] = 11
    one, two = (token_logprobs(model, ids, is_wanted_NT).logp_K for ids in (ids_NT, other_NT))
    assert torch.equal(one, two)


@pytest.mark.parametrize(("chunk_tokens", "temperature"), [(1, 1.0), (7, 1.0), (1024, 1.0), (7, 0.7)])
def test_gradients_equal_the_plain_computation_for_every_chunk_size(model, chunk_tokens, temperature):
    ids_NT, is_wanted_NT = rows()
    weight_K = torch.linspace(0.1, 1.0, int(is_wanted_NT.sum()))
    expected = gradients(model, (plain_logprobs(model, ids_NT, is_wanted_NT, temperature) * weight_K).sum())
    chunked = token_logprobs(
        model, ids_NT, is_wanted_NT, temperature=temperature, chunk_tokens=chunk_tokens, with_entropy=True
    ).logp_K
    found = gradients(model, (chunked * weight_K).sum())
    for name, gradient in expected.items():
        scale = float(gradient.abs().max())
        assert float((found[name] - gradient).abs().max()) < 1e-4 * scale, name


def test_entropy_is_that_of_the_tempered_distribution_and_carries_no_gradient(model):
    ids_NT, is_wanted_NT = rows()
    found = token_logprobs(model, ids_NT, is_wanted_NT, temperature=0.7, with_entropy=True, chunk_tokens=5)
    expected = []
    for row, length in enumerate(LENGTHS):
        logits_TV = model(ids_NT[row : row + 1, :length]).logits[0].detach() / 0.7
        entropy_T = torch.distributions.Categorical(logits=logits_TV).entropy()
        expected += [float(entropy_T[t - 1]) for t in range(length) if is_wanted_NT[row, t]]
    assert found.entropy_K.tolist() == pytest.approx(expected, abs=1e-4)
    assert not found.entropy_K.requires_grad


def test_bf16_compute_is_close_and_leaves_masters_and_gradients_in_fp32():
    model = tiny_model(0, spread=0.05)
    ids_NT, is_wanted_NT = rows()
    found_K = token_logprobs(model, ids_NT, is_wanted_NT, compute=torch.bfloat16).logp_K
    assert found_K.dtype == torch.float32
    expected_K = plain_logprobs(model, ids_NT, is_wanted_NT)
    assert 0 < float((found_K - expected_K).detach().abs().max()) < 0.1
    found, expected = gradients(model, found_K.sum()), gradients(model, expected_K.sum())
    assert {gradient.dtype for gradient in found.values()} == {torch.float32}
    for name, gradient in expected.items():
        error = float((found[name] - gradient).norm() / gradient.norm())
        assert 0 < error < 0.1, name


def test_the_first_token_cannot_be_wanted(model):
    ids_NT, is_wanted_NT = rows()
    is_wanted_NT[2, 0] = True
    with pytest.raises(ValueError, match="first token"):
        token_logprobs(model, ids_NT, is_wanted_NT)


def test_nothing_wanted_is_no_logprobs(model):
    ids_NT, is_wanted_NT = rows()
    assert token_logprobs(model, ids_NT, torch.zeros_like(is_wanted_NT), with_entropy=True).logp_K.shape == (0,)


def test_a_tied_head_is_one_weight_and_goes_back_into_both_places():
    weights = {name: tensor.clone() for name, tensor in named_weights(tiny_model(3)).items()}
    assert "model.embed_tokens.weight" in weights
    assert "lm_head.weight" not in weights
    other = tiny_model(4)
    load_named_weights(other, weights)
    ids = torch.tensor([[5, 6, 7]])
    assert torch.equal(other(ids).logits, tiny_model(3)(ids).logits)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model.norm.weight": None}, r"model\.norm\.weight is not there, expected \(\d+,\)"),
        ({"model.norm.lora_A.weight": torch.zeros(2)}, r"lora_A\.weight is \(2,\), expected none"),
        (
            {"model.norm.weight": torch.zeros(3)},
            r"norm\.weight is \(3,\), expected .*model\.lora that the run began with",
        ),
    ],
)
def test_weights_of_another_model_are_refused_before_any_is_taken(model, change, reason):
    before = {name: tensor.clone() for name, tensor in named_weights(model).items()}
    foreign = {name: tensor + 1 for name, tensor in before.items()} | change
    with pytest.raises(ConfigError, match=reason):
        load_named_weights(model, {name: tensor for name, tensor in foreign.items() if tensor is not None})
    assert all(torch.equal(tensor, before[name]) for name, tensor in named_weights(model).items())


def test_a_loaded_model_is_in_fp32_and_trains(tiny_folder: Path):
    model = load_model(tiny_folder, checkpoint_activations=True)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert model.training
    assert model.is_gradient_checkpointing
    ids = torch.tensor([[5, 6, 7]])
    assert torch.allclose(model(ids).logits, tiny_model(0)(ids).logits, atol=1e-4)


def test_a_folder_that_is_no_model_is_one_line_about_model_path(tmp_path: Path, tiny_folder: Path):
    with pytest.raises(ConfigError, match=r"model.path: no model in .*config.json is missing"):
        load_model(tmp_path)
    (tmp_path / "config.json").write_bytes((tiny_folder / "config.json").read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"cut short")
    with pytest.raises(ConfigError, match=r"model.path: .* cannot be loaded: .+") as caught:
        load_model(tmp_path)
    assert "\n" not in str(caught.value)
