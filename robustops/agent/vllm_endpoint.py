"""One blocking call to a vLLM server: a body in, the answer out, or why there is none. Knows no policy."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any


class ServerDown(Exception):
    """No answer, or one that says that the server itself failed; `status` is an answer's."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


def call(url: str, body: dict[str, Any] | None = None, *, timeout_s: float = 60.0) -> str:
    """GET, or POST where there is a body. Raises ServerDown for anything but success."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as reply:
            return str(reply.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        shown = shortened(error.read().decode(errors="replace"))
        raise ServerDown(f"{url}: status {error.code}: {shown}", error.code) from error
    except (OSError, HTTPException) as error:  # URLError and TimeoutError are of the first; an answer cut off is not
        raise ServerDown(f"{url}: {error}") from error


def value_of(url: str, name: str, body: dict[str, Any] | None = None) -> Any:
    """One value of an answer in JSON. Raises ServerDown, as for a refusal, where it is not there."""
    text = call(url, body)
    try:
        return json.loads(text)[name]
    except (ValueError, KeyError, TypeError) as error:
        raise ServerDown(f"{url}: no {name} in the answer {shortened(text)!r}", 404) from error


def shortened(text: str) -> str:
    return " ".join(text.split())[:200]
