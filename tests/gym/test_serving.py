"""Serving domains until told to stop: where it listens, and what it refuses to start."""

import asyncio
import socket

import pytest

from robustops.core.errors import ConfigError
from robustops.gym.public import BY_DOMAIN
from robustops.gym.server import serve


async def started(**options):
    """The running server and its address, once it listens."""
    ready = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(serve(on_ready=ready.set_result, **options))
    await asyncio.wait([ready, running], return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    return running, ready.result()


async def stopped(running):
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_serving_listens_on_loopback_until_it_is_cancelled():
    running, (one,) = await started(domains=["csm"], port=0)
    assert one.url.startswith("http://127.0.0.1:")
    port = int(one.url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=rf"cannot listen on 127\.0\.0\.1:{port}"):
        await serve(["csm"], port=port)
    await stopped(running)
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0


async def test_a_port_offset_moves_the_public_ports():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        offset = unused.getsockname()[1] - BY_DOMAIN["csm"].port
    running, (one,) = await started(domains=["csm"], port_offset=offset)
    assert one.url == f"http://127.0.0.1:{8001 + offset}"
    await stopped(running)


async def test_an_unknown_domain_is_a_mistake_that_lists_the_domains():
    with pytest.raises(ConfigError, match="domain=cms: not served; expected all or one of csm"):
        await serve(["cms"])
