"""Members of a group share the computation of their prefix: same numbers as one row each, at a fraction of the work."""

from __future__ import annotations

import random

import pytest
import torch
from bandit import PAD
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_qwen3 import VOCAB, tiny_model
from torch.utils.flop_counter import FlopCounterMode

from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.loss import PolicyLoss
from robustops.learn.micro_batch import families, micro_batches, packed_micro_batches
from robustops.learn.model import token_logprobs
from robustops.learn.shared_prefix import ATTENTION, share_prefixes
from robustops.learn.trajectory import Trajectory

GROUP = 4
CLEAN, FAULT = 0, 1


def member(group: str, flow: int, ids: list[int], first_trained: int, rng: random.Random) -> Trajectory:
    """From `first_trained` on about half of the tokens are trained, as in an episode of samples and observations."""
    trained = [index >= first_trained and rng.random() < 0.5 for index in range(len(ids))]
    trained[first_trained] = trained[-1] = True
    is_trained_T = torch.tensor(trained)
    return Trajectory(
        case_id=f"{group}-{rng.random()}",
        group_id=group,
        flow=flow,
        token_ids_T=torch.tensor(ids),
        is_trained_T=is_trained_T,
        logp_rollout_T=torch.tensor([rng.uniform(-6, -5) for _ in ids]) * is_trained_T,
        advantage_T=torch.tensor([rng.uniform(-1, 1) for _ in ids]) * is_trained_T,
    )


def group(name: str, flow: int, num_prefix: int, num_own: int, *, ragged: bool = True, seed: int = 0):
    """Clean: a prompt, then samples. Fault: a prompt with inherited turns and an observation, then samples."""
    rng = random.Random(f"{name}{seed}")
    prefix = [rng.randrange(VOCAB) for _ in range(num_prefix)]
    rows = []
    for _ in range(GROUP):
        own = [rng.randrange(VOCAB) for _ in range(num_own + (rng.randint(0, 7) if ragged else 0))]
        rows.append(member(name, flow, prefix + own, num_prefix, rng))
    return rows


def gradient(rows, *, share_prefix: bool, micro_batch_tokens: int = 10_000) -> torch.Tensor:
    model = tiny_model(0, spread=0.05).train()
    chosen = GrpoSettings(
        share_prefix=share_prefix,
        micro_batch_tokens=micro_batch_tokens,
        pad_id=PAD,
        loss=PolicyLoss(kl_coef=0.05),
        max_grad_norm=1e9,
    )
    module = GrpoModule(model, tiny_model(1, spread=0.05), chosen)
    assert module.shares_prefixes == share_prefix
    module.accumulate(rows)
    return torch.cat([parameter.grad.flatten().double() for parameter in model.parameters()])


@pytest.mark.parametrize("flow", [CLEAN, FAULT])
@pytest.mark.parametrize("micro_batch_tokens", [60, 10_000])
def test_gradients_equal_those_of_one_row_per_member(flow, micro_batch_tokens):
    rows = group("a", flow, 40, 12) + group("b", flow, 23, 30)
    shared = gradient(rows, share_prefix=True, micro_batch_tokens=micro_batch_tokens)
    alone = gradient(rows, share_prefix=False)
    assert float((shared - alone).norm() / alone.norm()) < 1e-5
    assert float(alone.norm()) > 0


@settings(max_examples=15)
@given(data=st.data())
def test_packed_logprobs_are_those_of_each_row_for_any_groups(data):
    rng = random.Random(data.draw(st.integers(0, 10**6)))
    rows = []
    for number in range(data.draw(st.integers(1, 3))):
        prefix = [rng.randrange(3) for _ in range(data.draw(st.integers(1, 12)))]
        for _ in range(data.draw(st.integers(1, 4))):
            # from three tokens only, so that members agree by chance beyond the prefix or before its end
            own = [rng.randrange(3) for _ in range(data.draw(st.integers(1, 9)))]
            rows.append(member(f"g{number}", number % 2, prefix + own, rng.randint(1, len(prefix)), rng))
    limit = data.draw(st.integers(1, 60))
    model = tiny_model(0, spread=0.1)
    assert share_prefixes(model)
    expected, found = {}, {}
    for batches, into in (
        (micro_batches(rows, max_tokens=limit, pad_id=PAD), expected),
        (packed_micro_batches(rows, max_tokens=limit), found),
    ):
        for batch in batches:
            logp_K = token_logprobs(model, batch.token_ids_NT, batch.is_trained_NT, layout=batch.layout).logp_K.detach()
            into.update(zip(batch.indices, torch.split(logp_K, batch.num_trained), strict=True))
    assert sorted(found) == sorted(expected) == list(range(len(rows)))
    for index, logp_K in expected.items():
        torch.testing.assert_close(found[index], logp_K, atol=2e-5, rtol=1e-5)


def test_the_prefix_ends_before_the_token_that_predicts_the_first_trained_one():
    rows = group("a", FAULT, 20, 5)
    [family] = families(rows, 10_000)
    assert family.num_prefix == 19
    assert family.indices == (0, 1, 2, 3)
    alone = [member("b", CLEAN, [1, 2, 3], 1, random.Random(0)), member("b", CLEAN, [1, 2, 4], 1, random.Random(0))]
    assert families(alone, 10_000)[0].num_prefix == 0, "the first token predicts the first trained one"


def test_members_that_do_not_fit_the_budget_together_share_in_parts():
    rows = group("a", CLEAN, 101, 20, ragged=False)
    found = families(rows, 150)
    assert [family.indices for family in found] == [(0, 1), (2, 3)]
    assert all(batch.token_ids_NT.shape[1] == 100 + 2 * 21 for batch in packed_micro_batches(rows, max_tokens=150))


def test_another_member_is_never_seen():
    rows = group("a", CLEAN, 16, 8, ragged=False)
    model = tiny_model(0, spread=0.1)
    share_prefixes(model)

    def logprobs(found):
        [batch] = packed_micro_batches(found, max_tokens=1000)
        logp_K = token_logprobs(model, batch.token_ids_NT, batch.is_trained_NT, layout=batch.layout).logp_K
        return dict(zip(batch.indices, torch.split(logp_K.detach(), batch.num_trained), strict=True))

    before = logprobs(rows)
    rows[1].token_ids_T[16:] = (rows[1].token_ids_T[16:] + 1) % VOCAB
    after = logprobs(rows)
    assert torch.equal(before[0], after[0])
    assert torch.equal(before[2], after[2])
    assert not torch.equal(before[1], after[1])


@pytest.mark.parametrize(("num_prefix", "num_own"), [(512, 64), (768, 32)])
def test_work_saved_is_at_least_95_percent_of_the_limit(num_prefix, num_own):
    rows = group("a", FAULT, num_prefix, num_own, ragged=False)
    flops = {}
    for share_prefix in (True, False):
        with FlopCounterMode(display=False) as counter:
            gradient(rows, share_prefix=share_prefix)
        flops[share_prefix] = counter.get_total_flops()
    limit = GROUP * (num_prefix + num_own) / (num_prefix + GROUP * num_own)
    assert flops[False] / flops[True] >= 0.95 * limit


def test_a_model_with_windows_of_attention_keeps_a_row_per_member():
    model = tiny_model(0)
    model.config.layer_types = ["sliding_attention", "full_attention"]
    assert not share_prefixes(model)
    assert model.config._attn_implementation != ATTENTION


def test_checkpointed_activations_change_no_gradient():
    rows = group("a", FAULT, 30, 10)
    found = []
    for is_checkpointed in (False, True):
        model = tiny_model(0, spread=0.05).train()
        if is_checkpointed:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        module = GrpoModule(model, None, GrpoSettings(loss=PolicyLoss(kl_coef=0.0)))
        module.accumulate(rows)
        found.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
    assert torch.equal(*found)
