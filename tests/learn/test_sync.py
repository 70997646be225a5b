"""The proof of each weight transfer: what passes, and the defects that it must betray."""

from __future__ import annotations

import importlib.util

import pytest
import torch
from bandit import PROBE_PROMPT, MirrorPolicy
from tiny_qwen3 import tiny_model

from robustops.core.errors import SyncError
from robustops.learn.model import named_weights
from robustops.learn.sharding import LogprobNet
from robustops.learn.sync import Probe, load_and_sample, prove, weights_fingerprint

PROBE = Probe(prompts=(PROBE_PROMPT, PROBE_PROMPT[::-1]), max_diff_nats=1e-4, max_tokens=6)


async def synchronise(policy, model, probe, *, version, compute):
    samples = await load_and_sample(policy, named_weights(model), probe, version=version)
    return prove(LogprobNet(model), probe, samples, version=version, compute=compute)


async def test_equal_weights_pass_and_say_how_equal():
    policy, model = MirrorPolicy(), tiny_model(3)
    report = await synchronise(policy, model, PROBE, version=8, compute=torch.float32)
    assert report.version == policy.weight_version == 8
    assert report.num_tokens == 12
    assert report.max_diff_nats < 1e-4


async def test_an_engine_that_keeps_old_weights_is_betrayed():
    class Forgetful(MirrorPolicy):
        async def load_weights(self, named_tensors, version):
            self.weight_version = version

    with pytest.raises(SyncError, match=r"weights 2: engine and trainer differ by .* nats on probe prompt 0"):
        await synchronise(Forgetful(), tiny_model(3), PROBE, version=2, compute=torch.float32)


async def test_a_single_stale_tensor_is_betrayed():
    class StaleHead(MirrorPolicy):
        async def load_weights(self, named_tensors, version):
            kept = [(name, tensor) for name, tensor in named_tensors if "embed" not in name]
            await super().load_weights(kept, version)

    with pytest.raises(SyncError, match=r"engine\.max_probe_diff"):
        await synchronise(StaleHead(), tiny_model(3), PROBE, version=2, compute=torch.float32)


async def test_an_engine_that_names_another_version_is_refused():
    class WrongVersion(MirrorPolicy):
        async def load_weights(self, named_tensors, version):
            await super().load_weights(named_tensors, version - 1)

    with pytest.raises(SyncError, match="weights 5: the engine says it holds version 4"):
        await synchronise(WrongVersion(), tiny_model(3), PROBE, version=5, compute=torch.float32)


async def test_logprobs_that_are_no_numbers_do_not_pass():
    model = tiny_model(3)
    policy = MirrorPolicy()
    await synchronise(policy, model, PROBE, version=1, compute=torch.float32)

    class Broken(MirrorPolicy):
        def sample(self, prompt, sampling):
            found = super().sample(prompt, sampling)
            object.__setattr__(found, "logprobs", (float("nan"),) * len(found.token_ids))
            return found

    with pytest.raises(SyncError):
        await synchronise(Broken(), model, PROBE, version=2, compute=torch.float32)


def test_the_fingerprint_sees_one_changed_weight_and_nothing_else():
    model = tiny_model(0)
    before = weights_fingerprint(model)
    assert weights_fingerprint(tiny_model(0)) == before
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight[0, 0] += 1e-6
    assert weights_fingerprint(model) != before


def test_a_tied_head_travels_once():
    names = list(named_weights(tiny_model(0)))
    assert "model.embed_tokens.weight" in names
    assert not any("lm_head" in name for name in names)


def test_a_probe_without_a_prompt_is_a_mistake():
    with pytest.raises(ValueError, match="at least one prompt"):
        Probe(prompts=(), max_diff_nats=1e-3)


needs_vllm = pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vllm is not installed")


@pytest.mark.vllm
@needs_vllm
async def test_vllm_passes_after_each_of_several_loads(vllm_policies):
    policy = vllm_policies["continuous"]
    for version, seed in enumerate((0, 1, 2), start=20):
        report = await synchronise(policy, tiny_model(seed), PROBE, version=version, compute=torch.float32)
        assert report.max_diff_nats < 1e-4
        assert policy.weight_version == version


@pytest.mark.vllm
@needs_vllm
async def test_a_prefix_cache_left_from_old_weights_is_betrayed(vllm_policies, monkeypatch):
    policy = vllm_policies["continuous"]
    probe = Probe(prompts=(tuple(range(100)),), max_diff_nats=1e-4)
    await synchronise(policy, tiny_model(0), probe, version=30, compute=torch.float32)
    monkeypatch.setattr(policy._engine, "reset_prefix_cache", lambda: True)
    with pytest.raises(SyncError, match="old weights or cached keys"):
        await synchronise(policy, tiny_model(1), probe, version=31, compute=torch.float32)


@pytest.mark.vllm
@needs_vllm
async def test_a_head_that_was_not_refreshed_is_betrayed(vllm_policies, monkeypatch):
    policy = vllm_policies["continuous"]
    monkeypatch.setattr("robustops.agent.vllm.refresh_head", lambda model: True)
    with pytest.raises(SyncError):
        await synchronise(policy, tiny_model(5), PROBE, version=40, compute=torch.float32)
