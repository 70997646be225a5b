"""GRPO: an SFT model, a gym and an engine become a model trained on its own episodes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any, cast

import torch

from robustops.agent.policy import Policy
from robustops.compose.advantage_log import AdvantageLog
from robustops.compose.episode_table import episode_table
from robustops.compose.fault_policy import build_training_scheduler
from robustops.compose.progress import progress
from robustops.compose.provenance import about
from robustops.compose.run_identity import identity_of, weights_of
from robustops.compose.scene import Scene, build_scene, limits_of
from robustops.compose.sft import EXPORT
from robustops.compose.trainer import COMPUTE, build_devices, build_logger, lora_of
from robustops.compose.training_engine import build_training_engine, drop_weights
from robustops.config import GrpoConfig, RunConfig
from robustops.config.preflight import model_folder
from robustops.core.episode import EpisodeGroup
from robustops.core.errors import ConfigError
from robustops.learn import ranks
from robustops.learn.advantage import NormKind
from robustops.learn.batch import CreditRules
from robustops.learn.callbacks import Report, RlSettings, RolloutCallback, Show
from robustops.learn.collection import Record
from robustops.learn.credit import CallTags, QualityCredit
from robustops.learn.export import export_model
from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.lora import attach, merged_weights
from robustops.learn.loss import PolicyLoss
from robustops.learn.model import Attention, load_model
from robustops.learn.rl_run import run_grpo
from robustops.learn.sampler import Sampler, SamplerSettings, Underfill
from robustops.learn.slot import Slot
from robustops.learn.sync import Probe
from robustops.rollout.groups import GroupCollector, Outcome
from robustops.rollout.rows import RunIdentity
from robustops.rollout.score import ProgressKind
from robustops.rollout.training_log import TrainingLog

NUM_PROBES = 2  # and no fewer than there are servers, each of which answers one


def train_rl(config: RunConfig, algorithm: GrpoConfig, folder: Path) -> None:
    if algorithm.fault_groups and config.fault_policy.name == "none":
        raise ConfigError("fault_policy=none has no fault for algorithm.fault_groups; set algorithm.fault_groups=0")
    source = model_folder(config.model)
    scene = build_scene(config, "train")
    probe = build_probe(scene)
    module = build_module(config, algorithm, source)
    log = TrainingLog(folder, training_identity(config, folder)) if ranks.is_first() else None
    # last of what can fail: it may be a process of its own
    engine = build_training_engine(config, scene.codec, folder) if ranks.is_first() else None

    def record(slot: Slot, outcome: Outcome) -> None:
        if log is not None and isinstance(outcome, EpisodeGroup):
            log.add(slot.step, slot.slot_id, outcome)

    with progress("RL steps", every_note=True) as report, closing(engine, scene, folder):
        logger = build_logger(config, folder) if ranks.is_first() else None
        show = episode_table(logger, weights_of(config))
        callback = build_callback(
            scene, algorithm, engine, probe, folder, record, report if ranks.is_first() else None, show=show
        )
        run_grpo(
            module,
            callback,
            folder=folder / "checkpoints",
            steps=algorithm.steps,
            devices=build_devices(config),
            logger=logger,
        )
    weights = merged_weights(module.model)  # of all ranks, so all of them come here
    if log is None:
        return
    export_model(module.model, folder / EXPORT, source=source, weights=weights)
    rows = log.finish(scene.tasks, about=about(config, scene.task_set))
    print(f"{algorithm.steps} RL steps, {len(rows)} episodes; {folder / EXPORT}", flush=True)


def training_identity(config: RunConfig, folder: Path) -> RunIdentity:
    return identity_of(config, folder, model=config.model.name, stage="rl", split="train", policy_mode="sampled")


@contextmanager
def closing(engine: Any, scene: Scene, folder: Path) -> Iterator[None]:
    """A later job of the same process starts an engine and connections of its own."""

    async def close() -> None:
        if engine is not None:
            await engine.close()
            drop_weights(scene.config, folder)
        await scene.close()

    try:
        yield
    finally:
        asyncio.run(close())


def build_module(config: RunConfig, algorithm: GrpoConfig, source: Path) -> GrpoModule:
    attn = cast(Attention, config.model.attn)
    torch.manual_seed(config.seed)
    settings = GrpoSettings(
        lr=algorithm.lr,
        loss=PolicyLoss(
            clip_low=algorithm.clip_low,
            clip_high=algorithm.clip_high,
            kl_coef=algorithm.kl_coef,
            tis_cap=algorithm.tis_cap,
        ),
        temperature=algorithm.temperature,
        ppo_epochs=algorithm.ppo_epochs,
        num_minibatches=algorithm.num_minibatches,
        max_grad_norm=algorithm.max_grad_norm,
        micro_batch_tokens=algorithm.micro_batch_tokens,
        share_prefix=algorithm.share_prefix,
        compute=COMPUTE[config.hardware.precision],
        seed=config.seed,
    )
    reference = load_model(source, attn=attn) if algorithm.kl_coef else None
    model = load_model(source, attn=attn, checkpoint_activations=algorithm.activation_checkpointing)
    if (lora := lora_of(config)) is not None:
        attach(model, lora)
    return GrpoModule(model, reference, settings)


def build_callback(
    scene: Scene,
    algorithm: GrpoConfig,
    engine: Any,
    probe: Probe,
    folder: Path,
    record: Record,
    report: Report | None,
    *,
    show: Show | None = None,
) -> RolloutCallback:
    config = scene.config
    scheduler = build_training_scheduler(config)
    collector = GroupCollector(
        scene.setup(cast(Policy, engine), temperature=algorithm.temperature),
        scene.tasks,
        scheduler,
        group_size=algorithm.group_size,
        concurrency=max(1, config.engine.concurrency // algorithm.group_size),
        max_failures=config.gym.max_consecutive_failures,
    )
    return RolloutCallback(
        policy=engine,
        sampler=build_sampler(config, algorithm, curriculum_of(config, list(scene.tasks))),
        collector=collector,
        rules=credit_rules(config, algorithm),
        tags=CallTags(open_id=scene.codec.call_open_id, close_id=scene.codec.call_close_id),
        probe=probe,
        folder=folder / "checkpoints",
        settings=RlSettings(
            steps=algorithm.steps, is_deterministic=config.engine.deterministic, played_as=played_as(config, algorithm)
        ),
        scheduler=scheduler,
        record=record,
        report=report,
        show=show,
        on_batch=AdvantageLog(folder, scene.codec.decode).add,
    )


def played_as(config: RunConfig, algorithm: GrpoConfig) -> str:
    """What a group is played by beside weights, tasks and faults."""
    limits = limits_of(config)
    return (
        f"temperature {algorithm.temperature:g}, {algorithm.group_size} a group, {limits.max_turns} turns of "
        f"{limits.max_tokens_per_turn} tokens, {limits.max_context_tokens} less {limits.reserve_tokens} in all"
    )


def build_sampler(config: RunConfig, algorithm: GrpoConfig, task_ids: Sequence[str]) -> Sampler:
    settings = SamplerSettings(
        clean_groups=algorithm.clean_groups,
        fault_groups=algorithm.fault_groups,
        group_size=algorithm.group_size,
        delay_steps=algorithm.delay_steps,
        delayed_return=algorithm.delayed_return,
        max_attempts=algorithm.max_attempts,
        is_shuffled=config.split.curriculum is None,
        on_underfill=cast(Underfill, algorithm.on_underfill),
        seed=config.seed,
    )
    norm = cast(NormKind, config.reward_norm.kind)
    return Sampler({"clean": task_ids, "fault": task_ids}, settings, weights=weights_of(config), norm=norm)


def credit_rules(config: RunConfig, algorithm: GrpoConfig) -> CreditRules:
    return CreditRules(
        weights=weights_of(config),
        progress=cast(ProgressKind, config.reward.progress),
        norm=cast(NormKind, config.reward_norm.kind),
        quality_credit=cast(QualityCredit, config.reward_norm.quality_credit),
        local_credit=algorithm.local_credit,
        length_weight=config.reward.length_weight,
    )


def curriculum_of(config: RunConfig, known: Sequence[str]) -> list[str]:
    """The tasks to draw, in the order of `split.curriculum` where there is one; a line after # is a remark.

    Raises ConfigError for a file that is missing or empty, and for an id that is unknown or comes twice.
    """
    if config.split.curriculum is None:
        return list(known)
    path = Path(config.split.curriculum).expanduser().absolute()
    if not path.is_file():
        raise ConfigError(f"split.curriculum: {path} does not exist; give a file of task ids, one a line")
    wanted = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    wanted = [task_id for task_id in wanted if task_id]
    unknown = next((task_id for task_id in wanted if task_id not in set(known)), None)
    if unknown is not None:
        raise ConfigError(f"split.curriculum: {path}: {unknown!r} is not among the {len(known)} training tasks")
    if not wanted or len(set(wanted)) < len(wanted):
        raise ConfigError(f"split.curriculum: {path}: {len(wanted)} ids, {len(set(wanted))} of them different")
    return wanted


def build_probe(scene: Scene) -> Probe:
    """The openings of a few training tasks: what rollouts really start from.

    Raises ConfigError for one that is no longer than a cache block: from such a probe a stale cache would be hidden.
    """
    num = max(NUM_PROBES, len(scene.config.engine.urls))
    tasks = islice(cycle(scene.tasks.values()), num)
    prompts = tuple(tuple(scene.codec.start(task, ()).token_ids) for task in tasks)
    block, shortest = scene.config.engine.block_tokens, min(map(len, prompts))
    if block is not None and shortest <= block:
        raise ConfigError(
            f"engine.block_tokens: the prompts that prove new weights must be longer than a cache block, "
            f"got {block} for a prompt of {shortest} tokens; set at most {shortest - 1}"
        )
    return Probe(prompts=prompts, max_diff_nats=scene.config.engine.max_probe_diff)
