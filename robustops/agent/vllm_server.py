"""The policy of vLLM processes elsewhere: token ids in, sampled ids with their logprobs out, over HTTP.

The servers are started as `vllm_process.serve_command` says; weights reach them through a folder that they see. Each
says which weights it holds: one that was restarted holds its first ones, and gets the present ones again before it
answers anything. Knows no trainer; a probe elsewhere proves the weights.
"""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from robustops.agent.policy import Prompt, Request, Sample, SampleStore, Sampling
from robustops.agent.vllm_endpoint import ServerDown, call, shortened, value_of
from robustops.agent.vllm_process import VllmProcess
from robustops.agent.vllm_worker import METHOD
from robustops.core.errors import PolicyError

log = logging.getLogger(__name__)
RESTART_S = 2.0  # no server starts faster: one that answered since then was not restarted
KEEPALIVE_S = 3.0  # the server hangs up after 5 idle seconds, and a request sent at that moment fails
HOW_TO_START = "start it as `python -m robustops.serve do=model` does (dry_run=true shows how)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """`urls`: of the servers, without a path. `weights_folder`: on a disk that they share with this process.

    `patience_s`: how long a server that stopped answering may take to come back before the run ends.
    """

    urls: tuple[str, ...]
    model: str
    weights_folder: Path
    request_timeout_s: float = 1200.0
    reload_timeout_s: float = 600.0
    patience_s: float = 600.0
    poll_s: float = 2.0
    max_tries: int = 4
    can_sleep: bool = False


class _Logprobs(BaseModel):
    token_logprobs: list[float]


class _Choice(BaseModel):
    token_ids: list[int]
    logprobs: _Logprobs
    finish_reason: str


class _Completion(BaseModel):
    choices: list[_Choice]


@dataclass(slots=True, kw_only=True)
class _Server:
    url: str
    num_running: int = 0
    seen_s: float = -math.inf  # when it last answered, or was found ready
    recovery: asyncio.Lock


class ServerPolicy:
    """Each case stays with one server, whose prefix cache knows it, unless that one has far more to do.

    `stop_ids` end a sample and stay in it; `decode` turns sampled ids into the sample's text. `process`: the server,
    where it is a child of this process.
    """

    def __init__(
        self,
        options: ServerOptions,
        *,
        stop_ids: Sequence[int],
        decode: Callable[[Sequence[int]], str],
        process: VllmProcess | None = None,
    ) -> None:
        if not options.urls:
            raise ValueError("at least one server is needed")
        self._options, self._process = options, process
        self._stop_ids, self._decode = list(stop_ids), decode
        self._servers = [_Server(url=url.rstrip("/"), recovery=asyncio.Lock()) for url in options.urls]
        self._home: dict[str, _Server] = {}
        self._http: aiohttp.ClientSession | None = None
        self._folder: Path | None = None
        self._store: SampleStore | None = None
        self.weight_version = 0

    def remember(self, store: SampleStore | None) -> None:
        self._store = store

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Raises PolicyError for an answer without ids or logprobs, and when no server answers for `patience_s`."""
        if self._store is None:
            return await self._ask(prompt, sampling)
        requests = [Request(prompt=prompt, sampling=sampling)]
        if (found := self._store.find(requests)) is None:
            found = [await self._ask(prompt, sampling)]
            self._store.keep(requests, found)
        return found[0]

    async def _ask(self, prompt: Prompt, sampling: Sampling) -> Sample:
        body = self._body(prompt, sampling)
        where = f"{prompt.case_id} turn {prompt.turn}"
        for _ in range(self._options.max_tries):
            server = self._server_for(prompt.case_id)
            server.num_running += 1
            try:
                if time.monotonic() - server.seen_s > RESTART_S:
                    await self._recover(server, "not heard of yet")
                answer = await self._post(server, body)
                server.seen_s = time.monotonic()
                return self._sample(where, answer)
            except ServerDown as error:
                log.warning("%s: %s: %s; waiting for it", where, server.url, error)
                await self._recover(server, str(error))
            finally:
                server.num_running -= 1
        raise PolicyError(f"{where}: {self._options.max_tries} tries, no answer from {', '.join(self._options.urls)}")

    def _server_for(self, case_id: str) -> _Server:
        least = min(self._servers, key=lambda server: server.num_running)
        home = self._home.setdefault(case_id, least)
        return home if home.num_running <= 2 * least.num_running + 8 else least

    def _body(self, prompt: Prompt, sampling: Sampling) -> dict[str, Any]:
        return {
            "model": self._options.model,
            "prompt": list(prompt.token_ids),
            "temperature": sampling.temperature,
            "max_tokens": sampling.max_tokens,
            "seed": sampling.seed,
            "top_p": 1.0,
            "top_k": 0,
            "min_p": 0.0,
            "logprobs": 0,  # the sampled token's alone
            "return_token_ids": True,
            "stop_token_ids": self._stop_ids,
            "ignore_eos": True,
            "skip_special_tokens": False,
        }

    async def _post(self, server: _Server, body: dict[str, Any]) -> str:
        if self._http is None:
            timeout = aiohttp.ClientTimeout(total=self._options.request_timeout_s, sock_connect=10)
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S)
            self._http = aiohttp.ClientSession(timeout=timeout, connector=connector)
        try:
            async with self._http.post(f"{server.url}/v1/completions", json=body) as reply:
                text = await reply.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServerDown(str(error) or type(error).__name__) from error
        if reply.status >= 500:
            raise ServerDown(f"status {reply.status}: {shortened(text)}")
        if reply.status != 200:
            raise PolicyError(f"{server.url}: the server refused the request, status {reply.status}: {shortened(text)}")
        return text

    def _sample(self, where: str, answer: str) -> Sample:
        try:
            choice = _Completion.model_validate_json(answer).choices[0]
        except (ValidationError, IndexError) as error:
            raise PolicyError(
                f"{where}: the server's answer lacks token ids or logprobs; "
                f"is it vLLM 0.32 with --logprobs-mode processed_logprobs? {shortened(str(error))}"
            ) from error
        logprobs = choice.logprobs.token_logprobs
        if len(logprobs) != len(choice.token_ids) or not all(map(math.isfinite, logprobs)):
            raise PolicyError(f"{where}: {len(logprobs)} finite logprobs expected for {len(choice.token_ids)} tokens")
        return Sample(
            token_ids=tuple(choice.token_ids),
            logprobs=tuple(logprobs),
            text=self._decode(choice.token_ids),
            finish="stop" if choice.finish_reason == "stop" else "length",
            weight_version=self.weight_version,
        )

    async def _recover(self, server: _Server, reason: str) -> None:
        """Wait until the server is healthy, and make it hold the present weights. One at a time for each server."""
        async with server.recovery:
            deadline = time.monotonic() + self._options.patience_s
            while (trouble := await asyncio.to_thread(self._trouble_with, server)) is not None:
                if time.monotonic() > deadline:
                    raise PolicyError(
                        f"{server.url}: no answer for {self._options.patience_s:.0f} s ({reason}; {trouble}); "
                        "start the server again and run the same command"
                    )
                if self._process is not None:
                    self._process.revive()
                await asyncio.sleep(self._options.poll_s)
            server.seen_s = time.monotonic()

    def _trouble_with(self, server: _Server) -> str | None:
        """Why the server cannot be asked now; None where it holds the present weights and can."""
        try:
            call(f"{server.url}/health", timeout_s=10)
            if self._folder is not None and self._version_of(server) != str(self.weight_version):
                log.warning("%s was restarted: it gets weights %d again", server.url, self.weight_version)
                self._reload(server, self._folder)
        except ServerDown as error:
            if error.status is not None and error.status < 500:
                raise PolicyError(f"{error}; {HOW_TO_START}") from error
            return str(error)
        return None

    def load_weights(self, named_tensors: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Replace the weights of every server and forget what was cached from the old ones.

        Raises PolicyError where a server cannot take them, or says afterwards that it holds others.
        """
        folder = self._options.weights_folder / f"version-{version:06d}"
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in named_tensors}
        try:
            save_file(tensors, folder / "model.safetensors")
        except (OSError, SafetensorError) as error:
            raise PolicyError(f"{folder}: the weights could not be written ({error}); free disk space") from error
        old, self._folder, self.weight_version = self._folder, folder, version
        for server in self._servers:
            try:
                self._reload(server, folder)
                found = self._version_of(server)
            except ServerDown as error:
                raise PolicyError(f"weights {version} could not be loaded: {error}; {HOW_TO_START}") from error
            if found != str(version):
                raise PolicyError(f"{server.url}: holds weights {found!r} after an update to {version}")
        if old is not None and old != folder:
            shutil.rmtree(old, ignore_errors=True)

    def _reload(self, server: _Server, folder: Path) -> None:
        body = {"method": METHOD, "kwargs": {"folder": str(folder)}}
        call(f"{server.url}/collective_rpc", body, timeout_s=self._options.reload_timeout_s)
        if not value_of(f"{server.url}/reset_prefix_cache", "success", {}):
            raise ServerDown(f"{server.url}: its prefix cache could not be reset; blocks are still in use")
        call(f"{server.url}/update_weight_version", {"new_version": str(self.weight_version)})

    def _version_of(self, server: _Server) -> str:
        return str(value_of(f"{server.url}/weight_info", "weight_version"))

    def sleep(self) -> None:
        self._tell_all("/sleep?level=1")

    def wake_up(self) -> None:
        if self._process is not None:
            self._process.make_ready()  # it may have ended while the trainer worked
        self._tell_all("/wake_up")

    def _tell_all(self, path: str) -> None:
        if not self._options.can_sleep:
            return
        for server in self._servers:
            try:
                call(f"{server.url}{path}", {})
            except ServerDown as error:
                raise PolicyError(f"{server.url}{path}: {error}") from error

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None
        if self._process is not None:
            self._process.close()
