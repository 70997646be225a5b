"""Refuse hardware that is not here, before anything is loaded."""

from __future__ import annotations

import torch

from robustops.config import RunConfig
from robustops.config.preflight import too_few_gpus


def check_hardware(config: RunConfig) -> None:
    """Raise ConfigError where the hardware asked for is not visible; set the number of CPU threads."""
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if config.hardware.gpus > found:
        raise too_few_gpus(config.hardware, found=found)
    if config.hardware.threads is not None:
        torch.set_num_threads(config.hardware.threads)
