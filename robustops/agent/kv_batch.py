"""The keys and values of all running rows as one left-padded batch. Rows come and go between decoding steps.

Shapes: N rows, H key-value heads, T cached tokens of the longest row, D head size. Knows no model and no sampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import DynamicCache


class KvBatch:
    """`cache` is what a transformers model extends by one token per row; `lengths` counts each row's own tokens."""

    def __init__(self) -> None:
        self.cache = DynamicCache()
        self.lengths: list[int] = []

    @property
    def width(self) -> int:
        return max(self.lengths, default=0)

    def append(self, cache: DynamicCache, length: int, copies: int) -> None:
        """Add `copies` equal rows of `length` tokens from a cache of one row without padding."""
        width = max(self.width, length)
        if not self.lengths:
            self.cache = DynamicCache()
        for number, layer in enumerate(_layers(cache)):
            keys, values = (_widened(tensor.expand(copies, -1, -1, -1), width) for tensor in (layer.keys, layer.values))
            if self.lengths:
                old = _layers(self.cache)[number]
                old.keys = torch.cat([_widened(old.keys, width), keys])
                old.values = torch.cat([_widened(old.values, width), values])
            else:
                self.cache.update(keys, values, number)
        self.lengths += [length] * copies

    def keep(self, rows: Sequence[int]) -> None:
        """Drop all other rows, and the padding that no row that is left needs."""
        if len(rows) == len(self.lengths):
            return
        surplus = self.width - max((self.lengths[row] for row in rows), default=0)
        for layer in _layers(self.cache) if rows else ():
            index = torch.tensor(rows, device=layer.keys.device)
            layer.keys = layer.keys[index, :, surplus:]
            layer.values = layer.values[index, :, surplus:]
        self.lengths = [self.lengths[row] for row in rows]
        if not rows:
            self.cache = DynamicCache()

    def grown(self) -> None:
        """The model has put one more token into every row."""
        self.lengths = [length + 1 for length in self.lengths]

    def mask_with_next(self, device: torch.device) -> Tensor:
        """1 on each row's own tokens and on the one that comes next, 0 on padding. Shape (N, T + 1)."""
        padding_N = torch.tensor([self.width - length for length in self.lengths], device=device)
        return (torch.arange(self.width + 1, device=device) >= padding_N[:, None]).long()


def _layers(cache: DynamicCache) -> list[Any]:
    return cache.layers  # untyped: the library allows layers without keys, which causal attention never has


def _widened(tensor_NHTD: Tensor, width: int) -> Tensor:
    return pad(tensor_NHTD, (0, 0, width - tensor_NHTD.shape[2], 0))
