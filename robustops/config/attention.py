"""Whether the attention that training asks for can run on the hardware it asks for. Known without torch."""

from __future__ import annotations

import importlib.util

from robustops.config.tree import RunConfig
from robustops.core.errors import ConfigError

FLASH_ATTENTION = "flash_attention_2"


def check_attention(config: RunConfig) -> None:
    """Raise ConfigError for an attention that the hardware asked for cannot compute."""
    hardware = config.hardware
    if config.model.attn != FLASH_ATTENTION:
        return
    if not hardware.gpus:
        raise ConfigError(
            f"model.attn=flash_attention_2 runs on GPUs alone, hardware={hardware.name} has none; use model.attn=sdpa"
        )
    if hardware.precision != "bf16":
        raise ConfigError(
            f"model.attn=flash_attention_2 computes in bf16, got hardware.precision={hardware.precision}; "
            "write hardware.precision=bf16, or model.attn=sdpa"
        )


def check_flash_attention_is_there(config: RunConfig) -> None:
    """Raise ConfigError where the package that computes it is not installed."""
    if config.model.attn == FLASH_ATTENTION and importlib.util.find_spec("flash_attn") is None:
        raise ConfigError(
            "model.attn=flash_attention_2: the package flash-attn is not installed here; install it as its page says "
            "(pip install flash-attn --no-build-isolation), or use model.attn=sdpa"
        )
