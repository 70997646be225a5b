"""Serve until interrupted: domains over the container protocol, a model by vLLM, or the expert as a chat endpoint."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shlex
import signal
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from robustops.agent.vllm_options import check_compiler
from robustops.agent.vllm_process import serve_command, server_environment
from robustops.compose.environment import own_temporary_folder, secret_of, tool_snapshots
from robustops.compose.vllm_sizes import vllm_sizes
from robustops.config import ServeConfig
from robustops.config.preflight import model_folder
from robustops.core.errors import ConfigError
from robustops.data.expert_endpoint import ExpertEndpoint, listening
from robustops.data.task_set import TaskSet
from robustops.gym.listening import Served, check_port_is_free
from robustops.gym.runtime.service import ContainerOptions, planned, serve_containers
from robustops.gym.server import serve

ENDPOINT_PORT = 8000  # the domains' public ports begin above it


def run(config: ServeConfig, folder: Path) -> None:
    if config.do == "model":
        serve_model(config)
    elif config.do == "expert":
        asyncio.run(_until_told(serve_expert(config)))
    else:
        serve_tools(config)


def serve_tools(config: ServeConfig) -> None:
    token = secret_of(config.token_env, "token_env")
    if config.gym.kind == "embedded":
        serving = serve(
            [config.domain],
            port=config.port,
            port_offset=config.port_offset,
            host=config.host,
            max_databases=config.max_databases,
            max_idle_s=config.max_idle_s,
            token=token,
            snapshots=tool_snapshots(config.gym.tool_snapshots),
            on_ready=_announce,
        )
        asyncio.run(_until_told(serving))
        return
    options = ContainerOptions(
        runtime=config.gym.kind,
        folder=own_temporary_folder() / "containers",
        restart_after=config.restart_after,
        start_timeout_s=config.start_timeout_s,
        max_idle_s=config.max_idle_s,
    )
    if config.dry_run:
        for step in planned(options, [config.domain], port=config.port, port_offset=config.port_offset):
            print(shlex.join(step.argv))
        return
    containers = serve_containers(
        [config.domain],
        options,
        host=config.host,
        port=config.port,
        port_offset=config.port_offset,
        token=token,
        on_ready=_announce,
    )
    asyncio.run(_until_told(containers))


def serve_model(config: ServeConfig) -> None:
    """This process becomes vLLM's server."""
    if importlib.util.find_spec("vllm") is None:
        raise ConfigError("do=model: vllm is not installed here; `make setup` in a checkout installs it where it can")
    port = config.port or ENDPOINT_PORT
    model = model_folder(config.model)
    template = template_without_tools(model) if config.model.tool_schema == "compact" else None
    options = vllm_sizes(config.model, config)
    command = serve_command(
        model,
        options,
        host=config.host,
        port=port,
        name=config.served_name,
        chat_template=template,
    )
    environment = server_environment(options)
    if config.dry_run:
        print(shlex.join([*(f"{name}={value}" for name, value in environment.items()), *command]))
        return
    check_compiler(options)
    check_port_is_free(config.host, port)
    print(f"{config.served_name}: http://{config.host}:{port}/v1, once it says that startup is complete", flush=True)
    os.execve(command[0], command, {**os.environ, **environment})


def template_without_tools(model: Path) -> str:
    """In the compact view the system text lists the tools: schemas that clients send are for the parser alone."""
    file = model / "chat_template.jinja"
    if not file.is_file():
        raise ConfigError(f"model.tool_schema=compact: no chat_template.jinja in {model}; write model.tool_schema=full")
    return "{%- set tools = none -%}" + file.read_text(encoding="utf-8")


async def serve_expert(config: ServeConfig) -> None:
    if config.task_set is None:
        raise ConfigError("task_set: no value; do=expert needs the folder of a task set, such as data/synthetic")
    expert = ExpertEndpoint.of(TaskSet.load(Path(config.task_set).expanduser()))
    async with listening(expert.reply, config.host, config.port or ENDPOINT_PORT) as url:
        print(f"expert: {url}", flush=True)
        await asyncio.Event().wait()


async def _until_told(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until SIGTERM, as until Ctrl-C: what was started is stopped either way."""
    running = asyncio.ensure_future(serving)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with suppress(asyncio.CancelledError):
        await running


def _announce(served: Sequence[Served]) -> None:
    for one in served:
        print(f"{one.domain}: {one.url}", flush=True)
