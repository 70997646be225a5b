"""The engine that training samples from: in this process, or a vLLM server here or elsewhere."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustops.agent.codec import Codec
from robustops.agent.vllm_process import VllmProcess
from robustops.agent.vllm_server import ServerOptions, ServerPolicy
from robustops.compose.hardware import is_served
from robustops.compose.policy import build_engine, vllm_options
from robustops.compose.run_id import run_id
from robustops.config import RunConfig
from robustops.config.preflight import model_folder


def weights_folder(config: RunConfig, folder: Path) -> Path:
    """This run's alone: others may share `engine.weights_folder`, and all name their copies by version."""
    shared = config.engine.weights_folder
    if shared is None:
        return folder / "engine-weights"
    return Path(shared).expanduser().absolute() / f"{folder.name}-{run_id(folder)}"


def drop_weights(config: RunConfig, folder: Path) -> None:
    """Weights on their way to servers, which a killed run leaves behind and a finished one needs no more."""
    shutil.rmtree(weights_folder(config, folder), ignore_errors=True)


def build_training_engine(config: RunConfig, codec: Codec, folder: Path) -> Any:
    """The engine of rollouts, on the first rank."""
    drop_weights(config, folder)
    settings = config.engine
    if not is_served(config):
        return build_engine(config, codec, can_sleep=True)
    options = ServerOptions(
        urls=tuple(settings.urls),
        model=settings.served_name,
        weights_folder=weights_folder(config, folder),
        patience_s=settings.server_patience_s,
    )
    if settings.urls:
        return ServerPolicy(options, stop_ids=codec.stop_ids, decode=codec.decode)
    sizes = vllm_options(config, can_sleep=True)
    log_file = folder / "vllm-server.log"
    process = VllmProcess(model_folder(config.model), sizes, name=options.model, log_file=log_file)
    options = replace(options, urls=(process.url,), can_sleep=sizes.can_sleep)
    return ServerPolicy(options, stop_ids=codec.stop_ids, decode=codec.decode, process=process)
