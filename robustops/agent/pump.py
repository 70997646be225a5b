"""Many coroutines share one synchronous engine. Waiting acts in, samples out, one event loop, no threads.

The pump adds waiting requests, steps the engine and resolves each request the moment it finishes, so that its tool runs
and the episode re-enters while the others keep decoding. With `deterministic=True` a barrier collects the turns of all
live episodes, sorts them and runs them as one batch, so that the order of arrival changes nothing. With a store, what
is found there is not asked of the engine: request by request, or in deterministic mode whole batches only, since the
last bits of a sample depend on the batch that it was in.
Knows no engine library, no tokenizer and no gym.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from robustops.agent.policy import Prompt, Request, Sample, SampleStore, Sampling
from robustops.core.errors import PolicyError, first_line

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    request_id: str
    sample: Sample | None  # None: the engine gave this request up, for the reason in `error`
    error: str = ""


class Engine(Protocol):
    """A synchronous batch engine; all calls come from one thread."""

    def add(self, request_id: str, token_ids: Sequence[int], sampling: Sampling) -> None:
        """Raises ValueError when this request can never run (too long, empty)."""

    def abort(self, request_id: str) -> None: ...

    def step(self) -> Sequence[Finished]:
        """Advance all running requests; returns those that finished."""

    def has_unfinished(self) -> bool: ...


@dataclass(slots=True, kw_only=True, eq=False)
class _Waiting:
    request_id: str
    prompt: Prompt
    sampling: Sampling
    future: asyncio.Future[Sample]

    @property
    def request(self) -> Request:
        return Request(prompt=self.prompt, sampling=self.sampling)


class EnginePump:
    """Feeds an Engine from coroutines.

    `seed` is the root of the per-request seeds of deterministic mode, where a Sampling has none.
    `quiet_passes`: with nobody registered, the barrier opens once the event loop made this many passes without a new
    act. That is exact while tools run in process; episodes that wait for real I/O register with `join` and `leave`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        deterministic: bool = False,
        seed: int = 0,
        quiet_passes: int = 32,
        barrier_timeout_s: float = 600.0,
    ) -> None:
        self._engine = engine
        self._deterministic = deterministic
        self._seed = seed
        self._quiet_passes = quiet_passes
        self._barrier_timeout_s = barrier_timeout_s
        self._queue: list[_Waiting] = []
        self._running: dict[str, _Waiting] = {}
        self._task: asyncio.Task[None] | None = None
        self._num_requests = 0
        self._num_joined = 0
        self._store: SampleStore | None = None
        self._changed = asyncio.Event()
        self._broken = ""

    @property
    def is_idle(self) -> bool:
        return not self._queue and not self._running and not self._engine.has_unfinished()

    def remember(self, store: SampleStore | None) -> None:
        """Where samples are kept and looked for from now on; None for nowhere."""
        self._store = store

    def join(self, num: int = 1) -> None:
        """One more branch of execution will act: the barrier waits until it acts or leaves."""
        self._num_joined += num
        self._changed.set()

    def leave(self, num: int = 1) -> None:
        if num > self._num_joined:
            raise ValueError(f"{num} branches leave, but only {self._num_joined} had joined")
        self._num_joined -= num
        self._changed.set()

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Raises PolicyError when the engine refuses the request or has stopped."""
        if self._broken:
            raise PolicyError(f"{prompt.case_id} turn {prompt.turn}: the engine has stopped: {self._broken}")
        if not self._deterministic and (found := self._found([Request(prompt=prompt, sampling=sampling)])) is not None:
            await asyncio.sleep(0)  # as an engine would: let the others act as well
            return found[0]
        self._num_requests += 1
        future: asyncio.Future[Sample] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(request_id=str(self._num_requests), prompt=prompt, sampling=sampling, future=future)
        self._queue.append(waiting)
        self._changed.set()
        self._wake()
        try:
            return await future
        except asyncio.CancelledError:
            self._forget(waiting)
            raise

    async def close(self) -> None:
        """Stop the pump; whoever still waits gets a PolicyError."""
        self._broken = self._broken or "closed"
        task, self._task = self._task, None
        if task is not None and task.done() and not task.cancelled():
            task.exception()  # an interrupt that rose through it was heard; asyncio would print it
        if task is not None and not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._fail_all("closed")

    def _wake(self) -> None:
        # A pump task belongs to one event loop: every asyncio.run of the trainer gets its own.
        if self._task is None or self._task.done():
            self._changed = asyncio.Event()
            self._changed.set()
            self._task = asyncio.get_running_loop().create_task(self._run())

    def _forget(self, waiting: _Waiting) -> None:
        if waiting in self._queue:
            self._queue.remove(waiting)
        elif self._running.pop(waiting.request_id, None) is not None:
            self._engine.abort(waiting.request_id)
        self._changed.set()

    async def _run(self) -> None:
        try:
            while self._queue or self._running:
                if self._deterministic:
                    await self._round()
                else:
                    self._dispatch(self._take())
                    self._resolve(self._engine.step())
                    await asyncio.sleep(0)  # finished episodes run their tools and come back
        except Exception as error:
            # Whatever an engine throws ends it for everybody: waiting coroutines must hear of it.
            self._broken = f"{type(error).__name__}: {first_line(error)}"
            log.error("engine stopped: %s", self._broken)
            self._fail_all(self._broken, cause=error)

    async def _round(self) -> None:
        """One deterministic batch: everybody waits, one sorted dispatch, run to the end, sorted wake-up."""
        await self._barrier()
        batch = self._seeded(sorted(self._take(), key=_order))
        if (found := self._found([waiting.request for waiting in batch])) is not None:
            for waiting, sample in zip(batch, found, strict=True):
                if not waiting.future.done():
                    waiting.future.set_result(sample)
        else:
            self._dispatch(batch)
            finished: list[Finished] = []
            while self._running and self._engine.has_unfinished():
                finished += self._engine.step()
                await asyncio.sleep(0)
            rank = {waiting.request_id: index for index, waiting in enumerate(batch)}
            self._resolve(sorted(finished, key=lambda done: rank[done.request_id]))
        await asyncio.sleep(0)

    async def _barrier(self) -> None:
        if self._num_joined:
            try:
                async with asyncio.timeout(self._barrier_timeout_s):
                    while len(self._queue) < self._num_joined:
                        self._changed.clear()
                        await self._changed.wait()
            except TimeoutError:
                log.warning(
                    "barrier: %d of %d branches acted within %.0f s; this batch may not be reproducible",
                    len(self._queue),
                    self._num_joined,
                    self._barrier_timeout_s,
                )
            return
        num_quiet = 0
        while num_quiet < self._quiet_passes:
            num_before = self._num_requests
            await asyncio.sleep(0)
            num_quiet = num_quiet + 1 if self._num_requests == num_before else 0

    def _take(self) -> list[_Waiting]:
        taken, self._queue = self._queue, []
        return taken

    def _seeded(self, batch: Sequence[_Waiting]) -> list[_Waiting]:
        """Give each request a seed of its own, from what it is and not from when it came."""
        seen: Counter[tuple[str, int]] = Counter()
        seeded = []
        for waiting in batch:
            key = (waiting.prompt.case_id, waiting.prompt.turn)
            if waiting.sampling.seed is None:
                text = f"{self._seed}|{key[0]}|{key[1]}|{seen[key]}"
                derived = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
                waiting.sampling = replace(waiting.sampling, seed=derived)
            seen[key] += 1
            seeded.append(waiting)
        return seeded

    def _dispatch(self, batch: Sequence[_Waiting]) -> None:
        # All count as running before the first is added: should the engine die in between, everybody hears of it.
        self._running.update({waiting.request_id: waiting for waiting in batch})
        for waiting in batch:
            try:
                self._engine.add(waiting.request_id, waiting.prompt.token_ids, waiting.sampling)
            except ValueError as error:
                del self._running[waiting.request_id]
                where = f"{waiting.prompt.case_id} turn {waiting.prompt.turn}"
                _fail(
                    waiting.future, PolicyError(f"{where}: the engine refused the request: {first_line(error)}"), error
                )

    def _found(self, requests: Sequence[Request]) -> list[Sample] | None:
        return self._store.find(requests) if self._store is not None and requests else None

    def _keep(self, finished: Sequence[Finished]) -> None:
        known = [(self._running[done.request_id], done.sample) for done in finished if done.request_id in self._running]
        pairs = [(waiting.request, sample) for waiting, sample in known if sample is not None]
        if self._store is not None and pairs:
            self._store.keep([request for request, _ in pairs], [sample for _, sample in pairs])

    def _resolve(self, finished: Sequence[Finished]) -> None:
        self._keep(finished)
        for done in finished:
            waiting = self._running.pop(done.request_id, None)
            if waiting is None or waiting.future.done():
                continue
            if done.sample is None:
                where = f"{waiting.prompt.case_id} turn {waiting.prompt.turn}"
                waiting.future.set_exception(PolicyError(f"{where}: the engine gave no sample: {done.error}"))
            else:
                waiting.future.set_result(done.sample)

    def _fail_all(self, reason: str, cause: Exception | None = None) -> None:
        for waiting in [*self._take(), *self._running.values()]:
            where = f"{waiting.prompt.case_id} turn {waiting.prompt.turn}"
            _fail(waiting.future, PolicyError(f"{where}: the engine has stopped: {reason}"), cause)
        self._running.clear()


def _order(waiting: _Waiting) -> tuple[str, int, tuple[int, ...], int]:
    """Case, turn, then what tells equal ones apart; a tie after that is between equal requests."""
    seed = waiting.sampling.seed
    return (waiting.prompt.case_id, waiting.prompt.turn, waiting.prompt.token_ids, -1 if seed is None else seed)


def _fail(future: asyncio.Future[Sample], error: PolicyError, cause: Exception | None) -> None:
    if not future.done():
        error.__cause__ = cause
        future.set_exception(error)
