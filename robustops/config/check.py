"""From a composed configuration to plain objects, or one line that names key, value and what was expected.

Enters: what Hydra composed on the tree. Leaves: a `RunConfig` or `ServeConfig` whose values are all possible.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, cast, get_type_hints

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from robustops.config.tree import CollectConfig, GrpoConfig, RunConfig, ServeConfig, SftConfig
from robustops.core.errors import ConfigError

ALGORITHMS = {"grpo": GrpoConfig, "sft": SftConfig}

# key -> allowed values; everything here is a plain string in YAML
CHOICES: dict[str, tuple[str, ...]] = {
    "algorithm.on_underfill": ("smaller_batch", "skip", "raise"),
    "algorithm.schedule": ("constant", "cosine"),
    "collection.teacher": ("scripted", "api"),
    "do": ("tasks", "manifest", "labels", "graphs", "play", "export"),
    "engine.kind": ("vllm", "hf", "api", "scripted"),
    "fault_policy.name": ("none", "train", "heldout", "all", "stress", "ood"),
    "labels.kind": ("rules", "llm"),
    "graphs.kind": ("rules", "llm"),
    "gym.kind": ("embedded", "http", "docker", "udocker", "apptainer"),
    "hardware.precision": ("fp32", "bf16"),
    "hardware.strategy": ("auto", "ddp", "fsdp"),
    "logger.kind": ("csv", "tensorboard", "wandb"),
    "logger.mode": ("offline", "online"),
    "model.attn": ("sdpa", "flash_attention_2"),
    "model.dtype": ("float32", "bfloat16"),
    "model.stage": ("base", "sft", "rl", "teacher"),
    "model.tool_schema": ("full", "compact"),
    "plan.job": ("train", "evaluate"),
    "reward.progress": ("gated", "independent", "none"),
    "reward_norm.kind": ("component", "aggregate"),
    "reward_norm.quality_credit": ("temporal", "uniform"),
    "source.allocation": ("by_request", "test"),
    "source.kind": ("synthetic", "local", "hub", "agentrelbench"),
    "split.part": ("train", "val", "test"),
    "tool_mode.name": ("oracle", "plus5", "plus10", "plus15"),
}

FREE_FORM = ("fault_policy.caps", "gym.urls", "model.shape")  # mappings whose keys are data

SERVED = ("tools", "model", "expert")
SERVED_GYMS = ("embedded", "docker", "udocker", "apptainer")

# key -> the least value; keys of the other algorithm and empty values are passed over
LEAST: dict[str, int] = {
    "algorithm.batch_size": 1,
    "algorithm.clean_groups": 0,
    "algorithm.delay_steps": 0,
    "algorithm.epochs": 1,
    "algorithm.fault_groups": 0,
    "algorithm.group_size": 2,
    "algorithm.max_attempts": 1,
    "algorithm.micro_batch_tokens": 1,
    "algorithm.num_minibatches": 1,
    "algorithm.ppo_epochs": 1,
    "algorithm.steps": 1,
    "algorithm.validation_size": 0,
    "algorithm.warmup_steps": 0,
    "engine.concurrency": 1,
    "engine.max_tokens_per_turn": 1,
    "evaluation.attempts": 1,
    "evaluation.paraphrase": 0,
    "evaluation.supplement": 0,
    "evaluation.temperature": 0,
    "gym.max_consecutive_failures": 1,
    "gym.janitor_ttl_s": 60,
    "gym.pool": 1,
    "hardware.gpus": 0,
    "hardware.processes": 1,
    "hardware.threads": 1,
    "model.api.requests_per_minute": 1,
    "model.lora.alpha": 1,
    "model.lora.rank": 0,
    "labels.max_tokens": 1,
    "labels.max_tries": 1,
    "model.max_turns": 1,
    "model.reserve_tokens": 1,
    "source.max_mib": 1,
    "reward.length_weight": 0,
    "split.limit": 1,
}
POSITIVE = (
    *("algorithm.lr", "algorithm.max_grad_norm", "algorithm.spike_factor", "algorithm.temperature"),
    *("evaluation.supplement_temperature", "engine.kv_cache_mib", "engine.server_patience_s"),
    "engine.block_tokens",
    *("hardware.memory_gib", "hardware.tflops", "hardware.bandwidth_gb_s"),
)


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


def written_keys(node: DictConfig, prefix: str = "") -> Iterator[str]:
    """Every dotted key that a composed configuration holds."""
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
    else:
        check_serving(cast(ServeConfig, config))
    return cast(RunConfig | ServeConfig, config)


def check_values(config: RunConfig) -> None:
    """Raise ConfigError for a value outside its range, naming key, value and range."""
    for key, allowed in CHOICES.items():
        value = _value(config, key)
        if value is not None and value not in allowed:
            raise ConfigError(f"{key}: got {value!r}, expected one of {', '.join(allowed)}.{nearest(value, allowed)}")
    for key, least in LEAST.items():
        value = _value(config, key)
        if value is not None and value < least:
            raise ConfigError(f"{key}: got {value}, expected at least {least}")
    for key in POSITIVE:
        value = _value(config, key)
        if value is not None and not value > 0:
            raise ConfigError(f"{key}: got {value}, expected more than 0")
    weights, model, algorithm = config.reward.weights, config.model, config.algorithm
    if len(weights) != 3 or min(weights) < 0:
        raise ConfigError(f"reward.weights: got {weights}, expected 3 numbers (S, P, Q), none of them negative")
    if model.reserve_tokens >= model.max_context_tokens:
        raise ConfigError(
            f"model.reserve_tokens: got {model.reserve_tokens}, expected less than model.max_context_tokens "
            f"({model.max_context_tokens})"
        )
    if model.lora.rank and not model.lora.targets:
        raise ConfigError("model.lora.targets: got no layer for model.lora.rank; name some, as q_proj")
    if not 0 <= model.lora.dropout < 1:
        raise ConfigError(f"model.lora.dropout: got {model.lora.dropout}, expected 0 or more and less than 1")
    if isinstance(algorithm, GrpoConfig) and model.lora.rank and model.lora.dropout:
        raise ConfigError(
            f"model.lora.dropout: got {model.lora.dropout} with algorithm=grpo, whose logprobs must be those of the "
            "engine, which drops nothing; write model.lora.dropout=0"
        )
    intensity = config.fault_policy.intensity
    if intensity is not None and not 0 <= intensity <= 1:
        raise ConfigError(f"fault_policy.intensity: got {intensity}, expected 0 to 1")
    if isinstance(algorithm, GrpoConfig) and not algorithm.clean_groups + algorithm.fault_groups:
        raise ConfigError("algorithm.clean_groups and algorithm.fault_groups: got 0 and 0, expected one group or more")
    check_engine(config)
    check_collection(config.collection)


def check_engine(config: RunConfig) -> None:
    engine = config.engine
    check_share("engine.gpu_memory_utilization", engine.gpu_memory_utilization)
    if strange := [url for url in engine.urls if not url.startswith(("http://", "https://"))]:
        raise ConfigError(f"engine.urls: got {strange[0]!r}, expected http://HOST:PORT")
    patience_s, episode_s = engine.server_patience_s, config.gym.timeouts.episode_s
    if engine.urls and patience_s >= episode_s:
        raise ConfigError(
            f"engine.server_patience_s: got {patience_s:g}, expected less than gym.timeouts.episode_s ({episode_s:g}), "
            "or episodes would end by their deadline, as if the policy had been slow"
        )
    if engine.urls and engine.kind != "vllm":
        raise ConfigError(f"engine.urls: of vLLM servers, got engine.kind={engine.kind}; write engine=vllm")
    if engine.compiled and engine.kind != "vllm":
        raise ConfigError(f"engine.compiled=true: got engine.kind={engine.kind}, which is not compiled; leave it out")
    if engine.compiled and engine.urls:
        raise ConfigError(
            "engine.compiled=true: the servers of engine.urls are compiled or not as they were started; leave it out, "
            "and start them with `python -m robustops.serve do=model compiled=true`"
        )
    if engine.deterministic and config.gym.kind != "embedded":
        raise ConfigError(
            f"engine.deterministic=true: gym={config.gym.kind} answers at times of its own, so turns cannot be "
            "gathered in a fixed order; use gym=embedded, or leave it out"
        )


def check_collection(wanted: CollectConfig) -> None:
    if not 0 <= wanted.fault_share <= 1:
        raise ConfigError(f"collection.fault_share: got {wanted.fault_share}, expected 0 to 1")
    check_share("collection.task_share", wanted.task_share)
    if wanted.retry_temperature is not None and wanted.retry_temperature <= 0:
        got = wanted.retry_temperature
        raise ConfigError(f"collection.retry_temperature: got {got}, expected more than 0, or null")
    known = ("hf", "verl", "nemo_gym", "atif")
    if unknown := [name for name in wanted.formats if name not in known]:
        raise ConfigError(
            f"collection.formats: got {unknown[0]!r}, expected some of {', '.join(known)}.{nearest(unknown[0], known)}"
        )


def check_share(key: str, value: float) -> None:
    if not 0 < value <= 1:
        raise ConfigError(f"{key}: got {value}, expected more than 0 and at most 1")


def check_serving(config: ServeConfig) -> None:
    """Raise ConfigError for a value outside its range, naming key, value and range."""
    kind = config.gym.kind
    for key, value, allowed in (("do", config.do, SERVED), ("gym.kind", kind, SERVED_GYMS)):
        if value not in allowed:
            raise ConfigError(f"{key}: got {value!r}, expected one of {', '.join(allowed)}.{nearest(value, allowed)}")
    sizes = ("concurrency", "kv_cache_mib", "block_tokens", "model.max_context_tokens")
    for key in ("max_databases", "restart_after", *sizes):
        number = _value(config, key)
        if number is not None and number < 1:
            raise ConfigError(f"{key}: got {number}, expected at least 1")
    for key, seconds in (("max_idle_s", config.max_idle_s), ("start_timeout_s", config.start_timeout_s)):
        if not seconds > 0:
            raise ConfigError(f"{key}: got {seconds}, expected more than 0")
    for key, choices in CHOICES.items():
        if key.startswith("model.") and (value := _value(config, key)) not in choices:
            raise ConfigError(f"{key}: got {value!r}, expected one of {', '.join(choices)}.{nearest(value, choices)}")
    if config.port is not None and not 0 <= config.port < 2**16:
        raise ConfigError(f"port: got {config.port}, expected 0 to 65535")
    check_share("gpu_memory_utilization", config.gpu_memory_utilization)
    if not config.served_name:
        raise ConfigError("served_name: got nothing, expected what clients call the model")
    if config.dry_run and config.do == "tools" and kind == "embedded":
        raise ConfigError("dry_run=true: gym=embedded starts no container; write gym=docker, udocker or apptainer")


def _value(config: RunConfig | ServeConfig, key: str) -> Any:
    """None where the chosen algorithm has no such key."""
    found: Any = config
    for name in key.split("."):
        found = getattr(found, name, None)
    return found
