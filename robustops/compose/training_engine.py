"""The engine that training samples from: in this process, or a vLLM server here or elsewhere."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustops.agent.codec import Codec
from robustops.agent.vllm_process import SERVED_NAME, VllmProcess
from robustops.agent.vllm_server import ServerOptions, ServerPolicy
from robustops.compose.hardware import is_served
from robustops.compose.policy import build_engine, vllm_options
from robustops.config import RunConfig
from robustops.config.preflight import model_folder

WEIGHTS = "engine-weights"


def drop_weights(folder: Path) -> None:
    """Weights on their way to servers, which a killed run leaves behind and a finished one needs no more."""
    shutil.rmtree(folder / WEIGHTS, ignore_errors=True)


def build_training_engine(config: RunConfig, codec: Codec, folder: Path) -> Any:
    """The engine of rollouts, on the first rank."""
    drop_weights(folder)
    settings, weights = config.engine, Path(config.engine.weights_folder or folder / WEIGHTS)
    if not is_served(config):
        return build_engine(config, codec, can_sleep=True)
    options = ServerOptions(
        urls=tuple(settings.urls),
        model=settings.served_name,
        weights_folder=weights.expanduser().absolute(),
        patience_s=settings.server_patience_s,
    )
    if settings.urls:
        return ServerPolicy(options, stop_ids=codec.stop_ids, decode=codec.decode)
    sizes = vllm_options(config, can_sleep=True)
    process = VllmProcess(model_folder(config.model), sizes, log_file=folder / "vllm-server.log")
    options = replace(options, urls=(process.url,), model=SERVED_NAME, can_sleep=sizes.can_sleep)
    return ServerPolicy(options, stop_ids=codec.stop_ids, decode=codec.decode, process=process)
