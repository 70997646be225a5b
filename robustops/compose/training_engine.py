"""The engine that training samples from: in this process, or a vLLM server here or elsewhere."""

from __future__ import annotations

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


def build_training_engine(config: RunConfig, codec: Codec, folder: Path) -> Any:
    """The engine of rollouts, on the first rank."""
    settings, weights = config.engine, Path(config.engine.weights_folder or folder / "engine-weights")
    if not is_served(config):
        return build_engine(config, codec, can_sleep=True)
    options = ServerOptions(
        urls=tuple(settings.urls), model=settings.served_name, weights_folder=weights.expanduser().absolute()
    )
    if settings.urls:
        return ServerPolicy(options, stop_ids=codec.stop_ids, decode=codec.decode)
    sizes = vllm_options(config, can_sleep=True)
    process = VllmProcess(model_folder(config.model), sizes, log_file=folder / "vllm-server.log")
    options = replace(options, urls=(process.url,), model=SERVED_NAME, can_sleep=sizes.can_sleep)
    return ServerPolicy(options, stop_ids=codec.stop_ids, decode=codec.decode, process=process)
