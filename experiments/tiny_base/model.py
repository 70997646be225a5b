"""The tiny Qwen3 model: recipe in; model, optimisers, learning rate, forward pass and accuracies out.

Shapes: B rows, T tokens of the longest, H hidden size, N target tokens, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from curriculum import Lesson, tensors
from torch import Tensor
from transformers import Qwen3Config, Qwen3ForCausalLM


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    tokens: int
    lr: float = 2e-3
    warmup_steps: int = 100
    decay_share: float = 0.25
    weight_decay: float = 0.01
    seed: int = 0
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 4
    intermediate: int = 384
    rope_theta: float = 10_000.0
    init: float = 0.06
    muon_share: float = 2.0  # learning rate of the matrices' Muon over that of AdamW; 0: AdamW for all


def new_model(recipe: Recipe, vocab_size: int, eos_id: int, pad_id: int) -> Qwen3ForCausalLM:
    torch.manual_seed(recipe.seed)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=vocab_size,
            hidden_size=recipe.hidden,
            num_hidden_layers=recipe.layers,
            num_attention_heads=recipe.heads,
            num_key_value_heads=recipe.kv_heads,
            head_dim=32,
            intermediate_size=recipe.intermediate,
            tie_word_embeddings=True,
            max_position_embeddings=2048,
            initializer_range=recipe.init,
            rope_parameters={"rope_type": "default", "rope_theta": recipe.rope_theta},
            bos_token_id=None,
            eos_token_id=eos_id,
            pad_token_id=pad_id,
            attn_implementation="sdpa",
        )
    )


def new_optimizers(recipe: Recipe, model: Qwen3ForCausalLM) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for embeddings and norms (or for all)."""
    named = list(model.named_parameters())
    matrices = [p for name, p in named if p.ndim == 2 and "embed" not in name] if recipe.muon_share else []
    others = [p for _, p in named if not any(p is matrix for matrix in matrices)]
    decay = recipe.weight_decay
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(
            [{"params": others, "share": 1.0}], lr=recipe.lr, betas=(0.9, 0.95), weight_decay=decay, fused=True
        )
    ]
    if matrices:
        group = {"params": matrices, "share": recipe.muon_share}
        optimizers.append(
            torch.optim.Muon([group], lr=recipe.lr, momentum=0.95, weight_decay=decay, adjust_lr_fn="match_rms_adamw")
        )
    return optimizers


def rate(recipe: Recipe, step: int, done: float) -> float:
    """Warm-up, flat, then a cosine down to a twentieth over the last `decay_share` of the tokens."""
    left = min(1.0, (1.0 - done) / recipe.decay_share)
    return recipe.lr * min(1.0, (step + 1) / recipe.warmup_steps) * (0.05 + 0.95 * 0.5 * (1 - math.cos(math.pi * left)))


def forward(model: Qwen3ForCausalLM, batch: Sequence[Lesson], *, bf16: bool) -> tuple[Tensor, Tensor]:
    """Logits and ids of the target tokens only. Padding is on the right, so the causal mask alone is enough."""
    ids_BT, predicts_BT = tensors(batch)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        hidden_BTH = model.model(input_ids=ids_BT, use_cache=False).last_hidden_state
        logits_NV = model.lm_head(hidden_BTH[predicts_BT])
    labels_N = ids_BT.roll(-1, dims=1)[predicts_BT]
    return logits_NV.float(), labels_N


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    tokens: float
    digits: float
    whole: float  # share of lessons with every target token right


@torch.no_grad()
def accuracy(model: Qwen3ForCausalLM, lessons: Sequence[Lesson], digit_ids: Tensor) -> Accuracy:
    right = total = digits_right = digits = whole = 0
    for start in range(0, len(lessons), 16):
        batch = lessons[start : start + 16]
        logits_NV, labels_N = forward(model, batch, bf16=False)
        hit_N = logits_NV.argmax(-1) == labels_N
        is_digit_N = torch.isin(labels_N, digit_ids)
        right, total = right + int(hit_N.sum()), total + len(hit_N)
        digits_right, digits = digits_right + int((hit_N & is_digit_N).sum()), digits + int(is_digit_N.sum())
        for hits in hit_N.split([sum(lesson.target[1:]) for lesson in batch]):
            whole += bool(hits.all())
    return Accuracy(tokens=right / total, digits=digits_right / max(1, digits), whole=whole / len(lessons))
