"""A causal language model as the trainer needs it: a model folder in, per-token logprobs with gradients out.

Master weights are float32; the compute type is chosen per call. The LM head runs only on the tokens asked for, in
chunks, so that no tensor of all tokens times the vocabulary ever exists. Knows no episode.

Shapes: N rows, T longest row (padding at the end), K wanted tokens in row-major order, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM, PreTrainedModel

from robustops.core.errors import ConfigError

Attention = Literal["sdpa", "flash_attention_2"]
HEAD_CHUNK_TOKENS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprobs:
    """`logp_K`: of the wanted tokens, float32. `entropy_K`: of the distribution each was drawn from, in nats, detached;
    empty where it was not asked for."""

    logp_K: Tensor
    entropy_K: Tensor


def load_model(folder: Path, *, attn: Attention = "sdpa", checkpoint_activations: bool = False) -> PreTrainedModel:
    """Float32 weights on the CPU, ready to train. Raises ConfigError for a folder that is no model."""
    if not (folder / "config.json").is_file():
        raise ConfigError(f"model.path: no model in {folder} (config.json is missing); write model.path=FOLDER")
    try:
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=torch.float32, attn_implementation=attn, local_files_only=True
        )
    except Exception as error:  # a damaged file shows as any of a dozen types of four libraries
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ConfigError(f"model.path: {folder} cannot be loaded: {reason}") from error
    if checkpoint_activations:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    return model


def named_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Every weight once, under its checkpoint name: a tied head is the embedding, not a second tensor."""
    weights: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in model.state_dict().items():
        weights.setdefault(tensor.data_ptr(), (name, tensor))
    return dict(weights.values())


def load_named_weights(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> None:
    """The inverse of `named_weights`. Raises ValueError unless the names are the model's."""
    expected = named_weights(model).keys()
    if expected != weights.keys():
        raise ValueError(f"weights of another model: {sorted(expected ^ weights.keys())[:3]} are in one of them only")
    model.load_state_dict(dict(weights), strict=False)  # not strict: the other name of a tied weight is left out


def token_logprobs(
    model: PreTrainedModel,
    token_ids_NT: Tensor,
    is_wanted_NT: Tensor,
    *,
    temperature: float = 1.0,
    compute: torch.dtype = torch.float32,
    with_entropy: bool = False,
    chunk_tokens: int = HEAD_CHUNK_TOKENS,
) -> TokenLogprobs:
    """Logprob of each wanted token given those before it.

    No attention mask is needed: padding stands at the end and attention is causal, so no wanted token sees it.
    Raises ValueError when the first token of a row is wanted: nothing predicts it.
    """
    if bool(is_wanted_NT[:, 0].any()):
        raise ValueError("the first token of a row has no prediction; it cannot be wanted")
    with torch.autocast(token_ids_NT.device.type, dtype=compute, enabled=compute != torch.float32):
        hidden_NTD = model.get_decoder()(  # type: ignore[no-untyped-call]
            input_ids=token_ids_NT, use_cache=False
        ).last_hidden_state
    predicts_NT = is_wanted_NT[:, 1:]
    hidden_KD, target_K = hidden_NTD[:, :-1][predicts_NT], token_ids_NT[:, 1:][predicts_NT]
    weight_VD: Tensor = model.get_output_embeddings().weight  # type: ignore[no-untyped-call]
    logps, entropies = [], []
    for start in range(0, len(target_K), chunk_tokens):
        part = slice(start, start + chunk_tokens)
        inputs = (hidden_KD[part], weight_VD, target_K[part], temperature, compute)
        is_recomputed = len(target_K) > chunk_tokens and torch.is_grad_enabled()
        logps.append(checkpoint(_logp, *inputs, use_reentrant=False) if is_recomputed else _logp(*inputs))
        if with_entropy:
            entropies.append(_entropy(hidden_KD[part].detach(), weight_VD.detach(), temperature, compute))
    empty = hidden_KD.new_zeros(0, dtype=torch.float32)
    return TokenLogprobs(
        logp_K=torch.cat(logps) if logps else empty, entropy_K=torch.cat(entropies) if entropies else empty
    )


def _logits(hidden_KD: Tensor, weight_VD: Tensor, temperature: float, compute: torch.dtype) -> Tensor:
    logits_KV = functional.linear(hidden_KD.to(compute), weight_VD.to(compute)).float()
    return logits_KV if temperature == 1.0 else logits_KV / temperature


def _logp(hidden_KD: Tensor, weight_VD: Tensor, target_K: Tensor, temperature: float, compute: torch.dtype) -> Tensor:
    logits_KV = _logits(hidden_KD, weight_VD, temperature, compute)
    return -functional.cross_entropy(logits_KV, target_K, reduction="none")


@torch.no_grad()
def _entropy(hidden_KD: Tensor, weight_VD: Tensor, temperature: float, compute: torch.dtype) -> Tensor:
    logp_KV = _logits(hidden_KD, weight_VD, temperature, compute).log_softmax(-1)
    return -(logp_KV.exp() * logp_KV).sum(-1)
