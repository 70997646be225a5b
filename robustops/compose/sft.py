"""Masked SFT: demonstrations and a model folder become an exported model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import cast

import torch
from transformers import PreTrainedModel

from robustops.agent.vocabulary import vocabulary_sha256
from robustops.compose.progress import progress
from robustops.compose.provenance import provenance
from robustops.compose.scene import build_codec
from robustops.compose.tasks import open_task_set
from robustops.compose.trainer import COMPUTE, build_devices, build_logger, lora_of
from robustops.config import RunConfig, SftConfig
from robustops.config.preflight import model_folder, tokenizer_folder
from robustops.core.errors import ConfigError, TableError
from robustops.core.files import write_json
from robustops.core.listing import Header
from robustops.data.sft import SftSample, load_samples, refuse_foreign, samples_file
from robustops.learn import ranks
from robustops.learn.checkpoint import load_latest
from robustops.learn.export import export_model
from robustops.learn.fit import fit
from robustops.learn.lora import attach, merged_weights
from robustops.learn.model import Attention, load_model
from robustops.learn.sft import SftModule, SftSettings, WeightedTokens
from robustops.learn.shared_prefix import keep_apart

EXPORT = "export"


def train_sft(config: RunConfig, algorithm: SftConfig, folder: Path) -> None:
    source = model_folder(config.model)
    header, samples = read_demonstrations(config, algorithm)
    check_lengths(config, samples)
    train, monitored = set_apart(samples, algorithm.validation_size, config.seed)
    torch.manual_seed(config.seed)
    model = load_trained(config, algorithm, source)
    settings = SftSettings(
        epochs=algorithm.epochs,
        lr=algorithm.lr,
        batch_size=algorithm.batch_size,
        schedule="cosine" if algorithm.schedule == "cosine" else "constant",
        warmup_steps=algorithm.warmup_steps,
        max_grad_norm=algorithm.max_grad_norm,
        micro_batch_tokens=algorithm.micro_batch_tokens,
        seed=config.seed,
        compute=COMPUTE[config.hardware.precision],
        packing=algorithm.packing,
        spike_factor=algorithm.spike_factor,
    )
    with progress("SFT steps") as report:
        module = SftModule(model, train, monitored, settings, checkpoints=folder / "checkpoints", report=report)
        is_first = ranks.is_first()
        saved = load_latest(folder / "checkpoints")
        if saved is not None:
            saved.require("best_weights")
            if is_first:
                print(f"resuming after step {saved.step} of {module.num_steps}", flush=True)
            module.resume(saved.step, saved.state)
        if module.first_step < module.num_steps:
            logger = build_logger(config, folder) if is_first else None
            try:
                fit(module, devices=build_devices(config), logger=logger)
            except KeyboardInterrupt as error:
                raise KeyboardInterrupt(f"after step {module.saved_step} of {module.num_steps}") from error
    module.keep_best()
    weights = merged_weights(model)  # of all ranks, so all of them come here
    if not is_first:
        return
    export_model(model, folder / EXPORT, source=source, weights=weights)
    best = module.best_loss if math.isfinite(module.best_loss) else None  # None: nothing was monitored
    facts = {"stage": "sft", "model": config.model.name, "steps": module.num_steps, "monitoring_loss": best}
    spikes = f", {len(module.spikes)} spikes of the loss (spikes.jsonl)" if module.spikes else ""
    write_json(folder / "run.json", {**provenance(config), "demonstrations": header.sha256, **facts})
    print(
        f"{module.num_steps} steps on {len(train)} demonstrations, loss {module.last_loss:.4f}, "
        f"monitored {'nothing' if best is None else f'{best:.4f}'}{spikes}; {folder / EXPORT}",
        flush=True,
    )


def load_trained(config: RunConfig, algorithm: SftConfig, source: Path) -> PreTrainedModel:
    """Raises ConfigError for what this model cannot do."""
    model = load_model(
        source, attn=cast(Attention, config.model.attn), checkpoint_activations=algorithm.activation_checkpointing
    )
    if algorithm.packing and not keep_apart(model):
        raise ConfigError(
            "algorithm.packing: this model has layers whose attention is not over the full context, so packed "
            "demonstrations cannot be kept apart; write algorithm.packing=false"
        )
    if (lora := lora_of(config)) is not None:
        print(f"adapters: {attach(model, lora):,} parameters train", flush=True)
    return model


def read_demonstrations(config: RunConfig, algorithm: SftConfig) -> tuple[Header, tuple[SftSample, ...]]:
    """Raises TableError for a missing or broken file, ids of another tokenizer or another view of the tools, SplitError
    for demonstrations of another part than train or of another task set.
    """
    path = samples_file(Path(algorithm.demonstrations).expanduser().absolute())
    header, samples = load_samples(path)
    if not samples:
        raise TableError(f"{path}: no demonstration in it; collect again")
    split = open_task_set(config).split
    refuse_foreign(
        header,
        path,
        set_sha256=split.sha256,
        vocabulary_sha256=vocabulary_sha256(tokenizer_folder(config)),
        tool_view=config.model.tool_schema,
    )
    split.require([sample.source.partition("/")[2] for sample in samples], part="train")
    if ranks.is_first():
        print(f"{len(samples)} demonstrations of {path} ({header.source})", flush=True)
    return header, samples


def check_lengths(config: RunConfig, samples: Sequence[SftSample]) -> None:
    """Raise TableError for a demonstration that the model's context cannot hold, or ids its vocabulary lacks."""
    longest = max(samples, key=lambda sample: len(sample.token_ids))
    if len(longest.token_ids) > config.model.max_context_tokens:
        raise TableError(
            f"{longest.source}: {len(longest.token_ids)} tokens, but model.max_context_tokens is "
            f"{config.model.max_context_tokens}; raise it, or collect again under it"
        )
    highest = max(max(sample.token_ids) for sample in samples)
    if highest >= (size := build_codec(config).vocabulary_size):
        raise TableError(
            f"algorithm.demonstrations: token id {highest}, but {config.model.name} has {size} tokens; "
            "collect them with this model's tokenizer (model.path=...)"
        )


def set_apart(
    samples: Sequence[SftSample], wanted: int, seed: int
) -> tuple[list[WeightedTokens], list[WeightedTokens]]:
    """Training and monitoring demonstrations; at most a tenth is set apart."""
    num_monitored = min(wanted, len(samples) // 10)
    chosen = set(Random(f"{seed}/monitored").sample(range(len(samples)), num_monitored))
    made = [WeightedTokens(source=s.source, token_ids=s.token_ids, weights=s.weights) for s in samples]
    return [s for i, s in enumerate(made) if i not in chosen], [s for i, s in enumerate(made) if i in chosen]
