"""A causal language model as the trainer needs it: a model folder in, per-token logprobs with gradients out.

Master weights are float32; the compute type is chosen per call. The LM head runs only on the tokens asked for
(`learn.head`). Knows no episode.

Shapes: N rows, T longest row (padding at the end), K wanted tokens in row-major order, V vocabulary, D hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor, distribute_tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from robustops.core.errors import ConfigError, first_line
from robustops.learn.head import CHUNK_TOKENS, TokenLogprobs, head_logprobs
from robustops.learn.shared_prefix import Layout, layout_arguments

Attention = Literal["sdpa", "flash_attention_2"]


def load_model(folder: Path, *, attn: Attention = "sdpa", checkpoint_activations: bool = False) -> PreTrainedModel:
    """Float32 weights on the CPU, ready to train. Raises ConfigError for a folder that is no model."""
    if not (folder / "config.json").is_file():
        raise ConfigError(f"model.path: no model in {folder} (config.json is missing); write model.path=FOLDER")
    try:
        model: PreTrainedModel = AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=torch.float32, attn_implementation=attn, local_files_only=True
        )
    except Exception as error:  # a damaged file shows as any of a dozen types of four libraries
        raise ConfigError(f"model.path: {folder} cannot be loaded: {first_line(error)}") from error
    if checkpoint_activations:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    return model


def named_weights(model: PreTrainedModel) -> dict[str, Tensor]:
    """Every weight once, under its checkpoint name: a tied head is the embedding, not a second tensor.

    Whole tensors, on the CPU, where the weights are spread over ranks; all ranks must call it then.
    """
    once = {name for name, _ in model.named_parameters()}
    again = {name for name, _ in model.named_parameters(remove_duplicate=False)} - once
    return {name: _whole(tensor) for name, tensor in model.state_dict().items() if name not in again}


def _whole(tensor: Tensor) -> Tensor:
    return tensor.full_tensor().cpu() if isinstance(tensor, DTensor) else tensor


def load_named_weights(model: PreTrainedModel, weights: Mapping[str, Tensor]) -> None:
    """The inverse of `named_weights`. Raises ConfigError unless names and shapes are the model's.

    All ranks must call it where the weights are spread over them.
    """
    expected = {name: tuple(tensor.shape) for name, tensor in named_weights(model).items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if expected != found:
        name = min(key for key in expected | found if expected.get(key) != found.get(key))
        raise ConfigError(
            f"checkpoint: weights of another model: {name} is {found.get(name, 'not there')}, expected "
            f"{expected.get(name, 'none')}; resume with the model.path and model.lora that the run began with"
        )
    present = model.state_dict()
    placed = {name: _placed(tensor, present[name]) for name, tensor in weights.items()}
    model.load_state_dict(placed, strict=False)  # not strict: the other name of a tied weight is left out


def _placed(tensor: Tensor, like: Tensor) -> Tensor:
    """As a model holds it: spread over ranks, or whole."""
    if not isinstance(like, DTensor):
        return tensor
    return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)


def token_logprobs(
    model: PreTrainedModel,
    token_ids_NT: Tensor,
    is_wanted_NT: Tensor,
    *,
    temperature: float = 1.0,
    compute: torch.dtype = torch.float32,
    with_entropy: bool = False,
    chunk_tokens: int = CHUNK_TOKENS,
    layout: Layout | None = None,
) -> TokenLogprobs:
    """Logprob of each wanted token given those before it.

    No attention mask is needed: padding stands at the end and attention is causal, so no wanted token sees it.
    `layout`: of a single packed row; the model must be prepared by `share_prefixes`, or `keep_apart` without prefixes.
    Raises ValueError when the first token of a row is wanted: nothing predicts it.
    """
    if bool(is_wanted_NT[:, 0].any()):
        raise ValueError("the first token of a row has no prediction; it cannot be wanted")
    packing = {} if layout is None else layout_arguments(model, layout, token_ids_NT.device)
    # With checkpoints memory is short: no cast of a layer's weights outlives it, and the residual stream, of which each
    # layer's input is kept, is of the compute type, as in an engine.
    is_mixed, is_checkpointed = compute != torch.float32, getattr(model, "is_gradient_checkpointing", False)
    embedded_NTD = model.get_input_embeddings()(token_ids_NT)
    if is_mixed and is_checkpointed:
        embedded_NTD = embedded_NTD.to(compute)
    with torch.autocast(token_ids_NT.device.type, dtype=compute, enabled=is_mixed, cache_enabled=not is_checkpointed):
        hidden_NTD = model.get_decoder()(  # type: ignore[no-untyped-call]
            inputs_embeds=embedded_NTD, use_cache=False, **packing
        ).last_hidden_state
    predicts_NT = is_wanted_NT[:, 1:]
    hidden_KD, target_K = hidden_NTD[:, :-1][predicts_NT], token_ids_NT[:, 1:][predicts_NT]
    weight_VD: Tensor = model.get_output_embeddings().weight  # type: ignore[no-untyped-call]
    return head_logprobs(
        hidden_KD,
        weight_VD,
        target_K,
        temperature=temperature,
        compute=compute,
        with_entropy=with_entropy,
        chunk_tokens=chunk_tokens,
    )
