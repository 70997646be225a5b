"""Refuse hardware that is not here, before anything is loaded."""

from __future__ import annotations

import torch

from robustops.config import GrpoConfig, RunConfig
from robustops.config.preflight import too_few_gpus
from robustops.core.errors import ConfigError


def check_ranks(config: RunConfig) -> None:
    """Raise ConfigError for training on several ranks that would not be that of one."""
    hardware = config.hardware
    num_ranks = hardware.gpus or hardware.processes
    if num_ranks == 1:
        return
    is_rl = isinstance(config.algorithm, GrpoConfig)
    if is_rl and config.engine.kind == "vllm" and not hardware.gpus and not config.engine.urls:
        raise ConfigError(
            f"hardware.processes: got {num_ranks} with engine=vllm; a vLLM server on the CPU keeps the old head of "
            "tied embeddings, so write engine=hf"
        )


def check_hardware(config: RunConfig) -> None:
    """Raise ConfigError where the hardware asked for is not visible; set the number of CPU threads."""
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if config.hardware.gpus > found:
        raise too_few_gpus(config.hardware, found=found)
    if config.hardware.threads is not None:
        torch.set_num_threads(config.hardware.threads)
