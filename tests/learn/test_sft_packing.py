"""Packed demonstrations weigh and learn as they would alone; a step that stands out is reported with what it held."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_qwen3 import VOCAB, tiny_model

from robustops.learn.divergence import LossWatch
from robustops.learn.fit import fit
from robustops.learn.lora import LoraSettings, attach, merged_weights
from robustops.learn.sft import SftModule, SftSettings
from robustops.learn.sft_rows import WeightedTokens, pack_by_tokens


def demonstrations(num: int) -> list[WeightedTokens]:
    rng = Random(3)
    made = []
    for number in range(num):
        length, start = rng.randint(8, 30), rng.randint(2, 6)
        weights = (0.0,) * start + (1 / (length - start),) * (length - start)
        ids = tuple(rng.randrange(VOCAB) for _ in range(length))
        made.append(WeightedTokens(source=f"run/case-{number}", token_ids=ids, weights=weights))
    return made


def module(folder: Path, *, model=None, **changes) -> SftModule:
    settings = SftSettings(**{"epochs": 1, "lr": 1e-3, "batch_size": 6, **changes})
    return SftModule(model or tiny_model(), demonstrations(6), [], settings, checkpoints=folder / "checkpoints")


def test_packing_changes_no_gradient(tmp_path: Path):
    padded, packed = module(tmp_path / "a"), module(tmp_path / "b", packing=True, micro_batch_tokens=64)
    fit(padded)
    fit(packed)
    assert packed.last_loss == pytest.approx(padded.last_loss, rel=1e-5)
    for (name, ours), theirs in zip(packed.model.named_parameters(), padded.model.parameters(), strict=True):
        assert float((ours.grad - theirs.grad).abs().max()) < 1e-4 * float(theirs.grad.abs().max()), name


def test_packing_is_refused_where_attention_would_mix_the_demonstrations(tmp_path: Path):
    model = tiny_model()
    model.set_attn_implementation("eager")
    with pytest.raises(ValueError, match="packing needs sdpa or flash attention"):
        module(tmp_path, model=model, packing=True)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 80))
def test_packing_keeps_the_order_and_the_budget(lengths: list[int], budget: int):
    parts = pack_by_tokens(lengths, budget)
    assert [index for part in parts for index in part] == list(range(len(lengths)))
    assert all(len(part) == 1 or sum(lengths[index] for index in part) <= budget for part in parts)
    for one, two in pairwise(parts):
        assert sum(lengths[i] for i in one) + lengths[two[0]] > budget, "the next one would still have fitted"


def test_with_adapters_the_loss_falls_and_the_base_weights_stay(tmp_path: Path):
    model = tiny_model(spread=0.02)
    before = {name: weight.clone() for name, weight in merged_weights(model).items()}
    attach(model, LoraSettings(rank=4))
    losses: list[str] = []
    trained = module(tmp_path, model=model, epochs=20, lr=1e-2)
    trained.report = lambda step, total, note: losses.append(note)
    fit(trained)
    first, last = float(losses[0].split()[1]), float(losses[-1].split()[1])
    assert last < first - 0.5
    assert torch.equal(model.get_decoder().layers[0].mlp.up_proj.base_layer.weight, before[UP_PROJECTION])
    assert not torch.equal(merged_weights(model)[UP_PROJECTION], before[UP_PROJECTION])


UP_PROJECTION = "model.layers.0.mlp.up_proj.weight"


def test_a_spike_is_what_exceeds_the_recent_median_by_the_factor():
    """Twenty losses of 1.0: 2.9 is under three times their median, 3.1 is over it."""
    watch = LossWatch(3.0)
    assert not any(watch.see(step, 1.0, ["a"]) for step in range(20))
    assert watch.see(21, 2.9, ["a"]) is None
    spike = watch.see(22, 3.1, ["run/x", "run/y"])
    assert spike is not None
    assert (spike.step, spike.loss, spike.median, spike.sources) == (22, 3.1, 1.0, ("run/x", "run/y"))
    assert watch.see(23, 3.1, ["a"]) is not None, "a spike does not raise the measure"


def test_noise_of_a_loss_near_zero_is_no_spike():
    """Ten times the median, and 0.09 nats above it."""
    watch = LossWatch(3.0)
    assert not any(watch.see(step, 0.01, ["a"]) for step in range(20))
    assert watch.see(21, 0.1, ["a"]) is None
    assert watch.see(22, 0.12, ["a"]) is not None


def test_the_first_steps_are_no_measure_of_a_spike():
    watch = LossWatch(2.0)
    assert not any(watch.see(step, loss, ["a"]) for step, loss in enumerate([1.0] * 9 + [100.0]))


def test_spikes_are_written_with_the_demonstrations_of_their_step(tmp_path: Path):
    """Eleven quiet steps on one text, then one on random tokens with a label that the model has learnt to deny."""
    quiet = WeightedTokens(source="quiet", token_ids=(5,) * 12, weights=(0.0,) * 2 + (0.1,) * 10)
    odd = WeightedTokens(source="odd", token_ids=tuple(range(6, 18)), weights=(0.0,) * 2 + (0.1,) * 10)
    settings = SftSettings(epochs=1, lr=3e-2, batch_size=1, spike_factor=3.0)
    trained = SftModule(tiny_model(spread=0.02), [quiet] * 15 + [odd], [], settings, checkpoints=tmp_path / "c")
    steps = [[quiet]] * 15 + [[odd]]
    trained.train_dataloader = lambda: torch.utils.data.DataLoader(steps, batch_size=None, collate_fn=lambda x: x)
    fit(trained)
    (line,) = (tmp_path / "spikes.jsonl").read_text().splitlines()
    assert json.loads(line)["sources"] == ["odd"]
    assert json.loads(line)["step"] == 16
