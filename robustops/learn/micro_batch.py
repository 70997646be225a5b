"""Trajectories in, padded micro-batches under a token budget out. How a step is split changes no gradient.

Shapes: N rows of one micro-batch, T its longest row; padding sits at the end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from robustops.learn.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    """`index_N`: each row's place in the list that was split, for logprobs that are kept beside it."""

    token_ids_NT: Tensor
    is_token_NT: Tensor
    is_trained_NT: Tensor
    logp_rollout_NT: Tensor
    advantage_NT: Tensor
    flow_N: Tensor
    index_N: Tensor

    @property
    def flow_NT(self) -> Tensor:
        return self.flow_N[:, None].expand_as(self.token_ids_NT)


def split_by_tokens(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Indices per micro-batch: similar lengths together, rows x longest row <= max_tokens, longest first.

    A row longer than the budget stands alone. Equal lengths keep their order, so the split is reproducible.
    """
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    parts: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if parts and lengths[parts[-1][0]] * (len(parts[-1]) + 1) <= max_tokens:
            parts[-1].append(index)
        else:
            parts.append([index])
    return parts


def micro_batch(trajectories: Sequence[Trajectory], indices: Sequence[int], *, pad_id: int) -> MicroBatch:
    rows = [trajectories[index] for index in indices]

    def padded(tensors: Sequence[Tensor], value: float = 0) -> Tensor:
        return pad_sequence(list(tensors), batch_first=True, padding_value=value)

    return MicroBatch(
        token_ids_NT=padded([row.token_ids_T for row in rows], pad_id),
        is_token_NT=padded([torch.ones(row.num_tokens, dtype=torch.bool) for row in rows]),
        is_trained_NT=padded([row.is_trained_T for row in rows]),
        logp_rollout_NT=padded([row.logp_rollout_T for row in rows]),
        advantage_NT=padded([row.advantage_T for row in rows]),
        flow_N=torch.tensor([row.flow for row in rows]),
        index_N=torch.tensor(list(indices)),
    )


def micro_batches(trajectories: Sequence[Trajectory], *, max_tokens: int, pad_id: int) -> list[MicroBatch]:
    """All trajectories, each once."""
    parts = split_by_tokens([row.num_tokens for row in trajectories], max_tokens)
    return [micro_batch(trajectories, part, pad_id=pad_id) for part in parts]


def minibatches(trajectories: Sequence[Trajectory], num_minibatches: int, rng: random.Random) -> list[list[Trajectory]]:
    """Split a step's trajectories into optimiser steps that share each flow evenly, to within one trajectory."""
    if num_minibatches < 1:
        raise ValueError(f"num_minibatches must be at least 1, got {num_minibatches}")
    parts: list[list[Trajectory]] = [[] for _ in range(num_minibatches)]
    for flow in sorted({row.flow for row in trajectories}):
        members = [row for row in trajectories if row.flow == flow]
        rng.shuffle(members)
        for number, row in enumerate(members):
            parts[number % num_minibatches].append(row)
    return [part for part in parts if part]
