"""The supervised loss and its denominator: docs/algorithms.md."""

from __future__ import annotations

import pytest
import torch

from robustops.learn.supervision import steps_per_epoch, supervised_loss


def test_loss_divides_by_the_trajectories_actually_in_the_step() -> None:
    """Three rows in a last batch of a step meant for eight: the mean over three, however they are split."""
    logp = [torch.tensor([-1.0, -3.0]), torch.tensor([-2.0]), torch.tensor([-5.0, -5.0])]
    weights = [torch.tensor([0.5, 0.5]), torch.tensor([1.0]), torch.tensor([0.5, 0.5])]
    parts = [supervised_loss(x, w, num_trajectories=3) for x, w in zip(logp, weights, strict=True)]
    whole = supervised_loss(torch.cat(logp), torch.cat(weights), num_trajectories=3)
    assert float(sum(parts)) == pytest.approx((2 + 2 + 5) / 3)
    assert float(whole) == pytest.approx((2 + 2 + 5) / 3)


def test_ranks_that_average_gradients_are_undone() -> None:
    logp, weights = torch.tensor([-1.0]), torch.tensor([1.0])
    two_ranks = [supervised_loss(logp * k, weights, num_trajectories=2, num_averaged_ranks=2) for k in (1, 3)]
    assert float(sum(two_ranks)) / 2 == pytest.approx(2.0)


def test_unsupervised_tokens_may_hold_anything() -> None:
    logp = torch.tensor([-1.0, float("nan")], requires_grad=True)
    loss = supervised_loss(logp, torch.tensor([1.0, 0.0]), num_trajectories=1)
    loss.backward()
    assert loss.item() == 1.0
    assert logp.grad is not None
    assert logp.grad.tolist() == [-1.0, 0.0]


def test_step_without_trajectories_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one trajectory"):
        supervised_loss(torch.tensor([-1.0]), torch.tensor([1.0]), num_trajectories=0)


def test_692_trajectories_are_87_steps_and_two_epochs_end_at_174() -> None:
    assert steps_per_epoch(692, 8) == 87
    assert 2 * steps_per_epoch(692, 8) == 174
    assert steps_per_epoch(16, 8) == 2
