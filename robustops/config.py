"""The typed configuration tree: what may be written in YAML, with types, units and defaults.

YAML holds choices (`conf/`), these classes hold shape. Enters: what Hydra composed on them. Leaves: one `RunConfig`.
Config objects stop at `compose`: no component below takes one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, cast, get_type_hints

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from robustops.core.errors import ConfigError

REQUIRED: Any = "???"  # OmegaConf's word for a value that must be given


@dataclass
class GrpoConfig:
    """Group-relative policy optimisation (docs/algorithms.md)."""

    name: str = "grpo"
    steps: int = 120
    lr: float = 1e-6
    kl_coef: float = 0.001
    group_size: int = 4
    clean_groups: int = 16
    fault_groups: int = 16
    delay_steps: int = 10  # RL steps before a case without signal may return
    delayed_return: bool = True
    temperature: float = 1.0
    ppo_epochs: int = 1
    clip_low: float = 0.2
    clip_high: float = 0.28
    tis_cap: float | None = 2.0  # None: no importance weight between engine and trainer
    on_underfill: str = "smaller_batch"  # smaller_batch | skip | raise
    max_attempts: int = 4  # refills of one slot within a step
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    local_credit: bool = True


@dataclass
class SftConfig:
    """Masked supervised fine-tuning on demonstrations."""

    name: str = "sft"
    demonstrations: str = REQUIRED  # path of an exported SFT file, or a collect run folder
    epochs: int = 3
    lr: float = 3e-6
    batch_size: int = 8  # trajectories in one optimiser step
    schedule: str = "constant"  # constant | cosine
    warmup_steps: int = 0
    max_grad_norm: float = 1.0
    micro_batch_tokens: int = 16384
    validation_size: int = 64  # demonstrations set apart for the monitoring loss
    activation_checkpointing: bool = False


@dataclass
class ApiConfig:
    """An OpenAI-compatible endpoint. The key is read from the environment variable `key_env`, never from a file."""

    base_url: str = ""
    model: str = ""
    key_env: str = ""
    usd_per_million_input: float = 0.0
    usd_per_million_output: float = 0.0
    concurrency: int = 8


@dataclass
class ModelConfig:
    name: str = REQUIRED
    stage: str = "base"  # base | sft | rl | teacher: the row's place in a report
    path: str = REQUIRED  # a Hugging Face model folder
    revision: str | None = None
    tokenizer_path: str | None = None  # where it is not the model's own: API models are counted with Base's
    attn: str = "sdpa"  # sdpa | flash_attention_2
    dtype: str = "bfloat16"  # compute type; master weights are always float32
    max_context_tokens: int = 32768
    reserve_tokens: int = 2048
    max_turns: int = 40
    tool_schema: str = "full"  # full | compact
    api: ApiConfig = field(default_factory=ApiConfig)


@dataclass
class SplitConfig:
    name: str = "synthetic"
    part: str = "train"  # train | val | test
    limit: int | None = None  # a seeded sample stratified by domain, never the first N
    root: str = REQUIRED  # folder of the task set
    domains: list[str] = field(default_factory=lambda: ["csm"])
    num_train: int = 1200
    num_val: int = 60
    num_test: int = 240
    generator_seed: int = 7


@dataclass
class ToolModeConfig:
    name: str = "oracle"  # oracle | plus5 | plus10 | plus15
    distractors: int = 0


@dataclass
class FaultPolicyConfig:
    name: str = "train"  # none | train | heldout | all
    subtypes: list[str] | None = None  # fewer than the policy allows; None: all of them
    manifest: str | None = None  # a frozen assignment, for evaluation
    caps: dict[str, list[int]] = field(default_factory=dict)  # subtype: [least, most] repetitions


@dataclass
class RewardConfig:
    weights: list[float] = field(default_factory=lambda: [1.0, 0.3, 0.1])  # S, P, Q
    progress: str = "gated"  # gated | independent | none


@dataclass
class RewardNormConfig:
    kind: str = "component"  # component | aggregate
    quality_credit: str = "temporal"  # temporal | uniform


@dataclass
class TimeoutsConfig:
    call_s: float = 30.0  # one tool call
    seed_s: float = 1200.0  # loading one seed database
    episode_s: float = 1800.0


@dataclass
class GymConfig:
    kind: str = "embedded"  # embedded | http
    urls: dict[str, str] = field(default_factory=dict)  # server name: base URL
    pool: int = 32  # connections to one server
    timeouts: TimeoutsConfig = field(default_factory=TimeoutsConfig)
    max_consecutive_failures: int = 16  # failed episodes in a row that end a run


@dataclass
class EngineConfig:
    kind: str = "vllm"  # vllm | hf | api | scripted
    deterministic: bool = False
    max_probe_diff: float = 1e-3  # nats; engine against trainer after each weight update
    max_tokens_per_turn: int = 2048
    concurrency: int = 32  # episodes in flight
    gpu_memory_utilization: float = 0.45
    kv_cache_mib: int | None = None  # None: by gpu_memory_utilization


@dataclass
class HardwareConfig:
    name: str = "cpu"
    gpus: int = 0
    precision: str = "fp32"  # fp32 | bf16: compute type of the trainer
    strategy: str = "auto"
    threads: int | None = None


@dataclass
class LoggerConfig:
    kind: str = "csv"  # csv | tensorboard | wandb
    project: str = "robustops"
    mode: str = "offline"


@dataclass
class RunFolderConfig:
    name: str = REQUIRED
    dir: str = REQUIRED  # the same folder given again resumes the run in it


@dataclass
class EvaluationConfig:
    conditions: list[str] = field(default_factory=lambda: ["clean", "fault"])
    attempts: int = 1
    temperature: float = 0.0


@dataclass
class CollectConfig:
    teacher: str = "scripted"  # scripted: the expert plans; api: model.api
    fault_share: float = 0.5  # continuations after a fault, as a share of all demonstrations


@dataclass
class ServeConfig:
    """What `python -m robustops.serve` serves. A domain's container listens on its public port; `port` overrides it."""

    domain: str = "csm"  # a domain's name, or all
    host: str = "127.0.0.1"
    port: int | None = None
    port_offset: int = 0  # added to every public port when domain=all
    max_databases: int = 512


@dataclass
class RunConfig:
    """Everything one run depends on."""

    algorithm: Any = REQUIRED  # GrpoConfig | SftConfig, by the group's choice
    model: ModelConfig = field(default_factory=ModelConfig)
    split: SplitConfig = field(default_factory=SplitConfig)
    tool_mode: ToolModeConfig = field(default_factory=ToolModeConfig)
    fault_policy: FaultPolicyConfig = field(default_factory=FaultPolicyConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    reward_norm: RewardNormConfig = field(default_factory=RewardNormConfig)
    gym: GymConfig = field(default_factory=GymConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    hardware: HardwareConfig = field(default_factory=HardwareConfig)
    logger: LoggerConfig = field(default_factory=LoggerConfig)
    run: RunFolderConfig = field(default_factory=RunFolderConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    collection: CollectConfig = field(default_factory=CollectConfig)
    do: str = "tasks"  # prepare: tasks | manifest
    seed: int = 0


ALGORITHMS = {"grpo": GrpoConfig, "sft": SftConfig}

# key -> allowed values; everything here is a plain string in YAML
CHOICES: dict[str, tuple[str, ...]] = {
    "algorithm.on_underfill": ("smaller_batch", "skip", "raise"),
    "algorithm.schedule": ("constant", "cosine"),
    "collection.teacher": ("scripted", "api"),
    "do": ("tasks", "manifest"),
    "engine.kind": ("vllm", "hf", "api", "scripted"),
    "fault_policy.name": ("none", "train", "heldout", "all"),
    "gym.kind": ("embedded", "http"),
    "hardware.precision": ("fp32", "bf16"),
    "logger.kind": ("csv", "tensorboard", "wandb"),
    "model.attn": ("sdpa", "flash_attention_2"),
    "model.dtype": ("float32", "bfloat16"),
    "model.stage": ("base", "sft", "rl", "teacher"),
    "model.tool_schema": ("full", "compact"),
    "reward.progress": ("gated", "independent", "none"),
    "reward_norm.kind": ("component", "aggregate"),
    "reward_norm.quality_credit": ("temporal", "uniform"),
    "split.part": ("train", "val", "test"),
    "tool_mode.name": ("oracle", "plus5", "plus10", "plus15"),
}


def nearest(word: str, names: Iterable[str]) -> str:
    """` Did you mean 'x'?`, or nothing when no name is close."""
    close = difflib.get_close_matches(word, list(names), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


def known_keys(cls: type = RunConfig, prefix: str = "") -> Iterator[str]:
    """Every dotted key that a configuration may hold."""
    hints = get_type_hints(cls)
    for item in fields(cls):
        key = f"{prefix}{item.name}"
        yield key
        if is_dataclass(hints[item.name]):
            yield from known_keys(hints[item.name], f"{key}.")
        elif key == "algorithm":
            for algorithm in ALGORITHMS.values():
                yield from known_keys(algorithm, "algorithm.")


def register() -> None:
    """Make the tree known to Hydra: every key can be overridden, every value is checked as it is composed."""
    store = ConfigStore.instance()
    store.store(group="schema", name="run", node=RunConfig)
    store.store(group="schema", name="serve", node=ServeConfig)
    for name, algorithm in ALGORITHMS.items():
        store.store(group="schema", name=name, node=algorithm)


FREE_FORM = ("fault_policy.caps", "gym.urls")  # mappings whose keys are data


def written_keys(node: DictConfig, prefix: str = "") -> Iterator[str]:
    for name in node:
        key = f"{prefix}{name!s}"
        yield key
        child = node._get_node(name)
        if isinstance(child, DictConfig) and not child._is_missing() and key not in FREE_FORM:
            yield from written_keys(child, f"{key}.")


def typed(composed: DictConfig) -> RunConfig | ServeConfig:
    """Turn a composed configuration into plain objects.

    Raises ConfigError: an unknown key (with the nearest known one), a missing value, an impossible value.
    """
    root = OmegaConf.get_type(composed)
    if root not in (RunConfig, ServeConfig):
        raise ConfigError("the configuration is not built on a schema; start its defaults with `- schema/run@_here_`")
    known = set(known_keys(root))
    for key in written_keys(composed):
        if key not in known:
            raise ConfigError(f"unknown key {key!r}.{nearest(key, known)}")
    try:
        config = OmegaConf.to_object(composed)
    except MissingMandatoryValue as error:
        raise ConfigError(f"{error.full_key}: no value; write {error.full_key}=... on the command line") from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key}: {str(error.msg or error).splitlines()[0]}") from error
    if isinstance(config, RunConfig):
        check_values(config)
    return cast(RunConfig | ServeConfig, config)


def check_values(config: RunConfig) -> None:
    """Raise ConfigError for a value outside its range, naming key, value and range."""
    for key, allowed in CHOICES.items():
        *group, name = key.split(".")
        value = getattr(getattr(config, group[0]) if group else config, name, None)
        if value is not None and value not in allowed:
            raise ConfigError(f"{key}: got {value!r}, expected one of {', '.join(allowed)}.{nearest(value, allowed)}")
    if len(config.reward.weights) != 3:
        raise ConfigError(f"reward.weights: got {len(config.reward.weights)} numbers, expected 3 (S, P, Q)")
    positive = {
        "model.max_context_tokens - model.reserve_tokens": config.model.max_context_tokens
        - config.model.reserve_tokens,
        "engine.concurrency": config.engine.concurrency,
        "algorithm.lr": config.algorithm.lr,
    }
    if isinstance(config.algorithm, GrpoConfig):
        positive["algorithm.clean_groups + fault_groups"] = (
            config.algorithm.clean_groups + config.algorithm.fault_groups
        )
        positive["algorithm.group_size - 1"] = config.algorithm.group_size - 1
        positive["algorithm.temperature"] = config.algorithm.temperature
    for key, number in positive.items():
        if not number > 0:
            raise ConfigError(f"{key}: got {number}, expected more than 0")
