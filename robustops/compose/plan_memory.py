"""Memory of one device by phase of a job: a configuration and a model's shape in, parts in bytes out. Starts nothing.

Training is `learn.memory`'s formula; the engine is its weights and its cache. Of several ranks this is the first one,
which holds the most: the engine lives beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from robustops.compose.vllm_sizes import MIB
from robustops.config import GrpoConfig, RunConfig
from robustops.core.errors import ConfigError
from robustops.learn.memory import ModelShape, TrainingMemory, scoring_bytes, training_memory

GIB = 2**30
OVERHEAD = int(1.5 * GIB)  # a CUDA context, kernels' work space and what the allocator cannot use
MAX_UTILISATION = 0.97  # of a GPU's memory; the rest belongs to driver and display
BF16, FP32 = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Bytes on the fullest device during one phase."""

    name: str
    parts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.parts.values())


def capacity(config: RunConfig) -> float:
    assert config.hardware.memory_gib is not None
    return config.hardware.memory_gib * GIB


def usable(config: RunConfig) -> float:
    return MAX_UTILISATION * capacity(config)


def longest_row(config: RunConfig) -> int:
    """Tokens of the largest micro-batch: its budget, or one episode that fills the whole context."""
    return max(int(config.algorithm.micro_batch_tokens), config.model.max_context_tokens)


def phases_of(config: RunConfig, shape: ModelShape, tokens: int) -> list[Phase]:
    if config.plan.job == "evaluate":
        return [Phase(name="decoding", parts=engine_parts(config, shape, config.engine.concurrency))]
    training = _training(config, shape, tokens)
    is_grpo = isinstance(config.algorithm, GrpoConfig)
    # vLLM sleeps while the trainer works; the transformers engine keeps its weights
    awake = {"engine's weights": engine_weights(config, shape)} if is_grpo and config.engine.kind == "hf" else {}
    reference, is_spread = reference_bytes(config, shape), num_shards(config) > 1
    states = {"weights, gradients, optimiser": training.states, **awake}
    gradients = {**states, "activations and head": training.activations}
    gradients |= {"reference, its part": reference} if is_spread else {}
    if config.hardware.gpus > 1 and not is_spread:
        gradients["gradients on their way to other ranks"] = training.states - training.resident
    step = {**states, "Adam's work space": training.states - training.resident}
    phases = [
        Phase(name="gradients", parts={**gradients, "overhead": OVERHEAD}),
        Phase(name="optimiser step", parts={**step, "overhead": OVERHEAD}),
    ]
    if not is_grpo:
        return phases
    resident = {"weights, optimiser": training.resident}
    if not is_spread and reference:
        one_layer = scoring_bytes(shape, tokens, compute_bytes(config))
        scoring = {**resident, **awake, "reference": reference, "one layer and head": one_layer, "overhead": OVERHEAD}
        phases.insert(0, Phase(name="reference's logprobs", parts=scoring))
    return [_rollout(config, shape, resident, reference if is_spread else 0), *phases]


def _rollout(config: RunConfig, shape: ModelShape, resident: dict[str, int], reference: int) -> Phase:
    parts = dict(resident)
    if reference:
        parts["reference, its part"] = reference
    if config.model.lora.rank and num_shards(config) == 1:  # spread ones are gathered on the CPU
        parts["merged weights for the engine"] = FP32 * shape.num_layers * shape.layer_parameters
    return Phase(name="rollout", parts=parts | {"engine": reserved_bytes(config, shape), "overhead": OVERHEAD})


def engine_parts(config: RunConfig, shape: ModelShape, num_episodes: int) -> dict[str, int]:
    """What the engine needs to hold so many whole episodes at a time."""
    cache = num_episodes * config.model.max_context_tokens * cache_bytes_of_token(config, shape)
    return {"weights": engine_weights(config, shape), "key-value cache": cache, "overhead": OVERHEAD}


def reserved_bytes(config: RunConfig, shape: ModelShape) -> int:
    """What the engine takes of this device: nothing where it is elsewhere, and a share of it where it may choose."""
    engine = config.engine
    if engine.urls:
        return 0
    if engine.kind == "hf":  # its cache grows with what it holds
        return sum(engine_parts(config, shape, engine.concurrency).values()) - OVERHEAD
    if engine.kv_cache_mib is not None:
        return engine_weights(config, shape) + engine.kv_cache_mib * MIB + OVERHEAD
    return int(engine.gpu_memory_utilization * capacity(config))


def cached_tokens(config: RunConfig, shape: ModelShape) -> float:
    """How many tokens of episodes the engine can hold at a time."""
    if config.engine.urls or config.engine.kind == "hf":
        return float("inf")
    room = reserved_bytes(config, shape) - engine_weights(config, shape) - OVERHEAD
    return max(0.0, room / cache_bytes_of_token(config, shape))


def engine_weights(config: RunConfig, shape: ModelShape) -> int:
    return shape.parameters * _engine_bytes(config)


def cache_bytes_of_token(config: RunConfig, shape: ModelShape) -> int:
    return shape.kv_bytes(_engine_bytes(config))


def _engine_bytes(config: RunConfig) -> int:
    return BF16 if config.model.dtype == "bfloat16" else FP32


def compute_bytes(config: RunConfig) -> int:
    return BF16 if config.hardware.precision == "bf16" else FP32


def num_shards(config: RunConfig) -> int:
    return config.hardware.gpus if config.hardware.strategy == "fsdp" else 1


def reference_bytes(config: RunConfig, shape: ModelShape) -> int:
    has_reference = isinstance(config.algorithm, GrpoConfig) and config.algorithm.kl_coef > 0
    return FP32 * shape.parameters // num_shards(config) if has_reference else 0


def _training(config: RunConfig, shape: ModelShape, tokens: int) -> TrainingMemory:
    return training_memory(
        shape,
        tokens,
        compute_bytes=compute_bytes(config),
        is_checkpointed=config.algorithm.activation_checkpointing,
        num_shards=num_shards(config),
        trained_parameters=_adapter_parameters(config, shape) if config.model.lora.rank else None,
    )


def _adapter_parameters(config: RunConfig, shape: ModelShape) -> int:
    """Raises ConfigError for a layer that such a model does not have."""
    sizes = {
        "q_proj": shape.hidden + shape.attention,
        "k_proj": shape.hidden + shape.keys,
        "v_proj": shape.hidden + shape.keys,
        "o_proj": shape.attention + shape.hidden,
        "gate_proj": shape.hidden + shape.feed_forward,
        "up_proj": shape.hidden + shape.feed_forward,
        "down_proj": shape.feed_forward + shape.hidden,
    }
    lora = config.model.lora
    if unknown := [name for name in lora.targets if name not in sizes]:
        raise ConfigError(f"model.lora.targets: got {unknown[0]!r}, expected some of {', '.join(sizes)}")
    return shape.num_layers * lora.rank * sum(sizes[name] for name in lora.targets)
