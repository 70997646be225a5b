"""The GRPO update on a tiny Qwen3: gradients against a plain computation, however the step is split."""

from __future__ import annotations

import random

import lightning.pytorch as pl
import pytest
import torch
from bandit import PAD
from tiny_qwen3 import VOCAB, tiny_model

from robustops.learn.batch import TrainingBatch
from robustops.learn.denominators import FlowTokens, count_tokens
from robustops.learn.divergence import DivergedError
from robustops.learn.grpo import GrpoModule, GrpoSettings, StepBatch
from robustops.learn.loss import PolicyLoss
from robustops.learn.step_buffer import StepBuffer
from robustops.learn.trajectory import Trajectory

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


def rows(num: int = 8, *, seed: int = 0) -> list[Trajectory]:
    """Trajectories of 6..20 tokens of which about half are trained; both flows, rollout logprobs near the model's."""
    rng = random.Random(seed)
    model = tiny_model(0, spread=0.05)
    found = []
    for number in range(num):
        length = rng.randint(6, 20)
        ids_T = torch.tensor([rng.randrange(VOCAB) for _ in range(length)])
        trained_T = torch.tensor([False] + [rng.random() < 0.5 for _ in range(length - 2)] + [True])
        logp_T = torch.zeros(length)
        logp_T[1:] = reference_logp(model, ids_T).detach()
        noise_T = torch.tensor([rng.uniform(-0.1, 0.1) for _ in range(length)])
        found.append(
            Trajectory(
                case_id=f"case-{number}",
                group_id=f"group-{number // 4}",
                flow=number % 2,
                token_ids_T=ids_T,
                is_trained_T=trained_T,
                logp_rollout_T=(logp_T + noise_T) * trained_T,
                advantage_T=torch.tensor([rng.uniform(-1, 1) for _ in range(length)]) * trained_T,
            )
        )
    return found


def reference_logp(model, ids_T: torch.Tensor) -> torch.Tensor:
    """Logprob of each token but the first, over all logits."""
    logits_TV = model(ids_T[None]).logits[0, :-1]
    return logits_TV.log_softmax(-1).gather(-1, ids_T[1:, None]).squeeze(-1)


def training_batch_of(found: list[Trajectory]) -> TrainingBatch:
    tokens: FlowTokens = count_tokens([row.num_trained for row in found], [row.flow for row in found])
    return TrainingBatch(trajectories=tuple(found), scores=(), tokens=tokens)


class Recorder(GrpoModule):
    """Keeps the gradient of each optimiser step."""

    def configure_optimizers(self):
        self.gradients = []
        optimiser = super().configure_optimizers()
        optimiser.register_step_pre_hook(lambda *_: self.gradients.append(self.gradient()))
        return optimiser

    def gradient(self) -> torch.Tensor:
        return torch.cat([parameter.grad.flatten().clone() for parameter in self.model.parameters()])


def fit(module: GrpoModule, batches: list[TrainingBatch | None]) -> None:
    buffer = StepBuffer()

    class Feed(pl.Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            step = trainer.current_epoch
            buffer.put(StepBatch(step=step, batch=batches[step]))

    trainer = pl.Trainer(
        max_epochs=len(batches),
        accelerator="cpu",
        logger=False,
        callbacks=[Feed()],
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, train_dataloaders=buffer.loader())


def build(reference_seed: int = 1, **settings) -> Recorder:
    settings.setdefault("max_grad_norm", 1e9)
    model = tiny_model(0, spread=0.05).train()
    return Recorder(model, tiny_model(reference_seed, spread=0.05), GrpoSettings(pad_id=PAD, **settings))


def plain_gradient(found: list[Trajectory], kl_coef: float) -> torch.Tensor:
    """Row by row from the formula, without clipping (r = 1 before the only update)."""
    model, reference = tiny_model(0, spread=0.05), tiny_model(1, spread=0.05)
    num_tokens = [sum(row.num_trained for row in found if row.flow == flow) for flow in (0, 1)]
    total = torch.zeros(())
    for row in found:
        keep_T = row.is_trained_T[1:]
        logp_K = reference_logp(model, row.token_ids_T)[keep_T]
        ref_K = reference_logp(reference, row.token_ids_T)[keep_T].detach()
        ratio_K = (logp_K - logp_K.detach()).exp()
        weight_K = (logp_K.detach() - row.logp_rollout_T[1:][keep_T]).exp().clamp(max=2.0)
        gap_K = ref_K - logp_K
        loss_K = -ratio_K * row.advantage_T[1:][keep_T] * weight_K + kl_coef * (gap_K.exp() - gap_K - 1)
        total = total + 0.5 * loss_K.sum() / num_tokens[row.flow]
    total.backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


@pytest.mark.parametrize("micro_batch_tokens", [1, 45, 10_000])
def test_the_gradient_is_that_of_the_formula_however_the_step_is_split(micro_batch_tokens):
    found = rows()
    module = build(micro_batch_tokens=micro_batch_tokens, loss=PolicyLoss(kl_coef=0.05))
    fit(module, [training_batch_of(found)])
    expected = plain_gradient(found, kl_coef=0.05)
    assert len(module.gradients) == 1
    assert torch.allclose(module.gradients[0], expected, atol=1e-6, rtol=1e-4)
    assert module.last_report.grad_norm == pytest.approx(float(expected.norm()), rel=1e-4)


def test_later_epochs_compare_with_the_policy_before_the_step():
    """With plain r = 1 in every epoch nothing could ever be clipped."""
    module = build(ppo_epochs=3, lr=0.05, loss=PolicyLoss(kl_coef=0.0))
    fit(module, [training_batch_of(rows())])
    assert len(module.gradients) == 3
    sums = module.last_report.sums
    assert sums.clipped_low + sums.clipped_high > 0


def test_old_logprobs_of_a_second_pass_equal_the_first_forward():
    """Two epochs at lr 0 see r = 1 twice, so both gradients are the single update's."""
    found = rows()
    module = build(ppo_epochs=2, lr=0.0)
    fit(module, [training_batch_of(found)])
    expected = plain_gradient(found, kl_coef=0.001)
    for gradient in module.gradients:
        assert torch.allclose(gradient, expected, atol=1e-6, rtol=1e-4)


def test_minibatches_are_optimiser_steps_with_denominators_of_their_own():
    found = rows()
    module = build(num_minibatches=2, lr=0.0)
    fit(module, [training_batch_of(found)])
    assert len(module.gradients) == 2
    assert module.last_report.sums.num_tokens == sum(row.num_trained for row in found)


def test_logprobs_are_taken_at_the_rollouts_temperature():
    """Rollout logprobs recorded at temperature 0.5 by this very model leave no mismatch."""
    found = []
    model = tiny_model(0, spread=0.05)
    for row in rows():
        logits_TV = model(row.token_ids_T[None]).logits[0, :-1] / 0.5
        logp_T = torch.zeros(len(row.token_ids_T))
        logp_T[1:] = logits_TV.log_softmax(-1).gather(-1, row.token_ids_T[1:, None]).squeeze(-1).detach()
        fields = {name: getattr(row, name) for name in Trajectory.__slots__}
        found.append(Trajectory(**fields | {"logp_rollout_T": logp_T * row.is_trained_T}))
    module = build(temperature=0.5)
    fit(module, [training_batch_of(found)])
    assert module.last_report.metrics()["policy/mismatch_max_nats"] < 1e-4


def test_the_reference_is_neither_trained_nor_saved():
    module = build(lr=0.01)
    before = {name: tensor.clone() for name, tensor in module._reference[0].model.state_dict().items()}
    fit(module, [training_batch_of(rows())])
    assert all(torch.equal(tensor, before[name]) for name, tensor in module._reference[0].model.state_dict().items())
    assert len(list(module.parameters())) == len(list(module.model.parameters()))
    assert not any("reference" in name for name in module.state_dict())


def test_the_reference_scores_each_token_once_per_batch_whatever_the_updates():
    found = rows()
    module = build(ppo_epochs=3, num_minibatches=2, micro_batch_tokens=40, share_prefix=False)
    scored: list[int] = []
    frozen = module._reference[0]
    frozen.register_forward_pre_hook(lambda _, given: scored.append(int(given[1].sum())))
    fit(module, [training_batch_of(found)])
    assert len(module.gradients) == 6
    assert sum(scored) == sum(row.num_trained for row in found)


def test_a_step_without_a_batch_changes_no_weight_and_no_version():
    module = build(lr=0.01)
    before = [parameter.clone() for parameter in module.model.parameters()]
    fit(module, [None])
    assert all(torch.equal(a, b) for a, b in zip(before, module.model.parameters(), strict=True))
    assert module.num_updates == 0
    assert module.last_report is None


def test_each_update_changes_the_weights_and_counts():
    module = build(lr=1e-6)
    before = [parameter.clone() for parameter in module.model.parameters()]
    fit(module, [training_batch_of(rows()), training_batch_of(rows(seed=1))])
    assert module.num_updates == 2
    assert not all(torch.equal(a, b) for a, b in zip(before, module.model.parameters(), strict=True))


def test_a_loss_that_is_no_number_names_step_and_cases_and_leaves_the_weights():
    found = rows(4)
    found[2].advantage_T[-1] = float("nan")
    module = build(micro_batch_tokens=1)
    before = [parameter.clone() for parameter in module.model.parameters()]
    with pytest.raises(DivergedError, match=r"step 0: the loss is nan on case-2; lower algorithm\.lr"):
        fit(module, [training_batch_of(found)])
    assert all(torch.equal(a, b) for a, b in zip(before, module.model.parameters(), strict=True))


def test_a_kl_term_without_a_reference_is_a_mistake():
    with pytest.raises(ValueError, match="needs the reference model"):
        GrpoModule(tiny_model(0), None, GrpoSettings())
