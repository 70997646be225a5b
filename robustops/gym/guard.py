"""Who may speak to a served domain: requests in, a refusal or the handler's answer out.

A bearer token where one is set, and browser pages of this machine alone: a page that a person happens to look at could
otherwise reach a server that listens on loopback. That its host is the one asked for says nothing: its owner can let
that name point here.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
OPEN_PATHS = frozenset({"/health"})  # health checks carry no secret and learn none


def guard(token: str | None) -> Middleware:
    """`token`: what `Authorization: Bearer ...` must say; None asks for nothing."""
    wanted = f"Bearer {token}".encode() if token else b""

    @web.middleware
    async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = urlsplit(request.headers.get("Origin", "")).hostname
        if origin is not None and origin not in LOOPBACK:
            return web.json_response({"detail": f"Origin {origin} is not allowed"}, status=403)
        sent = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
        if wanted and request.path not in OPEN_PATHS and not hmac.compare_digest(sent, wanted):
            headers = {"WWW-Authenticate": "Bearer"}
            return web.json_response({"detail": "A bearer token is required"}, status=401, headers=headers)
        return await handler(request)

    return guarded
