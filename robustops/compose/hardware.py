"""Refuse hardware that is not here, before anything is loaded."""

from __future__ import annotations

import torch

from robustops.config import GrpoConfig, RunConfig
from robustops.config.preflight import LOCAL_ENGINES, too_few_gpus
from robustops.core.errors import ConfigError


def check_engine(config: RunConfig) -> None:
    """Raise ConfigError for RL from an engine whose tokens cannot be trained on, or cannot be the same again."""
    if not isinstance(config.algorithm, GrpoConfig):
        return
    if config.engine.kind not in LOCAL_ENGINES:
        raise ConfigError(f"engine.kind: got {config.engine.kind!r}; training needs the sampled tokens of vllm or hf")
    if config.engine.deterministic and is_served(config):
        raise ConfigError(
            "engine.deterministic=true: a vLLM server, elsewhere or of several ranks, batches requests as they come; "
            "write engine=hf, train in one process, or leave it out"
        )


def is_served(config: RunConfig) -> bool:
    """Whether rollouts come from vLLM servers. With several ranks they do: vLLM's process group is its own."""
    num_ranks = config.hardware.gpus or config.hardware.processes
    return config.engine.kind == "vllm" and (bool(config.engine.urls) or num_ranks > 1)


def check_hardware(config: RunConfig) -> None:
    """Raise ConfigError where the hardware asked for is not visible; set the number of CPU threads."""
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if config.hardware.gpus > found:
        raise too_few_gpus(config.hardware, found=found)
    if config.hardware.threads is not None:
        torch.set_num_threads(config.hardware.threads)
