"""Masked SFT under Lightning: losses against a computation by hand, and what interruption, order and NaN cost."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from random import Random

import lightning
import pytest
import torch
from lightning.pytorch.loggers import Logger
from tiny_qwen3 import VOCAB, tiny_model
from transformers import PreTrainedModel

from robustops.data.sft import MaskSpan, SftSample
from robustops.learn.checkpoint import load_latest
from robustops.learn.lora import LoraSettings, attach
from robustops.learn.sft import DivergedError, SftModule, SftSettings, WeightedTokens
from robustops.learn.sft_order import epoch_batches
from robustops.learn.supervision import steps_per_epoch


@pytest.fixture(autouse=True)
def one_thread():
    """Sums of several threads need not add up in one order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def demonstrations(num: int, seed: int = 0) -> list[WeightedTokens]:
    """Of different lengths, with one to three decisions of different lengths each."""
    rng, made = Random(seed), []
    for number in range(num):
        spans, place = [], 0
        for _ in range(rng.randint(1, 3)):
            for reason, length in (("context", rng.randint(2, 12)), ("call", rng.randint(1, 7))):
                spans.append(MaskSpan(start=place, end=place + length, reason=reason))
                place += length
        ids = tuple(rng.randrange(VOCAB) for _ in range(place))
        sample = SftSample(source=f"run/case-{number}", token_ids=ids, spans=tuple(spans))
        made.append(WeightedTokens(source=sample.source, token_ids=ids, weights=sample.weights))
    return made


class KeptMetrics(Logger):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, float]] = []

    name = version = ""

    def log_hyperparams(self, params) -> None:
        pass

    def log_metrics(self, metrics, step=None) -> None:
        self.rows.append({"step": step, **metrics})


def fit(module: SftModule, logger: Logger | bool = False) -> SftModule:
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=logger,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module)
    return module


def settings(**changes) -> SftSettings:
    return SftSettings(**{"epochs": 1, "lr": 1e-3, "batch_size": 4, **changes})


def weights_of(module: SftModule) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().clone() for name, tensor in module.model.named_parameters()}


def loss_by_hand(model, samples: list[WeightedTokens], num_trajectories: int) -> float:
    """- sum of w * logp / trajectories, token by token from all logits."""
    total = 0.0
    for sample in samples:
        with torch.no_grad():
            table = model(torch.tensor([sample.token_ids])).logits[0].double().log_softmax(-1)
        for t, weight in enumerate(sample.weights):
            if weight:
                total -= weight * float(table[t - 1, sample.token_ids[t]])
    return total / num_trajectories


def test_each_step_s_loss_divides_by_the_trajectories_that_are_in_it(tmp_path: Path):
    """Six demonstrations, four a step: one step of four, one of two. A learning rate of 0 keeps the model still."""
    samples, logger = demonstrations(6), KeptMetrics()
    module = SftModule(tiny_model(0), samples, [], settings(lr=0.0), checkpoints=tmp_path)
    fit(module, logger)
    order = epoch_batches([len(s.token_ids) for s in samples], 4, seed=0, epoch=0)
    assert sorted(map(len, order)) == [2, 4]
    expected = [loss_by_hand(tiny_model(0), [samples[i] for i in batch], len(batch)) for batch in order]
    assert [row["sft/loss"] for row in logger.rows] == pytest.approx(expected, rel=1e-4)
    assert [row["step"] for row in logger.rows] == [1, 2]


@pytest.mark.parametrize("micro_batch_tokens", [1, 60])
def test_how_a_step_is_split_into_micro_batches_changes_no_weight(tmp_path: Path, micro_batch_tokens: int):
    trained = []
    for tokens in (100_000, micro_batch_tokens):
        chosen = settings(micro_batch_tokens=tokens, batch_size=8)
        module = SftModule(tiny_model(0), demonstrations(8), [], chosen, checkpoints=tmp_path / str(tokens))
        # Adam divides by the gradient's own size: compare the gradient as well, which it cannot flatter.
        trained.append(weights_of(fit(module)) | {f"grad {n}": p.grad for n, p in module.model.named_parameters()})
    for name, whole in trained[0].items():
        assert float((trained[1][name] - whole).abs().max()) < 1e-4 * float(whole.abs().max()), name


def test_a_step_s_gradient_is_that_of_the_mean_over_its_trajectories(tmp_path: Path):
    samples = demonstrations(3)
    chosen = settings(lr=0.0, max_grad_norm=math.inf)
    module = fit(SftModule(tiny_model(0), samples, [], chosen, checkpoints=tmp_path))
    plain = tiny_model(0)
    for sample in samples:
        table = plain(torch.tensor([sample.token_ids])).logits[0].log_softmax(-1)
        for t, weight in enumerate(sample.weights):
            if weight:
                (-weight / 3 * table[t - 1, sample.token_ids[t]]).backward(retain_graph=True)
    for (name, parameter), other in zip(module.model.named_parameters(), plain.parameters(), strict=True):
        scale = float(other.grad.abs().max())
        assert float((parameter.grad - other.grad).abs().max()) < 1e-4 * scale, name


def test_a_tiny_set_is_learnt_by_heart(tmp_path: Path):
    samples = demonstrations(4)
    chosen = settings(epochs=60, lr=3e-3, save_every_steps=1000)
    module = fit(SftModule(tiny_model(0, spread=0.02), samples, samples, chosen, checkpoints=tmp_path))
    assert loss_by_hand(module.model, samples, 4) < 0.05


class Interrupted(Exception):
    pass


def with_dropout(seed: int) -> PreTrainedModel:
    model = tiny_model(seed)
    attach(model, LoraSettings(rank=2, dropout=0.5))
    return model.train()


@pytest.mark.parametrize("model_of", [tiny_model, with_dropout])
@pytest.mark.parametrize("stop_at", [2, 3, 5])
def test_a_resumed_run_ends_with_bit_identical_weights(tmp_path: Path, stop_at: int, model_of):
    """Five demonstrations in steps of two, three epochs: nine steps, saved at every one, killed after `stop_at`."""
    samples, monitored = demonstrations(5), demonstrations(2, seed=9)
    chosen = settings(epochs=3, batch_size=2, schedule="cosine", warmup_steps=2, save_every_steps=1, seed=4)
    whole = fit(SftModule(model_of(0), samples, monitored, chosen, checkpoints=tmp_path / "whole"))

    def stop(step: int, num_steps: int, note: str) -> None:
        if step == stop_at:
            raise Interrupted

    parts = tmp_path / "parts"
    with pytest.raises(Interrupted):
        fit(SftModule(model_of(0), samples, monitored, chosen, checkpoints=parts, report=stop))
    saved = load_latest(parts)
    assert saved is not None
    assert saved.step == stop_at
    resumed = SftModule(model_of(1), samples, monitored, chosen, checkpoints=parts)  # the wrong weights, at first
    resumed.resume(saved.step, saved.state)
    fit(resumed)
    assert resumed.best_loss == whole.best_loss
    assert resumed.last_loss == whole.last_loss
    for name, tensor in weights_of(whole).items():
        assert torch.equal(weights_of(resumed)[name], tensor), name


def test_a_finished_run_that_is_resumed_keeps_its_weights(tmp_path: Path):
    samples = demonstrations(4)
    done = fit(SftModule(tiny_model(0), samples, [], settings(), checkpoints=tmp_path))
    again = SftModule(tiny_model(1), samples, [], settings(), checkpoints=tmp_path)
    saved = load_latest(tmp_path)
    assert saved is not None
    again.resume(saved.step, saved.state)
    assert again.first_step == again.num_steps == 1
    for name, tensor in weights_of(done).items():
        assert torch.equal(weights_of(again)[name], tensor), name


def test_a_loss_that_is_no_number_names_the_demonstrations_of_its_step(tmp_path: Path):
    model, samples = tiny_model(0), demonstrations(3)
    model.model.norm.weight.data.fill_(float("nan"))
    module = SftModule(model, samples, [], settings(), checkpoints=tmp_path)
    with pytest.raises(DivergedError, match=r"step 1: the loss is nan.*lower algorithm\.lr") as caught:
        fit(module)
    assert all(sample.source in str(caught.value) for sample in samples)
    assert load_latest(tmp_path) is None, "weights from a diverged step must not be saved"


def test_the_weights_of_the_best_epoch_are_kept(tmp_path: Path):
    """Monitored on other random tokens, memorising makes things worse after a while."""
    monitored, logger = demonstrations(4, seed=9), KeptMetrics()
    chosen = settings(epochs=8, lr=2e-3)
    module = SftModule(tiny_model(0, spread=0.02), demonstrations(8), monitored, chosen, checkpoints=tmp_path)
    fit(module, logger)
    losses = [row["sft/monitoring_loss"] for row in logger.rows if "sft/monitoring_loss" in row]
    assert len(losses) == 8
    assert losses[-1] > min(losses), "the test needs a last epoch that is not the best"
    assert loss_by_hand(module.model, monitored, 4) == pytest.approx(losses[-1], rel=1e-4)
    module.keep_best()
    assert loss_by_hand(module.model, monitored, 4) == pytest.approx(min(losses), rel=1e-4)
    assert module.best_loss == min(losses)


def test_without_monitored_demonstrations_the_last_weights_are_kept(tmp_path: Path):
    module = fit(SftModule(tiny_model(0), demonstrations(4), [], settings(epochs=2), checkpoints=tmp_path))
    last = weights_of(module)
    module.keep_best()
    assert all(torch.equal(tensor, last[name]) for name, tensor in weights_of(module).items())


def test_692_demonstrations_of_eight_are_87_steps_an_epoch_with_each_exactly_once(tmp_path: Path):
    samples = [
        WeightedTokens(source=f"s{n}", token_ids=(1,) * (2 + n % 50), weights=(0.0,) * (1 + n % 50) + (1.0,))
        for n in range(692)
    ]
    module = SftModule(tiny_model(0), samples, [], settings(epochs=2, batch_size=8), checkpoints=tmp_path)
    steps = list(module.train_dataloader())
    assert module.steps_in_epoch == 87
    assert module.num_steps == len(steps) == 174
    epochs = [steps[:87], steps[87:]]
    for epoch in epochs:
        assert Counter(len(step) for step in epoch) == {8: 86, 4: 1}
        assert Counter(sample.source for step in epoch for sample in step) == {f"s{n}": 1 for n in range(692)}
    assert [s.source for s in epochs[0][0]] != [s.source for s in epochs[1][0]], "epochs have orders of their own"


def test_batches_hold_similar_lengths():
    rng = Random(0)
    lengths = [rng.randint(100, 1000) for _ in range(256)]
    padded = sum(max(lengths[i] for i in batch) * len(batch) for batch in epoch_batches(lengths, 8, seed=0, epoch=0))
    assert padded < 1.1 * sum(lengths)
    unsorted = sum(max(lengths[start : start + 8]) * 8 for start in range(0, 256, 8))
    assert unsorted > 1.4 * sum(lengths), "in order of arrival a third of the work would be padding"


def test_the_schedule_warms_up_linearly_and_falls_along_half_a_cosine():
    constant = settings(warmup_steps=3)
    assert [constant.lr_factor(step, 10) for step in range(5)] == pytest.approx([0.25, 0.5, 0.75, 1.0, 1.0])
    cosine = settings(schedule="cosine", warmup_steps=2)
    factors = [cosine.lr_factor(step, 10) for step in range(11)]
    assert factors[:3] == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert factors[4] == pytest.approx((1 + math.sqrt(0.5)) / 2)  # a quarter of the way: cos(45 degrees)
    assert factors[6] == pytest.approx(0.5)
    assert factors[10] == pytest.approx(0.0)
    assert factors[2:] == sorted(factors[2:], reverse=True)


def test_the_optimiser_follows_the_schedule(tmp_path: Path):
    """Adam's first step moves a weight by the learning rate, whatever its gradient."""
    chosen = settings(batch_size=4, warmup_steps=1, lr=1e-3)
    module = SftModule(tiny_model(0), demonstrations(4), [], chosen, checkpoints=tmp_path)
    before = weights_of(module)
    fit(module)
    moved = max(float((tensor - before[name]).abs().max()) for name, tensor in weights_of(module).items())
    assert moved == pytest.approx(0.5e-3, rel=1e-2)


def test_progress_is_reported_once_a_step(tmp_path: Path):
    seen: list[tuple[int, int]] = []
    chosen = settings(epochs=2, batch_size=2)
    module = SftModule(
        tiny_model(0), demonstrations(5), [], chosen, checkpoints=tmp_path, report=lambda *args: seen.append(args[:2])
    )
    fit(module)
    assert steps_per_epoch(5, 2) == 3
    assert seen == [(step, 6) for step in range(1, 7)]
