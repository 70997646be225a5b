"""A model small enough to check by hand, and random trajectories for it."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from robustops.learn.denominators import TokenWeights
from robustops.learn.loss import LossTokens, PolicyLoss, policy_loss
from robustops.learn.micro_batch import MicroBatch, micro_batch
from robustops.learn.trajectory import Trajectory

VOCAB = 11


class ToyModel(nn.Module):
    """Logits at t depend on all tokens up to t through a running mean, as a causal model's do."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embed = nn.Embedding(VOCAB, 6, dtype=torch.float64)
        self.head = nn.Linear(6, VOCAB, dtype=torch.float64)

    def forward(self, ids_NT: Tensor) -> Tensor:
        steps_T = torch.arange(1, ids_NT.shape[1] + 1, dtype=torch.float64)
        state_NTH = self.embed(ids_NT).cumsum(1) / steps_T[:, None]
        return self.head(torch.tanh(state_NTH))


def logprobs(logits_NTV: Tensor, ids_NT: Tensor) -> Tensor:
    """logp_NT of each token given those before it; zero for the first."""
    shifted_NT = logits_NTV[:, :-1].log_softmax(-1).gather(-1, ids_NT[:, 1:, None]).squeeze(-1)
    return torch.cat([torch.zeros_like(shifted_NT[:, :1]), shifted_NT], dim=1)


def random_trajectories(num_rows: int, seed: int = 0, flows: Sequence[int] = (0, 1)) -> list[Trajectory]:
    rng = random.Random(seed)
    rows = []
    for number in range(num_rows):
        length = rng.randint(4, 12)
        trained_T = torch.tensor([False, *(rng.random() < 0.6 for _ in range(length - 2)), True])
        noise_T = torch.tensor([rng.uniform(-3, -0.5) for _ in range(length)])
        advantage_T = torch.tensor([rng.uniform(-2, 2) for _ in range(length)])
        rows.append(
            Trajectory(
                case_id=f"case {number}",
                group_id=f"group {number // 4}",
                flow=flows[number % len(flows)],
                token_ids_T=torch.tensor([rng.randrange(VOCAB) for _ in range(length)]),
                is_trained_T=trained_T,
                logp_rollout_T=noise_T * trained_T,
                advantage_T=advantage_T * trained_T,
            )
        )
    return rows


def loss_tokens(logits_NTV: Tensor, batch: MicroBatch) -> LossTokens:
    """Old logprobs 0.1 above, reference 0.2 below the rollout's: any fixed numbers do."""
    rollout_T = batch.logp_rollout_NT.flatten().double()
    return LossTokens(
        logp_T=logprobs(logits_NTV, batch.token_ids_NT).flatten(),
        logp_old_T=rollout_T + 0.1,
        logp_rollout_T=rollout_T,
        logp_ref_T=rollout_T - 0.2,
        advantage_T=batch.advantage_NT.flatten(),
        is_trained_T=batch.is_trained_NT.flatten(),
        flow_T=batch.flow_NT.flatten(),
    )


def backward(
    model: nn.Module, rows: Sequence[Trajectory], parts: Sequence[Sequence[int]], weights: TokenWeights
) -> float:
    """Accumulate the gradient of the step's loss over the given micro-batches; returns the loss."""
    total = 0.0
    for part in parts:
        batch = micro_batch(rows, part, pad_id=0)
        loss = policy_loss(loss_tokens(model(batch.token_ids_NT), batch), weights, PolicyLoss()).loss
        loss.backward()
        total += loss.item()
    return total


def gradient(model: nn.Module) -> Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
