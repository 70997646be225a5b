"""The policy of vLLM processes elsewhere: token ids in, sampled ids with their logprobs out, over HTTP.

The servers are started as `vllm_process.serve_command` says; weights reach them through a folder that they see. Each
says which weights it holds: one that was restarted holds its first ones, and gets the present ones again before it
answers anything. One that is away is waited for. Knows no trainer; a probe elsewhere proves the weights.
"""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from robustops.agent.background import in_background
from robustops.agent.outage import Outage
from robustops.agent.policy import Prompt, Request, Sample, SampleStore, Sampling
from robustops.agent.vllm_endpoint import ServerDown, call, shortened
from robustops.agent.vllm_process import VllmProcess
from robustops.agent.vllm_remote import RemoteServer, Weights
from robustops.core.errors import PolicyError

log = logging.getLogger(__name__)
RESTART_S = 2.0  # no server starts faster: one that answered since then was not restarted
KEEPALIVE_S = 3.0  # the server hangs up after 5 idle seconds, and a request sent at that moment fails


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """`urls`: of the servers, without a path. `weights_folder`: on a disk that they see; this policy's alone.

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


class ServerPolicy:
    """Each case stays with one server, whose prefix cache knows it, unless that one has far more to do.

    `stop_ids` end a sample and stay in it; `decode` turns sampled ids into the sample's text. `process`: the server,
    where it is a child of this process. `clock` and `sleep`: in seconds, of waiting.
    """

    def __init__(
        self,
        options: ServerOptions,
        *,
        stop_ids: Sequence[int],
        decode: Callable[[Sequence[int]], str],
        process: VllmProcess | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if not options.urls:
            raise ValueError("at least one server is needed")
        self._options, self._process = options, process
        self._clock, self._sleep = clock, sleep
        self._stop_ids, self._decode = list(stop_ids), decode
        self._servers = [self._server(url.rstrip("/")) for url in options.urls]
        self._home: dict[str, RemoteServer] = {}
        self._http: aiohttp.ClientSession | None = None
        self._folder: Path | None = None
        self._store: SampleStore | None = None
        self.weight_version = 0

    def _server(self, url: str) -> RemoteServer:
        name = url if self._process is None else f"{url} (see {self._process.log_file})"
        outage = Outage(name, self._options.patience_s, self._clock)
        return RemoteServer(url=url, outage=outage, reload_timeout_s=self._options.reload_timeout_s)

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
                if self._clock() - server.seen_s > RESTART_S:
                    await self._recover(server)
                answer = await self._post(server, body)
                server.seen_s = self._clock()
                return self._sample(where, answer)
            except ServerDown as error:
                if not server.recovery.locked():  # else another request has said it
                    log.warning("%s: %s: %s; asked again", where, server.url, error)
                await self._recover(server)
            finally:
                server.num_running -= 1
        raise PolicyError(f"{where}: {self._options.max_tries} tries, no answer from {', '.join(self._options.urls)}")

    def _server_for(self, case_id: str) -> RemoteServer:
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

    async def _post(self, server: RemoteServer, body: dict[str, Any]) -> str:
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

    async def _recover(self, server: RemoteServer) -> None:
        """Wait until the server is healthy, and make it hold the present weights. One at a time for each server.

        All who wait share its outage, so the patience ends for all of them at once.
        """
        async with server.recovery:
            while (trouble := await in_background(server.trouble)) is not None:
                server.outage.see(trouble)
                if self._process is not None:
                    self._process.revive()
                await self._sleep(self._options.poll_s)
            server.outage.end()
            server.seen_s = self._clock()

    async def load_weights(self, named_tensors: Iterable[tuple[str, Tensor]], version: int) -> None:
        """Replace the weights of every server and forget what was cached from the old ones.

        Raises PolicyError where a server refuses them or stays away for `patience_s`.
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
            server.want(Weights(folder=folder, version=version))
        await asyncio.gather(*map(self._recover, self._servers))
        if old is not None and old != folder:
            shutil.rmtree(old, ignore_errors=True)

    def sleep(self) -> None:
        """One that is gone has given its memory back, and `wake_up` starts it again."""
        self._tell_all("/sleep?level=1", may_be_gone=True)

    def wake_up(self) -> None:
        if self._process is not None:
            self._process.make_ready()  # it may have ended while the trainer worked
        self._tell_all("/wake_up")

    def _tell_all(self, path: str, *, may_be_gone: bool = False) -> None:
        if not self._options.can_sleep:
            return
        for server in self._servers:
            try:
                call(f"{server.url}{path}", {})
            except ServerDown as error:
                if may_be_gone and self._process is not None and self._process.has_ended:
                    log.warning("%s; it is started again for the next step", error)
                    continue
                raise PolicyError(f"{server.url}{path}: {error}") from error

    async def close(self) -> None:
        if self._http is not None:
            await self._http.close()
            self._http = None
        if self._process is not None:
            self._process.close()
