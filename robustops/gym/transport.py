"""One server's HTTP side: a path and a JSON body in, status and JSON out; what is no answer becomes a typed error.

Connection refused, resets, timeouts and 5xx are infrastructure. Any other status is an answer, for the caller to read.
Knows no session and no database.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import aiohttp

from robustops.core.errors import GymError, GymTimeout, GymUnavailable

# Statuses that say "not now", whatever the request was: nothing a model did.
_BUSY = frozenset({408, 425, 429})
# Uvicorn drops idle connections after 5 s; a pool that keeps them longer sends requests into closed ones.
_KEEPALIVE_S = 4.0
_SHOWN_BODY_CHARS = 300
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds for each kind of wait. Seeding a large dump is slow on real servers; upstream grants 20 minutes."""

    connect_s: float = 10.0
    handshake_s: float = 30.0
    seed_s: float = 1200.0
    call_s: float = 30.0
    query_s: float = 30.0
    delete_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`body`: parsed JSON, or the text where it is none, or None where there is no body."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def detail(self) -> str:
        """The server's own words about a refusal."""
        if isinstance(self.body, Mapping):
            found = self.body.get("detail", self.body.get("message", self.body))
            return (found if isinstance(found, str) else json.dumps(found))[:_SHOWN_BODY_CHARS]
        return str(self.body)[:_SHOWN_BODY_CHARS]


class Pool:
    """Connections to every server, shared by all sessions of one event loop. `limit`: of one server."""

    def __init__(self, *, limit: int, connect_s: float) -> None:
        self._limit = limit
        self._connect_s = connect_s
        self._http: aiohttp.ClientSession | None = None

    async def request(
        self,
        method: str,
        url: str,
        *,
        body: Any,
        timeout_s: float,
        headers: Mapping[str, str] = _NO_HEADERS,
        accepts_500: bool = False,
    ) -> Answer:
        """Raises GymTimeout after `timeout_s` in all, GymUnavailable when no usable connection or a 5xx came back.

        `accepts_500`: for a route whose 500 is an answer about the request, such as seed SQL that does not run.
        """
        try:
            async with (
                asyncio.timeout(timeout_s),
                self._client().request(method, url, json=body, headers=headers, allow_redirects=False) as response,
            ):
                content = await response.read()
        except TimeoutError as error:
            raise GymTimeout(f"{method} {url}: no answer within {timeout_s:g} s") from error
        except aiohttp.ClientError as error:
            raise GymUnavailable(f"{method} {url}: {type(error).__name__}: {error}; is the server running?") from error
        except ValueError as error:  # a header value or URL that aiohttp refuses to send
            raise GymError(f"{method} {url}: cannot be sent: {error}") from error
        answer = Answer(status=response.status, body=_parsed(content), headers=dict(response.headers))
        is_refusal = answer.status == 500 and accepts_500
        if (answer.status >= 500 and not is_refusal) or answer.status in _BUSY:
            raise GymUnavailable(f"{method} {url}: HTTP {answer.status}: {answer.detail}")
        return answer

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None

    def _client(self) -> aiohttp.ClientSession:
        if self._http is None:  # made at the first request: a ClientSession belongs to the running loop
            connector = aiohttp.TCPConnector(limit=0, limit_per_host=self._limit, keepalive_timeout=_KEEPALIVE_S)
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._connect_s)
            self._http = aiohttp.ClientSession(connector=connector, timeout=timeout)
        return self._http


def _parsed(content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", errors="replace")


def context_headers(context: Mapping[str, Any]) -> dict[str, str]:
    """Context keys as headers: as they are if they start with x-, else `x-` and the key in header spelling.

    Public tasks carry keys with stray spaces, which no HTTP client would send.
    """
    headers = {}
    for key, value in context.items():
        name = key.strip()
        if not name.lower().startswith("x-"):
            name = "x-" + name.lower().replace("_", "-")
        headers[name] = str(value).strip()
    return headers
