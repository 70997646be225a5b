"""The policy loss: against loops in plain Python, by hand, and unchanged by how a step is split."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from toy import ToyModel, backward, gradient, logprobs, loss_tokens, random_trajectories

from robustops.learn.denominators import FlowTokens, TokenWeights, count_tokens, token_weights
from robustops.learn.loss import LossSums, LossTokens, PolicyLoss, policy_loss
from robustops.learn.micro_batch import micro_batch

ONE = TokenWeights(weight_of=(1.0, 1.0))


def tokens(*rows: tuple[float, float, float, float, float, bool, int]) -> LossTokens:
    """Rows of (logp, logp_old, logp_rollout, logp_ref, advantage, trained, flow)."""
    logp, old, rollout, ref, advantage, trained, flow = (torch.tensor(x) for x in zip(*rows, strict=True))
    return LossTokens(
        logp_T=logp.double().requires_grad_(),
        logp_old_T=old.double(),
        logp_rollout_T=rollout.double(),
        logp_ref_T=ref.double(),
        advantage_T=advantage.double(),
        is_trained_T=trained.bool(),
        flow_T=flow,
    )


def one(
    logp: float = -1.0, *, old: float = -1.0, rollout: float = -1.0, ref: float = -1.0, advantage: float = 1.0
) -> LossTokens:
    return tokens((logp, old, rollout, ref, advantage, True, 0))


def value_of(batch: LossTokens, settings: PolicyLoss | None = None) -> float:
    return policy_loss(batch, ONE, settings or PolicyLoss()).loss.item()


def slope_of(batch: LossTokens, settings: PolicyLoss | None = None) -> float:
    (slope,) = torch.autograd.grad(policy_loss(batch, ONE, settings or PolicyLoss()).loss, batch.logp_T)
    return slope.item()


def by_loops(batch: LossTokens, weights: TokenWeights, settings: PolicyLoss) -> tuple[float, list[float]]:
    """Section 5 one token at a time: the loss and its derivative by hand for each logprob."""
    total, slopes = 0.0, []
    columns = (batch.logp_T, batch.logp_old_T, batch.logp_rollout_T, batch.logp_ref_T, batch.advantage_T)
    for i, (logp, old, rollout, ref, adv) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        if not batch.is_trained_T[i]:
            slopes.append(0.0)
            continue
        r = math.exp(logp - old)
        w = 1.0 if settings.tis_cap is None else min(math.exp(old - rollout), settings.tis_cap)
        clipped = min(max(r, 1 - settings.clip_low), 1 + settings.clip_high)
        d = max(-20.0, min(20.0, ref - logp))
        share = weights.weight_of[int(batch.flow_T[i])]
        total += share * (-min(r * adv, clipped * adv) * w + settings.kl_coef * (math.exp(d) - d - 1))
        policy_slope = -r * adv * w if r * adv <= clipped * adv else 0.0
        kl_slope = 1 - math.exp(d) if abs(ref - logp) < 20 else 0.0
        slopes.append(share * (policy_slope + settings.kl_coef * kl_slope))
    return total, slopes


nats = st.floats(-4, 0).map(lambda x: round(x, 3))
rows_st = st.tuples(
    nats, nats, nats, nats, st.floats(-3, 3).map(lambda x: round(x, 3)), st.booleans(), st.integers(0, 1)
)


@given(st.lists(rows_st, min_size=1, max_size=20), st.sampled_from([None, 0.5, 2.0]))
def test_vectorised_loss_and_gradient_equal_plain_loops(rows: list, tis_cap: float | None) -> None:
    batch = tokens(*rows)
    weights = TokenWeights(weight_of=(0.25, 0.125))
    settings = PolicyLoss(tis_cap=tis_cap, kl_coef=0.05)
    loss = policy_loss(batch, weights, settings).loss
    (found,) = torch.autograd.grad(loss, batch.logp_T)
    expected, slopes = by_loops(batch, weights, settings)
    assert loss.item() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # at exactly r = 1 - 0.2 or 1 + 0.28 the one-sided derivatives differ; rounded logprobs never meet those values
    assert found.tolist() == pytest.approx(slopes, rel=1e-9, abs=1e-9)


def test_clip_bounds_are_a_fifth_below_and_28_percent_above() -> None:
    up, down = math.log(1.5), math.log(0.5)
    no_kl = PolicyLoss(kl_coef=0.0)
    assert value_of(one(-1 + up, advantage=1.0), no_kl) == pytest.approx(-1.28)
    assert value_of(one(-1 + down, advantage=-1.0), no_kl) == pytest.approx(0.8)
    assert slope_of(one(-1 + up, advantage=1.0), no_kl) == 0
    assert slope_of(one(-1 + down, advantage=-1.0), no_kl) == 0


def test_clip_never_hides_a_correction() -> None:
    """min(): a ratio that moved the wrong way keeps its gradient."""
    no_kl = PolicyLoss(kl_coef=0.0)
    assert slope_of(one(-1 + math.log(0.5), advantage=1.0), no_kl) == pytest.approx(-0.5)
    assert slope_of(one(-1 + math.log(1.5), advantage=-1.0), no_kl) == pytest.approx(1.5)


def test_kl_is_the_k3_estimate_towards_the_reference() -> None:
    only_kl = one(-1.0, ref=-1.5, advantage=0.0)
    assert value_of(only_kl, PolicyLoss(kl_coef=1.0)) == pytest.approx(math.exp(-0.5) + 0.5 - 1)
    assert slope_of(only_kl, PolicyLoss(kl_coef=1.0)) == pytest.approx(1 - math.exp(-0.5))


def test_kl_difference_is_clamped_at_twenty_nats() -> None:
    assert value_of(
        one(-40.0, old=-40.0, rollout=-40.0, ref=-1.0, advantage=0.0), PolicyLoss(kl_coef=1.0)
    ) == pytest.approx(math.exp(20) - 21)


def test_importance_weight_is_capped_and_acts_on_the_policy_term_alone() -> None:
    batch = one(-1.0, old=-1.0, rollout=-3.0, ref=-1.5)
    kl = math.exp(-0.5) + 0.5 - 1
    assert value_of(batch, PolicyLoss(kl_coef=1.0)) == pytest.approx(-2.0 + kl)
    assert value_of(batch, PolicyLoss(kl_coef=1.0, tis_cap=None)) == pytest.approx(-1.0 + kl)
    below = one(-1.0, old=-1.0, rollout=-0.5)
    assert value_of(below) == pytest.approx(-math.exp(-0.5))


def test_importance_weight_carries_no_gradient() -> None:
    """logp_old is logp itself on the first pass; the slope must stay -w, not gain w' * r * A."""
    logp = torch.tensor([-1.0], dtype=torch.float64, requires_grad=True)
    batch = replace(one(rollout=-1.5), logp_T=logp, logp_old_T=logp)
    (slope,) = torch.autograd.grad(policy_loss(batch, ONE, PolicyLoss(kl_coef=0.0)).loss, logp, allow_unused=True)
    assert slope.item() == pytest.approx(0.0)  # r is 1 whatever logp is, and w is detached


def test_each_flow_weighs_half_whatever_its_number_of_tokens() -> None:
    weights = token_weights(FlowTokens(counts=(30, 10)))
    assert weights.weight_of == pytest.approx((0.5 / 30, 0.5 / 10))


def test_empty_flow_gives_its_weight_to_the_other_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert token_weights(FlowTokens(counts=(30, 0))).weight_of == pytest.approx((1 / 30, 0.0))
    assert "fault" in caplog.text
    assert "no trainable token" in caplog.text


def test_step_without_tokens_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing to train on"):
        token_weights(FlowTokens(counts=(0, 0)))


def test_denominators_count_trained_tokens_only_and_zero_advantages_too() -> None:
    rows = random_trajectories(6)
    rows[0] = replace(rows[0], advantage_T=torch.zeros_like(rows[0].advantage_T))
    expected = [sum(int(row.is_trained_T.sum()) for row in rows if row.flow == flow) for flow in (0, 1)]
    assert count_tokens([row.num_trained for row in rows], [row.flow for row in rows]).counts == tuple(expected)
    assert sum(expected) < sum(row.num_tokens for row in rows)


@pytest.mark.parametrize("rows_per_part", [8, 4, 1])
def test_gradient_is_the_same_for_one_two_and_eight_micro_batches(rows_per_part: int) -> None:
    """1x8, 2x4 and 8x1, against the mean of the per-flow means taken in one go from unpadded rows."""
    rows = random_trajectories(8)
    weights = token_weights(count_tokens([row.num_trained for row in rows], [row.flow for row in rows]))
    model, reference = ToyModel(), ToyModel()
    parts = [list(range(start, start + rows_per_part)) for start in range(0, 8, rows_per_part)]
    backward(model, rows, parts, weights)

    losses: dict[int, list[torch.Tensor]] = {0: [], 1: []}
    for index, row in enumerate(rows):
        batch = micro_batch(rows, [index], pad_id=0)
        t = loss_tokens(reference(batch.token_ids_NT), batch)
        for i in torch.nonzero(row.is_trained_T).flatten().tolist():
            ratio = (t.logp_T[i] - t.logp_old_T[i]).exp()
            a = t.advantage_T[i].double()
            policy = -torch.minimum(ratio * a, ratio.clamp(0.8, 1.28) * a) * math.exp(0.1)
            d = t.logp_ref_T[i] - t.logp_T[i]
            losses[row.flow].append(policy + 0.001 * (d.exp() - d - 1))
    (0.5 * torch.stack(losses[0]).mean() + 0.5 * torch.stack(losses[1]).mean()).backward()
    torch.testing.assert_close(gradient(model), gradient(reference), rtol=1e-10, atol=1e-12)


def test_padding_and_order_change_no_gradient() -> None:
    rows = random_trajectories(8, seed=3)
    weights = token_weights(count_tokens([row.num_trained for row in rows], [row.flow for row in rows]))
    alone, mixed = ToyModel(), ToyModel()
    backward(alone, rows, [[i] for i in range(8)], weights)
    backward(mixed, rows, [[7, 0, 3], [1], [2, 6, 5, 4]], weights)
    torch.testing.assert_close(gradient(alone), gradient(mixed), rtol=1e-10, atol=1e-12)


def test_perturbing_the_logits_of_observations_changes_nothing() -> None:
    rows = random_trajectories(5, seed=1)
    batch = micro_batch(rows, range(5), pad_id=0)
    weights = TokenWeights(weight_of=(0.1, 0.2))
    logits_NTV = ToyModel()(batch.token_ids_NT).detach()
    predicts_sample_NT = torch.zeros_like(batch.is_trained_NT)
    predicts_sample_NT[:, :-1] = batch.is_trained_NT[:, 1:]
    noise_NTV = torch.randn(logits_NTV.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def loss_and_gradient(logits_NTV: torch.Tensor) -> tuple[float, torch.Tensor]:
        leaf_NTV = logits_NTV.clone().requires_grad_()
        loss = policy_loss(loss_tokens(leaf_NTV, batch), weights, PolicyLoss()).loss
        (slope_NTV,) = torch.autograd.grad(loss, leaf_NTV)
        return loss.item(), slope_NTV

    value, slope_NTV = loss_and_gradient(logits_NTV)
    others_NTV = torch.where(predicts_sample_NT[..., None], 0.0, noise_NTV)
    assert loss_and_gradient(logits_NTV + others_NTV)[0] == value
    assert torch.equal(loss_and_gradient(logits_NTV + others_NTV)[1], slope_NTV)
    assert slope_NTV[~predicts_sample_NT].abs().max() == 0
    assert loss_and_gradient(logits_NTV + noise_NTV)[0] != value  # the check itself can fail


def test_anything_may_stand_at_untrained_tokens() -> None:
    clean = tokens((-1.0, -1.2, -1.1, -1.3, 0.5, True, 0))
    dirty = tokens(
        (-1.0, -1.2, -1.1, -1.3, 0.5, True, 0), (math.nan, math.inf, -math.inf, math.nan, math.nan, False, 1)
    )
    assert value_of(dirty) == value_of(clean)
    (slope,) = torch.autograd.grad(policy_loss(dirty, ONE, PolicyLoss()).loss, dirty.logp_T)
    assert slope[1] == 0


def test_micro_batch_without_trained_tokens_adds_zero_and_can_go_backward() -> None:
    batch = tokens((-1.0, -1.0, -1.0, -1.0, 1.0, False, 0))
    part = policy_loss(batch, ONE, PolicyLoss())
    part.loss.backward()
    assert part.loss.item() == 0
    assert batch.logp_T.grad is not None
    assert part.sums == LossSums()


def test_metrics_are_shares_of_trained_tokens_and_add_up_over_parts() -> None:
    up, down = math.log(1.5), math.log(0.5)
    first = tokens(
        (-1 + up, -1.0, -1.0, -1.0 + up, 1.0, True, 0),  # clipped high
        (-1 + up, -1.0, -1.0, -1.0 + up, -1.0, True, 0),  # outside, but min() keeps its gradient
        (-1 + down, -1.0, -1.0, -1.0 + down, -1.0, True, 1),  # clipped low
        (-9.0, -1.0, -1.0, -1.0, 9.0, False, 1),
    )
    second = tokens((-1.0, -1.0, -2.0, -1.0, 1.0, True, 0))  # e > 2: capped
    sums = policy_loss(first, ONE, PolicyLoss()).sums.plus(policy_loss(second, ONE, PolicyLoss()).sums)
    assert sums.metrics() == pytest.approx(
        {
            "policy/clip_low_share": 0.25,
            "policy/clip_high_share": 0.25,
            "policy/kl_nats": 0.0,
            "policy/tis_share": 0.25,
            "policy/mismatch_mean_nats": 0.25,
            "policy/mismatch_max_nats": 1.0,
            "policy/trained_tokens": 4.0,
        }
    )


def test_toy_logprobs_are_those_of_the_token_at_its_own_place() -> None:
    logits = torch.zeros(1, 3, 11, dtype=torch.float64)
    logits[0, 0, 4] = 100.0
    assert logprobs(logits, torch.tensor([[1, 4, 2]]))[0].tolist() == pytest.approx([0.0, 0.0, -math.log(11)])
