"""Trajectories in, micro-batches under a token budget out, padded or packed. How a step is split changes no gradient.

Padded: a row per trajectory, padding at the end. Packed: one row in all, in which the members of a group share their
common prefix (`learn.shared_prefix`). Shapes: N rows of one micro-batch, T its longest row.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from robustops.learn.shared_prefix import Layout, Segment
from robustops.learn.trajectory import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatch:
    """`indices`: each trajectory's place in the list that was split, in the order in which its trained tokens stand
    here; `num_trained`: how many they are. `layout`: of the one row, where prefixes are shared."""

    token_ids_NT: Tensor
    is_trained_NT: Tensor
    logp_rollout_NT: Tensor
    advantage_NT: Tensor
    flow_NT: Tensor
    indices: tuple[int, ...]
    num_trained: tuple[int, ...]
    layout: Layout | None = None

    def to(self, device: torch.device) -> MicroBatch:
        tensors = {f.name: getattr(self, f.name) for f in fields(self) if f.name.endswith("_NT")}
        return replace(self, **{name: tensor.to(device) for name, tensor in tensors.items()})


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
    longest = max(row.num_tokens for row in rows)

    def padded(tensors: Sequence[Tensor], value: float = 0) -> Tensor:
        return pad_sequence(list(tensors), batch_first=True, padding_value=value)

    return MicroBatch(
        token_ids_NT=padded([row.token_ids_T for row in rows], pad_id),
        is_trained_NT=padded([row.is_trained_T for row in rows]),
        logp_rollout_NT=padded([row.logp_rollout_T for row in rows]),
        advantage_NT=padded([row.advantage_T for row in rows]),
        flow_NT=torch.tensor([row.flow for row in rows])[:, None].expand(-1, longest),
        indices=tuple(indices),
        num_trained=tuple(row.num_trained for row in rows),
    )


def micro_batches(trajectories: Sequence[Trajectory], *, max_tokens: int, pad_id: int) -> list[MicroBatch]:
    """All trajectories, each once."""
    parts = split_by_tokens([row.num_tokens for row in trajectories], max_tokens)
    return [micro_batch(trajectories, part, pad_id=pad_id) for part in parts]


def empty_micro_batch(pad_id: int) -> MicroBatch:
    """Nothing to train on: what a rank computes while others still have trajectories."""
    token_ids_NT = torch.full((1, 2), pad_id)
    nothing_NT = torch.zeros_like(token_ids_NT)
    return MicroBatch(
        token_ids_NT=token_ids_NT,
        is_trained_NT=nothing_NT.bool(),
        logp_rollout_NT=nothing_NT.float(),
        advantage_NT=nothing_NT.float(),
        flow_NT=nothing_NT,
        indices=(),
        num_trained=(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Trajectories of one group, by their place in the list, and how many opening tokens they share."""

    num_prefix: int
    indices: tuple[int, ...]

    def segment(self, trajectories: Sequence[Trajectory]) -> Segment:
        members = tuple(trajectories[index].num_tokens - self.num_prefix for index in self.indices)
        return Segment(num_prefix=self.num_prefix, num_member=members)


def families(trajectories: Sequence[Trajectory], max_tokens: int) -> list[Family]:
    """The members of each group together, as many as fit `max_tokens` with their prefix; one alone may be longer.

    The token before a member's first trained one is its own and not the prefix's: its hidden state makes a prediction.
    A member alone shares nothing.
    """
    groups: dict[str, list[int]] = {}
    for index, row in enumerate(trajectories):
        groups.setdefault(row.group_id, []).append(index)
    found = []
    for members in groups.values():
        num_prefix = _num_shared([trajectories[index] for index in members])
        part: list[int] = []
        for index in members:
            own = [trajectories[i].num_tokens - num_prefix for i in (*part, index)]
            if part and num_prefix + sum(own) > max_tokens:
                found.append(_family(num_prefix, part))
                part = []
            part.append(index)
        found.append(_family(num_prefix, part))
    return found


def _family(num_prefix: int, members: Sequence[int]) -> Family:
    return Family(num_prefix=num_prefix if len(members) > 1 else 0, indices=tuple(members))


def _num_shared(rows: Sequence[Trajectory]) -> int:
    """Opening tokens that are equal in all rows and make no prediction that is trained on."""
    limit = min(int(row.is_trained_T.int().argmax()) for row in rows) - 1
    first = rows[0].token_ids_T[:limit]
    for row in rows[1:]:
        different = (row.token_ids_T[: len(first)] != first).nonzero()
        first = first[: int(different[0])] if len(different) else first
    return len(first)


def packed_micro_batches(trajectories: Sequence[Trajectory], *, max_tokens: int) -> list[MicroBatch]:
    """All trajectories, each once, in packed rows of at most `max_tokens`; a longer family stands alone."""
    if max_tokens < 1:
        raise ValueError(f"max_tokens must be at least 1, got {max_tokens}")
    parts: list[list[Family]] = []
    used = 0
    for family in families(trajectories, max_tokens):
        num_tokens = family.segment(trajectories).num_tokens
        if parts and used + num_tokens <= max_tokens:
            parts[-1].append(family)
            used += num_tokens
        else:
            parts.append([family])
            used = num_tokens
    return [_packed(trajectories, part) for part in parts]


def _packed(trajectories: Sequence[Trajectory], part: Sequence[Family]) -> MicroBatch:
    pieces: list[tuple[Trajectory, slice]] = []
    for family in part:
        if family.num_prefix:
            pieces.append((trajectories[family.indices[0]], slice(0, family.num_prefix)))
        pieces += [(trajectories[index], slice(family.num_prefix, None)) for index in family.indices]
    indices = tuple(index for family in part for index in family.indices)

    def row_of(name: str) -> Tensor:
        return torch.cat([getattr(row, name)[cut] for row, cut in pieces])[None]

    return MicroBatch(
        token_ids_NT=row_of("token_ids_T"),
        is_trained_NT=row_of("is_trained_T"),
        logp_rollout_NT=row_of("logp_rollout_T"),
        advantage_NT=row_of("advantage_T"),
        flow_NT=torch.cat([torch.full_like(row.token_ids_T[cut], row.flow) for row, cut in pieces])[None],
        indices=indices,
        num_trained=tuple(trajectories[index].num_trained for index in indices),
        layout=Layout(segments=tuple(family.segment(trajectories) for family in part)),
    )


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
