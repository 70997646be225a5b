"""One server's HTTP side: a path and a JSON body in, status and JSON out; what is no answer becomes a typed error.

Connection refused, resets, timeouts and 5xx are infrastructure. Any other status is an answer, for the caller to read.
Knows no session and no database.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import aiohttp

from robustops.core.errors import GymError, GymTimeout, GymUnavailable

# Statuses that say "not now", whatever the request was: nothing a model did.
_BUSY = frozenset({408, 425, 429})
# Statuses after which the same request may go through: a server that starts again, or one that is full.
_PASSING = frozenset({429, 502, 503})
# Uvicorn drops idle connections after 5 s; a pool that keeps them longer sends requests into closed ones.
KEEPALIVE_S = 4.0
LARGE_BYTES = 2**20
_SHOWN_BODY_CHARS = 300
UNSENT_ATTEMPTS = 3  # of a request that no server saw: it may just be starting again
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
    """`body`: parsed JSON, or the text where it is none, or None where there is no body; bytes of an octet stream.

    `headers`: names in any case.
    """

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


@dataclass(slots=True, kw_only=True)
class Traffic:
    """What a pool did so far; `num_retries` of its requests were sent again."""

    num_requests: int = 0
    num_retries: int = 0


class Pool:
    """Connections to every server, shared by all sessions of one event loop. `limit`: of one server.

    `token`: sent as a bearer token to every server. `backoff_s`: the first wait before a request is sent again.
    """

    def __init__(self, *, limit: int, connect_s: float, token: str | None = None, backoff_s: float = 0.05) -> None:
        self.traffic = Traffic()
        self._limit = limit
        self._connect_s = connect_s
        self._backoff_s = backoff_s
        self._own_headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http: aiohttp.ClientSession | None = None

    async def request(
        self,
        method: str,
        url: str,
        *,
        timeout_s: float,
        body: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        accepts_500: bool = False,
        attempts: int = 1,
    ) -> Answer:
        """Raises GymTimeout after `timeout_s` in all, GymUnavailable when no usable connection or a 5xx came back.

        `body`: sent as JSON; `content`: bytes, sent as they are. `accepts_500`: for a route whose 500 is an answer
        about the request, such as seed SQL that does not run. `attempts`: more than one only where a request that
        arrives twice does no harm; one that never left is always sent again.
        """
        data = content if content is not None or body is None else json.dumps(body).encode()
        try:
            async with asyncio.timeout(timeout_s):
                return await self._until_answered(method, url, data, headers, accepts_500, attempts)
        except TimeoutError as error:
            raise GymTimeout(f"{method} {url}: no answer within {timeout_s:g} s") from error
        except ValueError as error:  # a header value or URL that aiohttp refuses to send
            raise GymError(f"{method} {url}: cannot be sent: {error}") from error

    async def _until_answered(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str], accepts_500: bool, attempts: int
    ) -> Answer:
        for attempt in itertools.count(1):
            self.traffic.num_requests += 1
            is_last = attempt >= attempts
            try:
                answer = await self._once(method, url, data, headers)
            except aiohttp.ClientError as error:
                is_last = attempt >= (max(attempts, UNSENT_ATTEMPTS) if _never_left(error) else attempts)
                if is_last:
                    text = f"{method} {url}: {type(error).__name__}: {error}; is the server running?"
                    raise GymUnavailable(text) from error
            else:
                is_answer = answer.status == 500 and accepts_500
                is_failure = (answer.status >= 500 and not is_answer) or answer.status in _BUSY
                if not is_failure:
                    return answer
                if is_last or answer.status not in _PASSING:
                    raise GymUnavailable(f"{method} {url}: HTTP {answer.status}: {answer.detail}")
            self.traffic.num_retries += 1
            await asyncio.sleep(self._backoff_s * 2 ** (attempt - 1))
        raise AssertionError("the last attempt answers or raises")

    async def _once(self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]) -> Answer:
        sent = {"Content-Type": "application/json", **self._own_headers, **headers}
        body = streamed(data) if data is not None else None
        async with self._client().request(method, url, data=body, headers=sent, allow_redirects=False) as response:
            content = await response.read()
            is_bytes = response.content_type == "application/octet-stream"
            parsed = content if is_bytes else _parsed(content)
            return Answer(status=response.status, body=parsed, headers=response.headers)

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None

    def _client(self) -> aiohttp.ClientSession:
        if self._http is None:  # made at the first request: a ClientSession belongs to the running loop
            connector = aiohttp.TCPConnector(limit=0, limit_per_host=self._limit, keepalive_timeout=KEEPALIVE_S)
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._connect_s)
            self._http = aiohttp.ClientSession(connector=connector, timeout=timeout)
        return self._http


def streamed(content: bytes) -> bytes | io.BytesIO:
    """A stream of what is large: aiohttp would write bytes in one go and hold the event loop meanwhile."""
    return io.BytesIO(content) if len(content) > LARGE_BYTES else content


def _never_left(error: aiohttp.ClientError) -> bool:
    """Whether no connection came about, so that the server cannot have seen the request."""
    return isinstance(error, aiohttp.ClientConnectorError)


def _parsed(content: bytes) -> Any:
    if not content:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", errors="replace")
