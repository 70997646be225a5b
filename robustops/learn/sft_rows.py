"""Demonstrations of one optimiser step in, micro-batches of tensors out: padded rows, or packed ones without padding.

Shapes: N rows, T tokens of the longest row; one packed row holds several demonstrations, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from robustops.learn.micro_batch import split_by_tokens
from robustops.learn.shared_prefix import Layout, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedTokens:
    """One demonstration: `weights` are zero outside supervised tokens and add up to 1."""

    source: str
    token_ids: tuple[int, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """`layout`: how a packed row is cut; None for rows of their own."""

    ids_NT: Tensor
    weight_NT: Tensor
    layout: Layout | None = None


def padded_rows(batch: Sequence[WeightedTokens], max_tokens: int, *, pad_id: int) -> Iterator[Rows]:
    """Similar lengths together, rows x longest row <= max_tokens."""
    for indices in split_by_tokens([len(sample.token_ids) for sample in batch], max_tokens):
        rows = [batch[index] for index in indices]
        yield Rows(
            ids_NT=pad_sequence([torch.tensor(row.token_ids) for row in rows], True, pad_id),
            weight_NT=pad_sequence([torch.tensor(row.weights) for row in rows], True, 0.0),
        )


def packed_rows(batch: Sequence[WeightedTokens], max_tokens: int) -> Iterator[Rows]:
    """One row each, filled in order up to `max_tokens`; a longer demonstration stands alone."""
    for indices in pack_by_tokens([len(sample.token_ids) for sample in batch], max_tokens):
        rows = [batch[index] for index in indices]
        segments = tuple(Segment(num_prefix=0, num_member=(len(row.token_ids),)) for row in rows)
        yield Rows(
            ids_NT=torch.tensor([[token for row in rows for token in row.token_ids]]),
            weight_NT=torch.tensor([[weight for row in rows for weight in row.weights]]),
            layout=Layout(segments=segments),
        )


def empty_rows(pad_id: int, *, is_packed: bool) -> Rows:
    """Nothing to train on: what a rank computes while others still have demonstrations."""
    ids_NT = torch.full((1, 2), pad_id)
    layout = Layout(segments=(Segment(num_prefix=0, num_member=(2,)),)) if is_packed else None
    return Rows(ids_NT=ids_NT, weight_NT=torch.zeros(1, 2), layout=layout)


def pack_by_tokens(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Indices per row, in order, the sum of whose lengths is at most `max_tokens`."""
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    parts: list[list[int]] = []
    room = 0
    for index, length in enumerate(lengths):
        if length > room or not parts:
            parts.append([])
            room = max_tokens
        parts[-1].append(index)
        room -= length
    return parts
