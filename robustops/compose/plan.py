"""Does a job fit the hardware? A configuration in, memory by phase, caps and times out, or a refusal. Starts nothing.

Memory of training is `learn.memory`'s formula. Times are estimates from data sheets, at the stated shares of what these
promise, and are shown as such.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from robustops.config import GrpoConfig, RunConfig
from robustops.core.errors import ConfigError, TableError
from robustops.core.tables import read_lines
from robustops.learn.memory import ModelShape, TrainingMemory, scoring_bytes, training_memory
from robustops.rollout.run_folder import TRAJECTORIES
from robustops.rollout.trajectory import load_episode

GIB = 2**30
OVERHEAD = int(1.5 * GIB)  # a CUDA context, kernels' work space and what the allocator cannot use
MAX_UTILISATION = 0.97  # of a GPU's memory; the rest belongs to driver and display
MODEL_FLOPS_SHARE = 0.35  # of the data sheet's, in training
BANDWIDTH_SHARE = 0.6  # of the data sheet's, in decoding
SAMPLED_SHARE = 0.15  # of an episode's tokens; prompts and observations are the rest
CAPS = (4096, 8192, 16384, 24576, 32768, 49152, 65536)  # tokens of a whole episode
BF16, FP32 = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Bytes on the fullest device during one phase."""

    name: str
    parts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.parts.values())


def run(config: RunConfig, folder: Path) -> None:
    """Print the plan. Raises ConfigError where the job cannot fit, naming the phase and what to change."""
    shape = shape_of(config)
    if config.hardware.memory_gib is None:
        raise ConfigError(
            f"hardware.memory_gib: not stated by hardware={config.hardware.name}; choose one with GPUs, or write it"
        )
    phases = phases_of(config, shape, longest_row(config))
    lengths = measured_lengths(Path(config.plan.episodes)) if config.plan.episodes else []
    console = Console(highlight=False, soft_wrap=True)
    _show(console, config, shape, phases)
    if config.plan.job == "train":
        _show_caps(console, config, shape, lengths)
    _show_time(console, config, shape, lengths)
    refuse(config, phases)
    console.print(f"{config.run.name} fits {config.hardware.name}")


def shape_of(config: RunConfig) -> ModelShape:
    path = Path(config.model.path).expanduser() / "config.json"
    values = json.loads(path.read_text()) if path.is_file() else config.model.shape
    try:
        return ModelShape.of_config(values)
    except KeyError as error:
        raise ConfigError(
            f"model.shape: {error.args[0]} is not stated for {config.model.name}; write it, or put the model in "
            f"{path.parent}"
        ) from error


def longest_row(config: RunConfig) -> int:
    """Tokens of the largest micro-batch: its budget, or one episode that fills the whole context."""
    return max(int(config.algorithm.micro_batch_tokens), config.model.max_context_tokens)


def phases_of(config: RunConfig, shape: ModelShape, tokens: int) -> list[Phase]:
    engine = Phase(name="decoding", parts=_engine_needs(config, shape, config.engine.concurrency))
    if config.plan.job == "evaluate":
        return [engine]
    training = _training(config, shape, tokens)
    reference = _reference_bytes(config, shape)
    is_spread = _num_shards(config) > 1
    states = {"weights, gradients, optimiser": training.states, "activations and head": training.activations}
    states |= {"reference, its part": reference} if is_spread else {}
    step = {"weights, gradients, optimiser": training.states, "Adam's work space": training.states - training.resident}
    phases = [
        Phase(name="gradients", parts={**states, "overhead": OVERHEAD}),
        Phase(name="optimiser step", parts={**step, "overhead": OVERHEAD}),
    ]
    if isinstance(config.algorithm, GrpoConfig):
        resident = {"weights, optimiser": training.resident}
        held = {**resident, "reference, its part": reference} if is_spread else resident
        reserved = int(config.engine.gpu_memory_utilization * _capacity(config))
        phases.insert(0, Phase(name="rollout", parts={**held, "engine": reserved, "overhead": OVERHEAD}))
        if not is_spread and reference:
            one_layer = scoring_bytes(shape, tokens, _compute_bytes(config))
            scoring = {**resident, "reference": reference, "one layer and head": one_layer}
            phases.insert(1, Phase(name="reference's logprobs", parts={**scoring, "overhead": OVERHEAD}))
    return phases


def _compute_bytes(config: RunConfig) -> int:
    return BF16 if config.hardware.precision == "bf16" else FP32


def _num_shards(config: RunConfig) -> int:
    return config.hardware.gpus if config.hardware.strategy == "fsdp" else 1


def _training(config: RunConfig, shape: ModelShape, tokens: int) -> TrainingMemory:
    lora = config.model.lora
    adapters = None
    if lora.rank:
        sizes = {
            "q_proj": (shape.hidden, shape.attention), "k_proj": (shape.hidden, shape.keys),
            "v_proj": (shape.hidden, shape.keys), "o_proj": (shape.attention, shape.hidden),
            "gate_proj": (shape.hidden, shape.feed_forward), "up_proj": (shape.hidden, shape.feed_forward),
            "down_proj": (shape.feed_forward, shape.hidden),
        }  # fmt: skip
        adapters = shape.num_layers * sum(lora.rank * sum(sizes.get(name, (0, 0))) for name in lora.targets)
    return training_memory(
        shape,
        tokens,
        compute_bytes=_compute_bytes(config),
        is_checkpointed=config.algorithm.activation_checkpointing,
        num_shards=_num_shards(config),
        trained_parameters=adapters,
    )


def _reference_bytes(config: RunConfig, shape: ModelShape) -> int:
    has_reference = isinstance(config.algorithm, GrpoConfig) and config.algorithm.kl_coef > 0
    return FP32 * shape.parameters // _num_shards(config) if has_reference else 0


def _engine_needs(config: RunConfig, shape: ModelShape, num_episodes: int) -> dict[str, int]:
    each = BF16 if config.model.dtype == "bfloat16" else FP32
    cache = num_episodes * config.model.max_context_tokens * shape.kv_bytes(each)
    return {"weights": shape.parameters * each, "key-value cache": cache, "overhead": OVERHEAD}


def _capacity(config: RunConfig) -> float:
    assert config.hardware.memory_gib is not None
    return config.hardware.memory_gib * GIB


def refuse(config: RunConfig, phases: Sequence[Phase]) -> None:
    """Raise ConfigError for what does not fit."""
    usable = MAX_UTILISATION * _capacity(config)
    for phase in phases:
        if phase.total > usable:
            largest = max(phase.parts, key=lambda name: phase.parts[name])
            raise ConfigError(
                f"hardware={config.hardware.name}: {phase.name} needs {phase.total / GIB:.1f} GiB of one GPU's "
                f"{usable / GIB:.1f} ({largest}: {phase.parts[largest] / GIB:.1f}); {_advice(config, phase)}"
            )
    engine = sum(_engine_needs(config, shape_of(config), _least_episodes(config)).values())
    reserved = config.engine.gpu_memory_utilization * _capacity(config)
    has_engine = config.plan.job == "evaluate" or isinstance(config.algorithm, GrpoConfig)
    if has_engine and engine > reserved:
        raise ConfigError(
            f"engine.gpu_memory_utilization: {config.engine.gpu_memory_utilization} of {config.hardware.memory_gib:g} "
            f"GiB is {reserved / GIB:.1f}, but weights and the cache of {_least_episodes(config)} whole episodes take "
            f"{engine / GIB:.1f}; raise it, or lower engine.concurrency or model.max_context_tokens"
        )


def _least_episodes(config: RunConfig) -> int:
    """Evaluation promises its concurrency; in training an engine that is full lets requests wait."""
    return config.engine.concurrency if config.plan.job == "evaluate" else 1


def _advice(config: RunConfig, phase: Phase) -> str:
    if phase.name == "rollout":
        return "lower engine.gpu_memory_utilization, or spread the weights with hardware.strategy=fsdp on more GPUs"
    if phase.name == "decoding":
        return "lower engine.concurrency or model.max_context_tokens"
    if not config.algorithm.activation_checkpointing:
        return "write algorithm.activation_checkpointing=true, or lower model.max_context_tokens"
    return "lower model.max_context_tokens, write model.lora.rank=16, or take more GPUs with hardware.strategy=fsdp"


def measured_lengths(folder: Path) -> list[int]:
    """Tokens of each whole episode of a run. Raises TableError for a folder without any."""
    path = folder / TRAJECTORIES
    if not path.is_file():
        raise TableError(f"plan.episodes: {path} does not exist; give the folder of a run with episodes")
    episodes = (load_episode(line) for line in read_lines(path))
    lengths = [sum(len(t.context_ids) + len(t.sampled_ids) for t in episode.turns) for episode in episodes]
    if not any(lengths):
        raise TableError(f"plan.episodes: no episode with tokens in {path}")
    return lengths


def _show(console: Console, config: RunConfig, shape: ModelShape, phases: Sequence[Phase]) -> None:
    hardware = config.hardware
    console.print(
        f"{config.run.name}: {config.model.name}, {shape.parameters / 1e9:.2f} B parameters, on {hardware.gpus} x "
        f"{hardware.memory_gib:g} GiB, {hardware.precision}, {hardware.strategy}"
    )
    table = Table(title="GiB of the fullest device", title_justify="left")
    table.add_column("phase")
    table.add_column("part")
    table.add_column("GiB", justify="right")
    usable = MAX_UTILISATION * _capacity(config) / GIB
    for phase in phases:
        for name, size in phase.parts.items():
            table.add_row(phase.name, name, f"{size / GIB:.1f}")
        table.add_row(phase.name, f"together, of {usable:.1f}", f"{phase.total / GIB:.1f}", end_section=True)
    console.print(table)


def _show_caps(console: Console, config: RunConfig, shape: ModelShape, lengths: Sequence[int]) -> None:
    table = Table(title="Episodes as one row of training", title_justify="left")
    table.add_column("cap, tokens", justify="right")
    table.add_column("memory")
    table.add_column("measured episodes within", justify="right")
    usable = MAX_UTILISATION * _capacity(config)
    for cap in sorted({*CAPS, config.model.max_context_tokens}):
        fits = all(phase.total <= usable for phase in phases_of(config, shape, cap))
        share = f"{sum(length <= cap for length in lengths) / len(lengths):.1%}" if lengths else "-"
        table.add_row(f"{cap}", "fits" if fits else "does not fit", share)
    console.print(table)
    if not lengths:
        console.print("no measured lengths: plan.episodes=RUN reads them from a run with episodes")


def _show_time(console: Console, config: RunConfig, shape: ModelShape, lengths: Sequence[int]) -> None:
    hardware, algorithm = config.hardware, config.algorithm
    if hardware.tflops is None or hardware.bandwidth_gb_s is None:
        return
    mean = sum(lengths) / len(lengths) if lengths else config.model.max_context_tokens / 2
    source = f"as long as {len(lengths)} measured ones" if lengths else "of half the context (assumed)"
    each = BF16 if config.model.dtype == "bfloat16" else FP32
    per_pass = shape.parameters * each + config.engine.concurrency * mean * shape.kv_bytes(each)
    tokens_per_s = config.engine.concurrency * BANDWIDTH_SHARE * hardware.bandwidth_gb_s * 1e9 / per_pass
    if config.plan.job == "evaluate":
        console.print(f"estimate, episodes {source}: decoding up to {tokens_per_s:.0f} tokens/s on one GPU")
        return
    if isinstance(algorithm, GrpoConfig):
        num_episodes = (algorithm.clean_groups + algorithm.fault_groups) * algorithm.group_size
    else:
        num_episodes = algorithm.batch_size
    passes = 8 if algorithm.activation_checkpointing else 6
    passes += 2 if _reference_bytes(config, shape) else 0
    flops = passes * shape.parameters * num_episodes * mean
    update_s = flops / (MODEL_FLOPS_SHARE * hardware.tflops * 1e12 * hardware.gpus)
    line = f"estimate of a step, {num_episodes} episodes {source}: update {update_s:.0f} s where no prefix is shared"
    if isinstance(algorithm, GrpoConfig):
        sampled = num_episodes * mean * SAMPLED_SHARE
        line += f", rollout {sampled / tokens_per_s:.0f} s where no group is replaced, plus the tools' time"
    console.print(line)
