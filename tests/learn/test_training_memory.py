"""The stated formula of memory against what a profiler counts, and against numbers known elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate

import pytest
import torch
from torch.profiler import ProfilerActivity, profile
from transformers import Qwen3Config, Qwen3ForCausalLM

from robustops.learn.memory import ModelShape, activation_bytes, scoring_bytes, training_memory
from robustops.learn.policy_gradient import GradientSettings, Known, PolicyGradient
from robustops.learn.sharding import LogprobNet
from robustops.learn.shared_prefix import Layout, Segment, share_prefixes
from robustops.learn.trajectory import Trajectory

# layers, hidden, heads, key heads, feed-forward, vocabulary, tokens
SIZES = ((2, 64, 2, 1, 96, 262, 256), (4, 128, 4, 4, 384, 1536, 512), (4, 256, 8, 2, 768, 4096, 768))
QWEN3_4B = {
    "num_hidden_layers": 36,
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
}


def model_of(size: tuple[int, ...], *, is_checkpointed: bool) -> Qwen3ForCausalLM:
    layers, hidden, heads, kv_heads, feed_forward, vocabulary, _ = size
    model = Qwen3ForCausalLM(
        Qwen3Config(
            num_hidden_layers=layers,
            hidden_size=hidden,
            num_attention_heads=heads,
            num_key_value_heads=kv_heads,
            head_dim=32,
            intermediate_size=feed_forward,
            vocab_size=vocabulary,
            tie_word_embeddings=True,
        )
    ).train()
    share_prefixes(model)
    if is_checkpointed:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


def rows_of(size: tuple[int, ...], layout: Layout) -> list[Trajectory]:
    """Two groups, each a micro-batch of the size's tokens as `layout` cuts them; every member's own part is trained."""
    rng = torch.Generator().manual_seed(0)
    *_, vocabulary, _ = size
    (segment,) = layout.segments
    found = []
    for group in ("a", "b"):
        prefix_T = torch.randint(vocabulary, (segment.num_prefix,), generator=rng)
        for number, own in enumerate(segment.num_member):
            own_T = torch.randint(vocabulary, (own,), generator=rng)
            ids_T = torch.cat([prefix_T, own_T])
            first = segment.num_prefix + 1 if segment.num_prefix else own // 2
            found.append(
                Trajectory(
                    case_id=f"{group}{number}",
                    group_id=group,
                    flow=0,
                    token_ids_T=ids_T,
                    is_trained_T=torch.arange(len(ids_T)) >= first,
                    logp_rollout_T=torch.zeros(len(ids_T)),
                    advantage_T=torch.randn(len(ids_T), generator=rng),
                )
            )
    return found


def peak_of_tensors(work: Callable[[], object]) -> int:
    """Most bytes alive at a time of what `work` allocates."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        work()
    events = found.profiler.kineto_results.events()
    return max(accumulate(event.nbytes() for event in events if event.name() == "[memory]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A GRPO step as the trainer makes it: the reference's logprobs, gradients of two micro-batches, clipping, Adam."""

    model: Qwen3ForCausalLM
    reference: LogprobNet
    rows: list[Trajectory]
    gradient: PolicyGradient
    optimiser: torch.optim.AdamW

    def score(self) -> list[torch.Tensor]:
        return self.gradient.logprobs(self.reference, self.rows)

    def __call__(self) -> None:
        known = Known(reference_N=self.score())
        self.gradient.accumulate(LogprobNet(self.model), self.rows, known)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.optimiser.zero_grad()


def step_of(size: tuple[int, ...], layout: Layout, *, compute: torch.dtype, is_checkpointed: bool) -> Step:
    model, frozen = model_of(size, is_checkpointed=is_checkpointed), model_of(size, is_checkpointed=False)
    frozen.requires_grad_(False)
    settings = GradientSettings(temperature=0.9, micro_batch_tokens=size[-1], has_shared_prefixes=True, compute=compute)
    return Step(
        model=model,
        reference=LogprobNet(frozen.train(False)),
        rows=rows_of(size, layout),
        gradient=PolicyGradient(settings, torch.device("cpu")),
        optimiser=torch.optim.AdamW(model.parameters(), lr=1e-4),
    )


def layout_of(tokens: int, *, is_shared: bool) -> Layout:
    """One text, or four that share their first half."""
    parts = (tokens // 2, (tokens // 8,) * 4) if is_shared else (0, (tokens,))
    return Layout(segments=(Segment(num_prefix=parts[0], num_member=parts[1]),))


@pytest.mark.parametrize("is_checkpointed", [False, True])
@pytest.mark.parametrize(("compute", "is_shared"), [(torch.float32, True), (torch.bfloat16, False)])
@pytest.mark.parametrize("size", SIZES)
def test_predicted_peak_of_tensors_is_within_15_percent_of_the_profiler(size, compute, is_shared, is_checkpointed):
    """Of a whole step, weights and optimiser included, and of what forward and backward add to them."""
    layout = layout_of(size[-1], is_shared=is_shared)
    step = step_of(size, layout, compute=compute, is_checkpointed=is_checkpointed)
    expected = training_memory(
        ModelShape.of_config(step.model.config.to_dict()),
        size[-1],
        compute_bytes=compute.itemsize,
        is_checkpointed=is_checkpointed,
        num_wanted=sum(row.num_trained for row in step.rows) // 2,
        layout=layout,
    )
    step()  # Adam's moments exist from here on
    resident = 3 * 4 * sum(parameter.numel() for parameter in step.model.parameters())
    assert expected.resident == resident
    peak = resident + peak_of_tensors(step)
    assert peak == pytest.approx(expected.peak, rel=0.15)
    assert peak - expected.states == pytest.approx(expected.activations, rel=0.15)


@pytest.mark.parametrize("size", SIZES)
def test_scoring_with_the_reference_takes_at_most_what_is_stated_and_less_than_half_of_training(size):
    layout = layout_of(size[-1], is_shared=True)
    step = step_of(size, layout, compute=torch.float32, is_checkpointed=False)
    shape = ModelShape.of_config(step.model.config.to_dict())
    peak = peak_of_tensors(step.score)
    assert peak <= scoring_bytes(shape, size[-1], 4)
    assert peak < 0.5 * activation_bytes(shape, size[-1], compute_bytes=4, is_checkpointed=False)


@pytest.mark.parametrize("size", SIZES)
def test_parameters_are_counted_exactly(size):
    model = model_of(size, is_checkpointed=False)
    assert ModelShape.of_config(model.config.to_dict()).parameters == sum(p.numel() for p in model.parameters())


def test_a_4b_model_has_its_four_billion_parameters_and_sixteen_bytes_for_each():
    """Qwen3-4B names 4.0 B parameters; float32 weights, gradients and two moments of Adam are 16 bytes each."""
    shape = ModelShape.of_config(QWEN3_4B)
    assert shape.parameters == pytest.approx(4.02e9, rel=0.005)
    found = training_memory(shape, 1024)
    assert found.states == 16 * shape.parameters
    assert found.resident == 12 * shape.parameters
    assert training_memory(shape, 1024, num_shards=2).states == 8 * shape.parameters
    assert shape.kv_bytes(2) == 36 * 2 * 8 * 128 * 2


def test_a_head_of_its_own_is_gathered_beside_the_embeddings():
    """The root's weights are gathered at once, and their gradients with them: 8 bytes for each of the head's."""
    tied = ModelShape.of_config(QWEN3_4B)
    untied = replace(tied, is_tied=False)
    more = (
        training_memory(untied, 1024, num_shards=2).activations - training_memory(tied, 1024, num_shards=2).activations
    )
    assert more == 8 * tied.vocabulary * tied.hidden
