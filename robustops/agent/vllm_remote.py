"""One vLLM server elsewhere: a folder of weights in, a server that holds them out, or why it cannot be asked now.

One that was restarted holds its first weights, under a version of its own: it gets the wanted ones again. Knows no
requests and does not wait.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from dataclasses import dataclass, field
from pathlib import Path

from robustops.agent.outage import Outage
from robustops.agent.vllm_endpoint import ServerDown, call, value_of
from robustops.agent.vllm_worker import METHOD
from robustops.core.errors import PolicyError

log = logging.getLogger(__name__)
HOW_TO_START = "start it as `python -m robustops.serve do=model` does (dry_run=true shows how)"
HEALTH_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """`folder`: holds model.safetensors; the server must see it."""

    folder: Path
    version: int


@dataclass(slots=True, kw_only=True)
class RemoteServer:
    url: str
    outage: Outage
    reload_timeout_s: float
    wanted: Weights | None = None  # None: those that it was started with
    is_behind: bool = False  # it was not given the wanted weights yet
    num_running: int = 0
    seen_s: float = -math.inf  # when it last answered, or was found ready
    recovery: asyncio.Lock = field(default_factory=asyncio.Lock)
    asking: threading.Lock = field(default_factory=threading.Lock)  # who waits may be cancelled, a call goes on

    def want(self, weights: Weights) -> None:
        """`trouble` then gives them to it, whatever version it holds: another run's may have the same number."""
        self.wanted, self.is_behind = weights, True

    def trouble(self) -> str | None:
        """Why it cannot be asked now; None where it holds the wanted weights and can.

        Raises PolicyError for a server that is well and refuses them, or says afterwards that it holds others.
        """
        with self.asking:
            return self._trouble()

    def _trouble(self) -> str | None:
        try:
            self._check_health()
            if self.wanted is None:
                return None
            is_restarted = not self.is_behind and self._version() != str(self.wanted.version)
        except ServerDown as error:
            return _passing(error, is_well=False)
        if is_restarted:
            log.warning("%s was restarted: it gets weights %d again", self.url, self.wanted.version)
        if is_restarted or self.is_behind:
            try:
                self._load(self.wanted)
            except ServerDown as error:
                return _passing(error, is_well=self._is_well())
        return None

    def _load(self, weights: Weights) -> None:
        body = {"method": METHOD, "kwargs": {"folder": str(weights.folder)}}
        call(f"{self.url}/collective_rpc", body, timeout_s=self.reload_timeout_s)
        if not value_of(f"{self.url}/reset_prefix_cache", "success", {}):
            raise ServerDown(f"{self.url}: its prefix cache could not be reset; blocks are still in use")
        call(f"{self.url}/update_weight_version", {"new_version": str(weights.version)})
        if (found := self._version()) != str(weights.version):
            raise PolicyError(f"{self.url}: holds weights {found!r} after an update to {weights.version}")
        self.is_behind = self.wanted is not weights

    def _version(self) -> str:
        return str(value_of(f"{self.url}/weight_info", "weight_version"))

    def _check_health(self) -> None:
        call(f"{self.url}/health", timeout_s=HEALTH_S)

    def _is_well(self) -> bool:
        try:
            self._check_health()
        except ServerDown:
            return False
        return True


def _passing(error: ServerDown, *, is_well: bool) -> str:
    """What may pass with time. Raises PolicyError for an answer that will stay the same."""
    if error.status is not None and (error.status < 500 or is_well):
        raise PolicyError(f"{error}; {HOW_TO_START}") from error
    return str(error)
