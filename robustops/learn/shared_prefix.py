"""Continuations of one start computed with their common prefix only once: row lengths in, positions and attention out.

A packed row holds, for each segment, the prefix and then its members one after the other. Every layer but attention
looks at tokens one by one, so only attention must know: a member sees the prefix and itself, never another member.
Knows no loss. Shapes: T packed tokens, H heads, D head dimension; P prefix and R member tokens of one segment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PreTrainedModel

ATTENTION = "robustops_shared_prefix"
FLASH_ATTENTION = "flash_attention_2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """`num_prefix` tokens (perhaps none), then members of `num_member` tokens each."""

    num_prefix: int
    num_member: tuple[int, ...]

    @property
    def num_tokens(self) -> int:
        return self.num_prefix + sum(self.num_member)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How one packed row is cut into segments."""

    segments: tuple[Segment, ...]

    def positions(self) -> Tensor:
        """Each token's position in the row that it comes from, T."""
        parts = []
        for segment in self.segments:
            parts.append(torch.arange(segment.num_prefix))
            parts += [torch.arange(number) + segment.num_prefix for number in segment.num_member]
        return torch.cat(parts)


def share_prefixes(model: PreTrainedModel) -> bool:
    """Make `model` accept a `layout`, and say whether it can: plain scaled-dot-product attention in every layer."""
    if model.config._attn_implementation not in ("sdpa", ATTENTION) or not _sees_everything(model):
        return False
    model.set_attn_implementation(ATTENTION)
    return bool(model.config._attn_implementation == ATTENTION)


def keep_apart(model: PreTrainedModel) -> bool:
    """Make `model` accept a `layout` without prefixes, and say whether it can.

    FlashAttention can without our attention: transformers has it begin a text anew wherever the positions do.
    """
    return share_prefixes(model) or (model.config._attn_implementation == FLASH_ATTENTION and _sees_everything(model))


def _sees_everything(model: PreTrainedModel) -> bool:
    return set(getattr(model.config, "layer_types", None) or ["full_attention"]) == {"full_attention"}


def layout_arguments(model: PreTrainedModel, layout: Layout, device: torch.device) -> dict[str, Any]:
    """What the decoder must be given for one packed row. Raises ValueError where its attention would mix the parts."""
    found: dict[str, Any] = {"position_ids": layout.positions()[None].to(device)}
    attention = model.config._attn_implementation
    if attention == ATTENTION:
        return found | {"layout": layout, "masks": {}}
    if attention != FLASH_ATTENTION or any(segment.num_prefix for segment in layout.segments):
        raise ValueError(f"{attention} attention cannot keep the parts of {layout} apart")
    return found


def _attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    dropout: float = 0.0,
    layout: Layout | None = None,
    masks: dict[tuple[int, int], Tensor] | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """The signature is that of transformers' attention functions: (1, H, T, D) in, (1, T, H, D) out.

    Without a layout every row is plain causal text, with padding at its end at most. `masks` are those made so far in
    this pass, by the lengths of what looks and of what is seen: all layers share them.
    """
    repeats = query.shape[1] // key.shape[1]
    if repeats > 1:
        key, value = key.repeat_interleave(repeats, dim=1), value.repeat_interleave(repeats, dim=1)
    if layout is None:
        found = scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, scale=scaling)
        return found.transpose(1, 2).contiguous(), None
    attend = partial(_attend, masks={} if masks is None else masks, scaling=scaling, dropout=dropout)
    lengths = [number for segment in layout.segments for number in (segment.num_prefix, *segment.num_member)]
    # split, not slices: the gradient of a slice is a tensor of the whole row, the gradient of a split is made once
    pieces = zip(*(torch.split(tensor, lengths, dim=2) for tensor in (query, key, value)), strict=True)
    parts = []
    for segment in layout.segments:
        shared = next(pieces)
        if segment.num_prefix:
            parts.append(attend(*shared, prefix=None))
        seen = shared[1:] if segment.num_prefix else None
        parts += [attend(*next(pieces), prefix=seen) for number in segment.num_member]
    return torch.cat(parts, dim=2).transpose(1, 2).contiguous(), None


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    prefix: Sequence[Tensor] | None,
    masks: dict[tuple[int, int], Tensor],
    scaling: float | None,
    dropout: float,
) -> Tensor:
    """Causal attention of one part over itself, and over all keys and values of `prefix`."""
    if prefix is None:
        return scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, scale=scaling)
    key, value = torch.cat([prefix[0], key], dim=2), torch.cat([prefix[1], value], dim=2)
    num_own, num_seen = query.shape[2], key.shape[2]
    if (num_own, num_seen) not in masks:
        masks[num_own, num_seen] = _mask(num_own, num_seen, query)
    mask = masks[num_own, num_seen]
    return scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout, scale=scaling)


def _mask(num_own: int, num_seen: int, query: Tensor) -> Tensor:
    """What is added to scores, in the type that attention computes in, so that it is not converted again and again."""
    if query.is_cuda:
        return causal_lower_right(num_own, num_seen)  # known to the kernels, so that no mask of own x seen is made
    device = query.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else query.dtype
    return torch.full((num_own, num_seen), -math.inf, dtype=dtype).triu_(num_seen - num_own + 1)


AttentionInterface.register(ATTENTION, _attention)
