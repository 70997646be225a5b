"""Refuse hardware that is not here, before anything is loaded."""

from __future__ import annotations

import torch

from robustops.config import RunConfig
from robustops.core.errors import ConfigError


def check_one_process(config: RunConfig) -> None:
    """Raise ConfigError for training on several GPUs: gradients would not be the mean over their processes."""
    if config.hardware.gpus > 1:
        raise ConfigError(
            f"hardware={config.hardware.name} has {config.hardware.gpus} GPUs, and training runs in one process so "
            "far; write hardware.gpus=1 hardware.strategy=auto"
        )


def check_hardware(config: RunConfig) -> None:
    """Raise ConfigError where the hardware asked for is not visible; set the number of CPU threads."""
    wanted = config.hardware.gpus
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if wanted > found:
        raise ConfigError(
            f"hardware={config.hardware.name} wants {wanted} GPU{'s' if wanted > 1 else ''}, {found} visible here; "
            "use hardware=cpu, or check CUDA_VISIBLE_DEVICES"
        )
    if config.hardware.threads is not None:
        torch.set_num_threads(config.hardware.threads)
