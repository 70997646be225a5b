"""Serve domains over the container protocol until interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from robustops.config import ServeConfig
from robustops.gym.server import Served, serve


def run(config: ServeConfig, folder: Path) -> None:
    def announce(served: Sequence[Served]) -> None:
        for one in served:
            print(f"{one.domain}: {one.url}", flush=True)

    asyncio.run(
        serve(
            [config.domain],
            port=config.port,
            port_offset=config.port_offset,
            host=config.host,
            max_databases=config.max_databases,
            on_ready=announce,
        )
    )
