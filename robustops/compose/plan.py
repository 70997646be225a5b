"""Does a job fit the hardware? A configuration in; memory by phase, caps and times out, or a refusal.

Starts nothing, and needs neither the GPUs nor the weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from robustops.compose.hardware import check_engine
from robustops.compose.plan_memory import (
    GIB,
    Phase,
    capacity,
    engine_parts,
    engine_weights,
    longest_row,
    phases_of,
    reserved_bytes,
    usable,
)
from robustops.compose.plan_time import estimate
from robustops.config import GrpoConfig, RunConfig
from robustops.config.attention import check_attention
from robustops.config.preflight import LOCAL_ENGINES
from robustops.core.errors import ConfigError, TableError
from robustops.learn.memory import ModelShape
from robustops.rollout.run_folder import TRAJECTORIES
from robustops.rollout.trajectory import read_trajectories

CAPS = (4096, 8192, 16384, 24576, 32768, 49152, 65536)  # tokens of a whole episode


def run(config: RunConfig, folder: Path) -> None:
    """Print the plan. Raises ConfigError where the job cannot fit, naming the phase and what to change."""
    check_asked_for(config)
    shape = shape_of(config)
    phases = phases_of(config, shape, longest_row(config))
    lengths = measured_lengths(Path(config.plan.episodes)) if config.plan.episodes else []
    console = Console(highlight=False, soft_wrap=True)
    _show(console, config, shape, phases)
    if config.plan.job == "train":
        _show_caps(console, config, shape, lengths)
    if line := estimate(config, shape, lengths):
        console.print(line)
    refuse(config, shape, phases)
    console.print(f"{config.run.name} fits {config.hardware.name}")


def check_asked_for(config: RunConfig) -> None:
    """Raise ConfigError for a job that is not about memory of GPUs, or would be refused whatever the memory."""
    hardware = config.hardware
    if config.plan.job == "train":
        check_engine(config)
        check_attention(config)
    elif config.engine.kind not in LOCAL_ENGINES:
        raise ConfigError(
            f"engine.kind: got {config.engine.kind!r}, which takes no memory here: there is nothing to plan"
        )
    if hardware.memory_gib is None:
        raise ConfigError(
            f"hardware.memory_gib: not stated by hardware={hardware.name}; choose one with GPUs, or write it"
        )
    if not hardware.gpus:
        raise ConfigError("hardware.gpus: got 0; a plan is about the memory of GPUs, so write how many there are")


def shape_of(config: RunConfig) -> ModelShape:
    """Raises ConfigError for a shape that is not stated or is none."""
    path = Path(config.model.path).expanduser() / "config.json"
    source = str(path) if path.is_file() else "model.shape"
    try:
        values = json.loads(path.read_text()) if path.is_file() else config.model.shape
        shape = ModelShape.of_config(values)
    except KeyError as error:
        raise ConfigError(
            f"model.shape: {error.args[0]} is not stated for {config.model.name}; write it, or put the model in "
            f"{path.parent}"
        ) from error
    except (ValueError, TypeError, ArithmeticError) as error:
        raise ConfigError(
            f"{source}: not the config.json of a model ({error}); put the model in {path.parent}"
        ) from error
    sizes = [value for name, value in asdict(shape).items() if name != "is_tied"]
    if any(not isinstance(size, int) or size < 1 for size in sizes):
        raise ConfigError(f"{source}: expected whole numbers of at least 1, got {shape}")
    return shape


def refuse(config: RunConfig, shape: ModelShape, phases: Sequence[Phase]) -> None:
    """Raise ConfigError for what does not fit."""
    most = usable(config)
    for phase in phases:
        if phase.total > most:
            largest = max(phase.parts, key=lambda name: phase.parts[name])
            raise ConfigError(
                f"hardware={config.hardware.name}: {phase.name} needs {phase.total / GIB:.1f} GiB of one GPU's "
                f"{most / GIB:.1f} ({largest}: {phase.parts[largest] / GIB:.1f}); {_advice(config, phase)}"
            )
    has_engine = config.plan.job == "evaluate" or isinstance(config.algorithm, GrpoConfig)
    if has_engine and config.engine.kind == "vllm" and not config.engine.urls:
        _refuse_engine(config, shape)


def _refuse_engine(config: RunConfig, shape: ModelShape) -> None:
    engine, num_episodes = config.engine, _least_episodes(config)
    needed, reserved = sum(engine_parts(config, shape, num_episodes).values()), reserved_bytes(config, shape)
    if needed <= reserved:
        return
    key = f"engine.gpu_memory_utilization: {engine.gpu_memory_utilization} of {capacity(config) / GIB:g} GiB"
    if engine.kv_cache_mib is not None:
        weights = engine_weights(config, shape) / GIB
        key = f"engine.kv_cache_mib: {engine.kv_cache_mib} MiB and {weights:.1f} GiB of weights"
    raise ConfigError(
        f"{key} is {reserved / GIB:.1f}, but weights and the cache of {num_episodes} whole episodes take "
        f"{needed / GIB:.1f}; raise it, or lower engine.concurrency or model.max_context_tokens"
    )


def _least_episodes(config: RunConfig) -> int:
    """Evaluation promises its concurrency; in training an engine that is full lets requests wait."""
    return config.engine.concurrency if config.plan.job == "evaluate" else 1


def _advice(config: RunConfig, phase: Phase) -> str:
    """The keys that make a phase smaller, of those that are not used yet."""
    if phase.name == "rollout" and config.engine.kind == "hf":
        return "lower engine.concurrency or model.max_context_tokens, or write engine=vllm"
    if phase.name == "rollout":
        return "lower engine.gpu_memory_utilization, or spread the weights with hardware.strategy=fsdp on more GPUs"
    if phase.name == "decoding":
        return "lower engine.concurrency or model.max_context_tokens"
    if not config.algorithm.activation_checkpointing:
        return "write algorithm.activation_checkpointing=true, or lower model.max_context_tokens"
    is_budget = config.algorithm.micro_batch_tokens > config.model.max_context_tokens
    shorter = "lower algorithm.micro_batch_tokens" if is_budget else "lower model.max_context_tokens"
    smaller = "" if config.model.lora.rank else "write model.lora.rank=16, "
    return f"{shorter}, {smaller}or take more GPUs with hardware.strategy=fsdp"


def measured_lengths(folder: Path) -> list[int]:
    """Tokens of each whole episode of a run. Raises TableError for a folder without any."""
    path = folder / TRAJECTORIES
    if not path.is_file():
        raise TableError(f"plan.episodes: {path} does not exist; give the folder of a run with episodes")
    lengths = [
        sum(len(turn.context_ids) + len(turn.sampled_ids) for turn in episode.turns)
        for episode in read_trajectories(path)
    ]
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
    most = usable(config) / GIB
    for phase in phases:
        for name, size in phase.parts.items():
            table.add_row(phase.name, name, f"{size / GIB:.1f}")
        table.add_row(phase.name, f"together, of {most:.1f}", f"{phase.total / GIB:.1f}", end_section=True)
    console.print(table)


def _show_caps(console: Console, config: RunConfig, shape: ModelShape, lengths: Sequence[int]) -> None:
    table = Table(title="Episodes as one row of training", title_justify="left")
    table.add_column("cap, tokens", justify="right")
    table.add_column("memory")
    table.add_column("measured episodes within", justify="right")
    most = usable(config)
    for cap in sorted({*CAPS, config.model.max_context_tokens}):
        fits = all(phase.total <= most for phase in phases_of(config, shape, cap))
        share = f"{sum(length <= cap for length in lengths) / len(lengths):.1%}" if lengths else "-"
        table.add_row(f"{cap}", "fits" if fits else "does not fit", share)
    console.print(table)
    if not lengths:
        console.print("no measured lengths: plan.episodes=RUN reads them from a run with episodes")
