"""SFT weights and denominators: algorithms.md, section 7."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from robustops.learn.supervision import UNSUPERVISED, steps_per_epoch, supervised_loss, supervision_weights


def test_token_weighs_one_over_decisions_times_tokens_of_its_decision() -> None:
    """Two decisions, of three tokens and of one: 1/6 each and 1/2."""
    weights = supervision_weights([-1, 0, 0, 0, -1, 7, -1], row_id="r")
    assert weights.tolist() == pytest.approx([0, 1 / 6, 1 / 6, 1 / 6, 0, 1 / 2, 0])


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=40).filter(lambda ids: max(ids) > UNSUPERVISED))
def test_every_trajectory_and_every_decision_in_it_weigh_the_same(decisions: list[int]) -> None:
    weights = supervision_weights(decisions, row_id="r")
    valid = {index for index in decisions if index != UNSUPERVISED}
    for index in valid:
        share = sum(w for w, d in zip(weights.tolist(), decisions, strict=True) if d == index)
        assert share == pytest.approx(1 / len(valid))
    assert float(weights.sum()) == pytest.approx(1.0)


def test_trajectory_without_a_valid_decision_is_rejected_by_id() -> None:
    with pytest.raises(ValueError, match="row-17: no supervised decision"):
        supervision_weights([-1, -1], row_id="row-17")


def test_loss_divides_by_the_trajectories_actually_in_the_step() -> None:
    """Three rows in a last batch of a step meant for eight: the mean over three, however they are split."""
    logp = [torch.tensor([-1.0, -3.0]), torch.tensor([-2.0]), torch.tensor([-5.0, -5.0])]
    weights = [supervision_weights(decisions, row_id="r") for decisions in ([0, 0], [0], [0, 1])]
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
