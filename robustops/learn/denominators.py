"""Per-flow token counts of one optimiser step in, the weight of every token out. Fixed before backward.

Source: docs/algorithms.md. N_f counts the trainable tokens of flow f (sampled, not inherited, not observed, not
padding) over all micro-batches and ranks of the step; zero-advantage tokens count.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from robustops.rollout.groups import Flow

FLOWS: tuple[Flow, ...] = ("clean", "fault")  # a flow's index is its position here
FLOW_SHARE = 0.5
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTokens:
    """Trainable tokens per flow, in the order of FLOWS."""

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(FLOWS) or min(self.counts) < 0:
            raise ValueError(f"expected a count for each of {FLOWS}, got {self.counts}")

    def over_ranks(self, device: torch.device | str = "cpu") -> FlowTokens:
        """The sum over all ranks; itself where no process group runs. Every rank must call it, empty ones too."""
        if not (dist.is_available() and dist.is_initialized()):
            return self
        counts_F = torch.tensor(self.counts, dtype=torch.int64, device=device)
        dist.all_reduce(counts_F)
        return FlowTokens(counts=tuple(counts_F.tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenWeights:
    """`weight_of[f]`: share of flow f / N_f, times the number of ranks whose gradients are averaged."""

    weight_of: tuple[float, ...]


def token_weights(tokens: FlowTokens, *, num_averaged_ranks: int = 1) -> TokenWeights:
    """Weights that make the sum over all micro-batches (and the mean over ranks) the loss of the whole step.

    An empty flow gives its share to the other, with a warning. `num_averaged_ranks`: DDP and FSDP divide gradients by
    the world size, which must be undone here; 1 where gradients are summed or there is one process.
    Raises ValueError when no flow has a token.
    """
    present = [count > 0 for count in tokens.counts]
    if not any(present):
        raise ValueError(f"no trainable token in any of {FLOWS}: nothing to train on in this step")
    share = FLOW_SHARE
    if not all(present):
        share = 1.0
        empty = [name for name, ok in zip(FLOWS, present, strict=True) if not ok]
        log.warning("flow %s has no trainable token in this step; the other flow takes its weight", ", ".join(empty))
    weights = (share * num_averaged_ranks / count if count else 0.0 for count in tokens.counts)
    return TokenWeights(weight_of=tuple(weights))


def count_tokens(num_trained: Sequence[int], flows: Sequence[int]) -> FlowTokens:
    """Add up the trained tokens of trajectories by their flow index."""
    counts = [0] * len(FLOWS)
    for number, flow in zip(num_trained, flows, strict=True):
        counts[flow] += number
    return FlowTokens(counts=tuple(counts))
