"""About how long a step takes: a configuration, a model's shape and episodes' lengths in, one line out.

From data sheets, at the stated shares of what these promise, and shown as an estimate.
"""

from __future__ import annotations

from collections.abc import Sequence

from robustops.compose.plan_memory import cache_bytes_of_token, cached_tokens, engine_weights, reference_bytes
from robustops.config import GrpoConfig, RunConfig
from robustops.learn.memory import ModelShape

MODEL_FLOPS_SHARE = 0.35  # of the data sheet's, in training
BANDWIDTH_SHARE = 0.6  # of the data sheet's, in decoding
SAMPLED_SHARE = 0.15  # of an episode's tokens; prompts and observations are the rest


def estimate(config: RunConfig, shape: ModelShape, lengths: Sequence[int]) -> str:
    """Empty where the data sheet's values are not stated."""
    hardware = config.hardware
    if hardware.tflops is None or hardware.bandwidth_gb_s is None:
        return ""
    mean = sum(lengths) / len(lengths) if lengths else config.model.max_context_tokens / 2
    source = f"as long as {len(lengths)} measured ones" if lengths else "of half the context (assumed)"
    num_decoding = max(1.0, min(config.engine.concurrency, cached_tokens(config, shape) / mean))
    tokens_per_s = _decoding_speed(config, shape, mean, num_decoding, hardware.bandwidth_gb_s)
    at_a_time = f"{num_decoding:.0f} at a time"
    if config.plan.job == "evaluate":
        return f"estimate, episodes {source}: decoding up to {tokens_per_s:.0f} tokens/s on one GPU, {at_a_time}"
    num_episodes = _num_episodes(config)
    flops = _passes(config, shape) * shape.parameters * num_episodes * mean
    update_s = flops / (MODEL_FLOPS_SHARE * hardware.tflops * 1e12 * hardware.gpus)
    line = f"estimate of a step, {num_episodes} episodes {source}: update {update_s:.0f} s"
    if not isinstance(config.algorithm, GrpoConfig):
        return line
    line += " where no prefix is shared"
    if config.engine.urls:
        return f"{line}; rollouts take what the servers at engine.urls take"
    sampled = num_episodes * mean * SAMPLED_SHARE
    rollout = f"rollout {sampled / tokens_per_s:.0f} s, {at_a_time}, where no group is replaced"
    return f"{line}, {rollout}, plus the tools' time"


def _decoding_speed(
    config: RunConfig, shape: ModelShape, mean: float, num_episodes: float, bandwidth_gb_s: float
) -> float:
    """Tokens a second: each pass reads all weights and the cache of every episode, and gives one token to each."""
    per_pass = engine_weights(config, shape) + num_episodes * mean * cache_bytes_of_token(config, shape)
    return num_episodes * BANDWIDTH_SHARE * bandwidth_gb_s * 1e9 / per_pass


def _num_episodes(config: RunConfig) -> int:
    algorithm = config.algorithm
    if isinstance(algorithm, GrpoConfig):
        return (algorithm.clean_groups + algorithm.fault_groups) * algorithm.group_size
    return int(algorithm.batch_size)


def _passes(config: RunConfig, shape: ModelShape) -> int:
    """Operations for each parameter and token: forward 2, backward 2 and, where weights train, 2 for theirs."""
    passes = 4 if config.model.lora.rank else 6
    passes += 2 if config.algorithm.activation_checkpointing else 0
    return passes + (2 if reference_bytes(config, shape) else 0)
