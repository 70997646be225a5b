"""Proof that the engine holds the trainer's weights: a model and a policy in, a measured difference out, or SyncError.

After each load the engine samples from fixed prompts, through its prefix cache and by the path that rollouts take, and
the trainer scores the same tokens. Old weights, a stale LM head and cached keys of old weights all show there.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import PreTrainedModel

from robustops.agent.policy import Policy, Prompt, Sample, SampleStore, Sampling
from robustops.core.errors import SyncError
from robustops.learn.model import named_weights
from robustops.learn.sharding import LogprobNet

FINGERPRINT_ELEMENTS = 4096  # of each tensor


class TrainablePolicy(Policy, Protocol):
    """A policy whose weights can be replaced while no request runs."""

    @property
    def weight_version(self) -> int: ...

    async def load_weights(self, named_tensors: Iterable[tuple[str, Any]], version: int) -> None:
        """Also forgets everything computed from the old weights."""

    def remember(self, store: SampleStore | None) -> None:
        """Samples found there are not sampled again, new ones are kept there; None: neither."""

    def sleep(self) -> None:
        """Give up memory of the device that the trainer shares, until `wake_up`; nothing where none is shared."""

    def wake_up(self) -> None:
        """Ready for `load_weights` again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """`prompts`: token ids; longer than a cache block of the engine, or a stale cache stays unseen.

    `max_diff_nats`: the largest difference of one token's logprob that passes for rounding.
    """

    prompts: tuple[tuple[int, ...], ...]
    max_diff_nats: float
    temperature: float = 1.0
    max_tokens: int = 16

    def __post_init__(self) -> None:
        if not self.prompts or min(map(len, self.prompts)) < 1:
            raise ValueError("a probe needs at least one prompt, and no empty one")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    version: int
    max_diff_nats: float
    num_tokens: int


def weights_fingerprint(model: PreTrainedModel) -> str:
    """Changes with any optimiser step, and costs little: a hash over evenly spaced elements of each parameter."""
    digest = hashlib.sha256()
    for name, tensor in named_weights(model).items():
        flat = tensor.detach().flatten()
        picked = flat[:: max(1, flat.numel() // FINGERPRINT_ELEMENTS)].float().cpu().contiguous()
        digest.update(name.encode())
        digest.update(picked.numpy().tobytes())
    return digest.hexdigest()


async def load_and_sample(
    policy: TrainablePolicy, weights: Mapping[str, Tensor], probe: Probe, *, version: int
) -> tuple[Sample, ...]:
    """Load `weights` as `version` and answer each probe prompt. Raises SyncError for an answer of another version."""
    await policy.load_weights(weights.items(), version)
    if policy.weight_version != version:
        raise SyncError(f"weights {version}: the engine says it holds version {policy.weight_version}")
    sampling = Sampling(temperature=probe.temperature, max_tokens=probe.max_tokens, seed=version)
    samples = await asyncio.gather(
        *(policy.act(_prompt(index, ids), sampling) for index, ids in enumerate(probe.prompts))
    )
    for index, sample in enumerate(samples):
        if sample.weight_version != version:
            raise SyncError(f"weights {version}: probe {index} was sampled from version {sample.weight_version}")
    return tuple(samples)


def prove(
    net: LogprobNet, probe: Probe, samples: Sequence[Sample], *, version: int, compute: torch.dtype
) -> SyncReport:
    """Score the engine's answers. Raises SyncError when the logprobs differ by too much. All ranks must call it."""
    worst, num_tokens = 0.0, 0
    for index, (ids, sample) in enumerate(zip(probe.prompts, samples, strict=True)):
        gap = _gap(net, ids, sample, probe.temperature, compute)
        num_tokens += len(sample.token_ids)
        if not gap <= probe.max_diff_nats:  # NaN fails too
            raise SyncError(
                f"weights {version}: engine and trainer differ by {gap:.2g} nats on probe prompt {index}, allowed "
                f"{probe.max_diff_nats:.2g} (engine.max_probe_diff): old weights or cached keys, or a coarse dtype"
            )
        worst = max(worst, gap)
    return SyncReport(version=version, max_diff_nats=worst, num_tokens=num_tokens)


def _prompt(index: int, ids: tuple[int, ...]) -> Prompt:
    return Prompt(case_id=f"probe-{index}", task_id="probe", turn=0, token_ids=ids, messages=(), tools=())


@torch.no_grad()
def _gap(net: LogprobNet, ids: Sequence[int], sample: Sample, temperature: float, compute: torch.dtype) -> float:
    device = next(net.parameters()).device
    token_ids_NT = torch.tensor([[*ids, *sample.token_ids]], device=device)
    is_wanted_NT = torch.zeros_like(token_ids_NT, dtype=torch.bool)
    is_wanted_NT[0, len(ids) :] = True
    expected = net.logprobs(token_ids_NT, is_wanted_NT, temperature=temperature, compute=compute).logp_K
    engine = torch.tensor(sample.logprobs, device=device)
    if len(engine) != len(expected):
        raise SyncError(f"probe: {len(engine)} logprobs for {len(expected)} tokens; the engine must return one each")
    return float((expected - engine).abs().max())
