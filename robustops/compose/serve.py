"""Serve domains over the container protocol until interrupted: by the embedded engine, or by the real containers."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from robustops.compose.environment import own_temporary_folder, secret_of, tool_snapshots
from robustops.config import ServeConfig
from robustops.gym.listening import Served
from robustops.gym.runtime.service import ContainerOptions, planned, serve_containers
from robustops.gym.server import serve


def run(config: ServeConfig, folder: Path) -> None:
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


async def _until_told(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until SIGTERM, as until Ctrl-C: what was started is stopped either way."""
    running = asyncio.ensure_future(serving)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with suppress(asyncio.CancelledError):
        await running


def _announce(served: Sequence[Served]) -> None:
    for one in served:
        print(f"{one.domain}: {one.url}", flush=True)
