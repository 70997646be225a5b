"""Where a served domain is reached: public ports, the socket, and the warning that an open address deserves."""

from __future__ import annotations

import logging
import socket
from dataclasses import dataclass

from aiohttp import web

from robustops.core.errors import ConfigError
from robustops.gym.guard import LOOPBACK
from robustops.gym.public import BY_DOMAIN

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    domain: str
    url: str


def public_port(domain: str, port: int | None, port_offset: int) -> int:
    """`port`, or else the domain's public one, moved by `port_offset`."""
    return BY_DOMAIN[domain].port + port_offset if port is None else port


def check_port_is_free(host: str, port: int) -> None:
    """For a server that says so itself, but in a page. Raises ConfigError for an address that cannot be bound."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}:{port} ({error}); choose another with port=N") from error


async def listen(runner: web.AppRunner, host: str, port: int) -> str:
    """The URL. Raises ConfigError for an address that cannot be bound."""
    try:
        await web.TCPSite(runner, host, port).start()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen on {host}:{port} ({error}); choose another with port=N") from error
    address = runner.addresses[0]
    return f"http://{f'[{address[0]}]' if ':' in address[0] else address[0]}:{address[1]}"


def warn_of_open_host(host: str, token: str | None) -> None:
    if host not in LOOPBACK and not token:
        logger.warning("host=%s: anyone who reaches this address can read and write; set token_env=NAME", host)
