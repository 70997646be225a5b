"""A `Completion` over HTTP: any endpoint that speaks the OpenAI chat-completions format.

Bounded on every side: requests at a time, seconds per request, seconds per reply with all its retries. The key comes
from a named environment variable, is read once, and appears in no message, log line or representation.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import aiohttp
from pydantic import ValidationError

from robustops.core.errors import ConfigError, PolicyError
from robustops.llm.backoff import RETRIED_STATUSES, Backoff, parse_retry_after
from robustops.llm.completion import Message, Reply, Tool
from robustops.llm.pace import Pace
from robustops.llm.spend import Price, Spend
from robustops.llm.wire import ChatReply, request_body

logger = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]
_SHOWN_BODY_CHARS = 300
_LONG_WAIT_S = 10.0  # shorter ones are counted, and not worth a line each


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and how to ask.

    `url`: up to and including the version, such as http://host:8000/v1; `key_env`: name of the variable with the key.
    `deadline_s` bounds one reply with its waits and retries, `request_timeout_s` each try. `requests_per_minute`: None
    sends as soon as a slot is free.
    """

    url: str
    model: str
    key_env: str = ""
    request_timeout_s: float = 120.0
    deadline_s: float = 600.0
    concurrency: int = 8
    requests_per_minute: int | None = None
    backoff: Backoff = field(default_factory=Backoff)
    price: Price = field(default_factory=Price)
    extra: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class _Retryable(Exception):
    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class HttpCompletion:
    """One endpoint, one connection pool. `sleep` and `rng` are the waits between tries, given by tests."""

    def __init__(self, endpoint: Endpoint, *, sleep: Sleep = asyncio.sleep, rng: random.Random | None = None) -> None:
        self._endpoint = endpoint
        self._url = endpoint.url.rstrip("/") + "/chat/completions"
        self._key = _read_key(endpoint.key_env)
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._pace = Pace(endpoint.requests_per_minute, sleep=sleep)
        self._sleep = sleep
        self._rng = rng or random.Random()
        self._http: aiohttp.ClientSession | None = None
        self._spend = Spend()

    def __repr__(self) -> str:
        return f"HttpCompletion({self._url!r}, model={self._endpoint.model!r})"

    @property
    def spend(self) -> Spend:
        return self._spend

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        temperature: float = 0.0,
        max_tokens: int = 1024,
        seed: int | None = None,
    ) -> Reply:
        body = request_body(
            model=self._endpoint.model,
            messages=messages,
            tools=tools,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            extra=self._endpoint.extra,
        )
        try:
            async with asyncio.timeout(self._endpoint.deadline_s):
                reply = await self._with_retries(body)
        except TimeoutError as error:
            self._count_failure()
            raise PolicyError(f"{self._url}: no reply within {self._endpoint.deadline_s:g} s") from error
        except PolicyError:
            self._count_failure()
            raise
        self._spend = self._spend.with_reply(reply.usage, self._endpoint.price)
        return reply

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _with_retries(self, body: Mapping[str, Any]) -> Reply:
        backoff = self._endpoint.backoff
        for attempt in range(backoff.max_tries):
            try:
                async with self._slots:
                    await self._pace.wait()
                    return await self._once(body)
            except _Retryable as error:
                if attempt + 1 == backoff.max_tries:
                    raise PolicyError(f"{self._url}: {error} ({backoff.max_tries} tries)") from error
                wait_s = backoff.wait_s(attempt, self._rng, error.retry_after_s)
                if wait_s >= self._endpoint.deadline_s:
                    raise PolicyError(f"{self._url}: {error}; it asks for {wait_s:.0f} s, past the deadline") from error
                level = logging.INFO if wait_s >= _LONG_WAIT_S else logging.DEBUG
                logger.log(level, "%s: %s; trying again in %.1f s", self._url, error, wait_s)
                self._spend = replace(self._spend, num_retries=self._spend.num_retries + 1)
            await self._sleep(wait_s)
        raise PolicyError(f"{self._url}: max_tries is {backoff.max_tries}, so nothing was sent")

    async def _once(self, body: Mapping[str, Any]) -> Reply:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            # Redirects are refused: one would carry the key to a host nobody configured.
            async with self._client().post(self._url, json=body, headers=headers, allow_redirects=False) as response:
                content = await response.read()
                status, retry_after = response.status, response.headers.get("Retry-After")
        except TimeoutError as error:
            raise _Retryable(f"no reply within {self._endpoint.request_timeout_s:g} s") from error
        except aiohttp.ClientError as error:
            raise _Retryable(f"{type(error).__name__}: {self._redacted(str(error))}") from error
        if status in RETRIED_STATUSES:
            raise _Retryable(f"HTTP {status}: {self._shown(content)}", parse_retry_after(retry_after))
        if status != 200:
            raise PolicyError(f"{self._url}: HTTP {status}: {self._shown(content)}{self._hint(status)}")
        try:
            return ChatReply.model_validate_json(content).to_reply()
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "body"
            raise _Retryable(f"not a chat completion ({where}: {first['msg']}): {self._shown(content)}") from error

    def _client(self) -> aiohttp.ClientSession:
        if self._http is None:  # made at the first request: a ClientSession belongs to the running loop
            timeout = aiohttp.ClientTimeout(total=self._endpoint.request_timeout_s)
            # The slots bound it already. Servers of the uvicorn kind hang up after 5 idle seconds: be first.
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=3)
            self._http = aiohttp.ClientSession(timeout=timeout, connector=connector)
        return self._http

    def _count_failure(self) -> None:
        self._spend = replace(self._spend, num_failures=self._spend.num_failures + 1)

    def _hint(self, status: int) -> str:
        if status not in (401, 403):
            return ""
        if not self._endpoint.key_env:
            return "; no key is configured: name the environment variable that holds it (key_env)"
        return f"; is the key in ${self._endpoint.key_env} the right one?"

    def _shown(self, content: bytes) -> str:
        text = " ".join(content.decode("utf-8", errors="replace").split())
        return self._redacted(text)[:_SHOWN_BODY_CHARS] or "(empty body)"

    def _redacted(self, text: str) -> str:
        """Some endpoints quote the key they refuse."""
        return text.replace(self._key, "[key]") if self._key else text


def _read_key(key_env: str) -> str:
    if not key_env:
        return ""
    key = os.environ.get(key_env, "").strip()
    if not key:
        raise ConfigError(
            f"the environment variable {key_env} is not set; export {key_env}=... with the endpoint's key"
        )
    return key
