"""The embedded engine behind the benchmark's container protocol: a domain in, an aiohttp application out.

Databases live in memory and end with the process. Knows no task: clients bring their seeds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, suppress

from aiohttp import web

from robustops.core.errors import ConfigError
from robustops.gym.databases import Databases
from robustops.gym.domains import FOLDERS, load_toolbox
from robustops.gym.extension import ExtensionRoutes
from robustops.gym.guard import guard
from robustops.gym.listening import Served, listen, public_port, warn_of_open_host
from robustops.gym.rest import RestRoutes, refusals
from robustops.gym.rpc import RpcEndpoint
from robustops.gym.seeds import SeedStore
from robustops.gym.stream import StreamEndpoint
from robustops.gym.tool_snapshots import Advertised, advertising
from robustops.gym.wire import EXTENSION

logger = logging.getLogger(__name__)

DATABASES = web.AppKey("databases", Databases)
MAX_BODY_BYTES = 64 * 2**20  # the largest public seed has some 2 MB
MAX_IDLE_S = 4 * 3600.0  # an episode may last half an hour; what is idle for longer belongs to nobody


def make_app(
    domain: str,
    *,
    max_databases: int = 512,
    max_body_bytes: int = MAX_BODY_BYTES,
    max_idle_s: float = MAX_IDLE_S,
    token: str | None = None,
    extended: bool = True,
    seeds: SeedStore | None = None,
    snapshots: Advertised | None = None,
) -> web.Application:
    """`seeds`: loaded seeds to share with other applications. Raises ValueError, listing the domains there are.

    `token`: a bearer token that every request but /health must carry. `max_idle_s`: unused databases go after that.
    `extended`: False leaves out what the benchmark's containers do not have. `snapshots`: as `gym.tool_snapshots`.
    """
    toolbox = advertising(load_toolbox(domain), snapshots or {})
    databases = Databases(toolbox, max_databases=max_databases, seeds=seeds)
    app = web.Application(client_max_size=max_body_bytes, middlewares=[guard(token), refusals])
    app[DATABASES] = databases
    RestRoutes(databases).add_to(app.router)
    app.router.add_post("/mcp", RpcEndpoint(databases, EXTENSION if extended else {}).handle)
    app.router.add_post("/mcp/stream", StreamEndpoint(databases).handle)
    if extended:
        ExtensionRoutes(databases).add_to(app.router)

    async def sweeping(_app: web.Application) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(_sweep(databases, max_idle_s))
        yield
        sweeper.cancel()
        with suppress(asyncio.CancelledError):
            await sweeper

    app.cleanup_ctx.append(sweeping)
    app.on_cleanup.append(_close)
    return app


async def serve(
    domains: Sequence[str],
    *,
    port: int | None = None,
    port_offset: int = 0,
    host: str = "127.0.0.1",
    max_databases: int = 512,
    max_idle_s: float = MAX_IDLE_S,
    token: str | None = None,
    snapshots: Advertised | None = None,
    on_ready: Callable[[Sequence[Served]], None] | None = None,
) -> None:
    """Serve until cancelled: each domain on its public port plus `port_offset`, or a single one on `port`.

    `domains`: names, or "all". Raises ConfigError for an unknown domain and for a port that cannot be bound.
    """
    warn_of_open_host(host, token)
    names = tuple(FOLDERS) if tuple(domains) == ("all",) else tuple(domains)
    for name in names:
        if name not in FOLDERS:
            raise ConfigError(f"domain={name}: not served; expected all or one of {', '.join(FOLDERS)}")
    if port is not None and len(names) != 1:
        raise ConfigError(f"port={port} is for one domain, but {len(names)} are served; use port_offset=N")
    async with AsyncExitStack() as stack:
        served = []
        for name in names:
            runner = web.AppRunner(
                make_app(name, max_databases=max_databases, max_idle_s=max_idle_s, token=token, snapshots=snapshots),
                access_log=None,
            )
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            url = await listen(runner, host, public_port(name, port, port_offset))
            served.append(Served(domain=name, url=url))
        for one in served:
            logger.info("%s is served at %s", one.domain, one.url)
        if on_ready is not None:
            on_ready(served)
        await asyncio.Event().wait()


async def _sweep(databases: Databases, max_idle_s: float) -> None:
    while True:
        await asyncio.sleep(max_idle_s / 4)
        await databases.sweep(max_idle_s)


async def _close(app: web.Application) -> None:
    app[DATABASES].close()
