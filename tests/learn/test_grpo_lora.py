"""RL with adapters: they alone train, and the engine gets the whole weights that they stand for."""

from __future__ import annotations

import pytest
import torch
from bandit import PAD
from test_callbacks import Bench
from tiny_qwen3 import tiny_model

from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.lora import LoraSettings, attach
from robustops.learn.loss import PolicyLoss

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def adapted(folder, steps: int) -> Bench:
    bench = Bench(folder, steps)
    model = tiny_model(0, spread=0.02).train()
    attach(model, LoraSettings(rank=4))
    grpo = GrpoSettings(lr=1e-2, pad_id=PAD, loss=PolicyLoss(kl_coef=0.0))
    bench.module = GrpoModule(model, None, grpo)
    return bench


def test_every_step_s_engine_holds_the_merged_weights_of_the_trainer(tmp_path):
    """The probe compares the engine's logprobs with the trainer's, whose adapters act unmerged."""
    bench = adapted(tmp_path, 3)
    frozen = {n: p.clone() for n, p in bench.module.model.named_parameters() if not p.requires_grad}
    bench.run()
    assert bench.policy.loaded == [0, 1, 2]
    assert all(metrics["sync/probe_max_nats"] < 1e-4 for metrics in bench.callback.history)
    assert all(metrics["policy/mismatch_max_nats"] < 1e-4 for metrics in bench.callback.history)
    for name, parameter in bench.module.model.named_parameters():
        if not parameter.requires_grad:
            assert torch.equal(parameter, frozen[name]), name
    fresh = tiny_model(0, spread=0.02)
    assert not torch.equal(
        bench.policy.model.model.layers[0].mlp.up_proj.weight, fresh.model.layers[0].mlp.up_proj.weight
    )
    assert torch.equal(bench.policy.model.lm_head.weight, fresh.lm_head.weight), "the head has no adapter"


def test_a_run_with_adapters_goes_on_where_it_stopped(tmp_path):
    whole = adapted(tmp_path / "whole", 3)
    whole.run()
    adapted(tmp_path / "parts", 2).run()
    rest = adapted(tmp_path / "parts", 3)
    rest.run()
    for one, other in zip(whole.module.model.parameters(), rest.module.model.parameters(), strict=True):
        assert torch.equal(one, other)
