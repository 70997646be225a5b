"""Domains served from the benchmark's containers: names in, a gateway per domain on its public port."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from robustops.core.errors import ConfigError
from robustops.gym.listening import Served, listen, public_port, warn_of_open_host
from robustops.gym.runtime.commands import HOST, RUNTIMES, Launch, Step
from robustops.gym.runtime.container import Container
from robustops.gym.runtime.gateway import Gateway, make_gateway_app
from robustops.gym.runtime.images import IMAGES

logger = logging.getLogger(__name__)

# Behind a domain's public port: the first container 10,000 above it, its successors 10 further each.
INNER_OFFSET, INNER_STEP, NUM_INNER = 10_000, 10, 20
MAX_BODY_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerOptions:
    """`restart_after`: seeded databases per container. `max_idle_s`: a database unused for that long is deleted."""

    runtime: str
    folder: Path
    restart_after: int = 150
    start_timeout_s: float = 300.0
    max_idle_s: float = 4 * 3600.0


def _ports(domains: Sequence[str], port: int | None, port_offset: int) -> dict[str, int]:
    """Public port by domain. Raises ConfigError for a domain that has no image, and for one port of several."""
    names = tuple(IMAGES) if tuple(domains) == ("all",) else tuple(domains)
    for name in names:
        if name not in IMAGES:
            raise ConfigError(f"domain={name}: no image; expected all or one of {', '.join(IMAGES)}")
    if port is not None and len(names) != 1:
        raise ConfigError(f"port={port} is for one domain, but {len(names)} are served; use port_offset=N")
    return {name: public_port(name, port, port_offset) for name in names}


def launch_of(options: ContainerOptions, domain: str, port: int) -> Launch:
    return RUNTIMES[options.runtime](IMAGES[domain], f"robustops-{domain}-{port}", port, options.folder)


def planned(
    options: ContainerOptions, domains: Sequence[str], *, port: int | None = None, port_offset: int = 0
) -> tuple[Step, ...]:
    """The command lines of each domain's first container, in order; nothing is run."""
    steps: list[Step] = []
    for domain, public in _ports(domains, port, port_offset).items():
        launch = launch_of(options, domain, public + INNER_OFFSET)
        steps += [*launch.prepare, Step(argv=launch.run), *launch.stop]
    return tuple(steps)


async def serve_containers(
    domains: Sequence[str],
    options: ContainerOptions,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    port_offset: int = 0,
    token: str | None = None,
    on_ready: Callable[[Sequence[Served]], None] | None = None,
) -> None:
    """Serve until cancelled, then stop every container. Raises ConfigError, GymError for one that does not start."""
    ports = _ports(domains, port, port_offset)
    warn_of_open_host(host, token)
    async with AsyncExitStack() as stack:
        gateways = {name: _gateway(options, name, wanted) for name, wanted in ports.items()}
        for gateway in gateways.values():
            stack.push_async_callback(gateway.close)
        # Gathered with exceptions as values: a container may not still be starting when the others are stopped.
        for outcome in await asyncio.gather(
            *(gateway.start() for gateway in gateways.values()), return_exceptions=True
        ):
            if outcome is not None:
                raise outcome
        served = []
        for name, gateway in gateways.items():
            app = make_gateway_app(gateway, max_body_bytes=MAX_BODY_BYTES, token=token)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            served.append(Served(domain=name, url=await listen(runner, host, ports[name])))
        if on_ready is not None:
            on_ready(served)
        await asyncio.gather(*(gateway.sweep_forever() for gateway in gateways.values()))


def _gateway(options: ContainerOptions, domain: str, port: int) -> Gateway:
    def new_container() -> Container:
        launch = launch_of(options, domain, _free_port(port))
        return Container(launch, start_timeout_s=options.start_timeout_s)

    return Gateway(new_container, restart_after=options.restart_after, max_idle_s=options.max_idle_s)


def _free_port(public: int) -> int:
    """Raises ConfigError when all of a domain's inner ports are taken."""
    for port in range(public + INNER_OFFSET, public + INNER_OFFSET + INNER_STEP * NUM_INNER, INNER_STEP):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except (OSError, OverflowError):
                continue
            return port
    last = public + INNER_OFFSET + INNER_STEP * (NUM_INNER - 1)
    raise ConfigError(f"ports {public + INNER_OFFSET} to {last} are taken; choose others with port_offset=N")
