"""One running container: a `Launch` in, a healthy server at a URL out, and everything it started stopped again."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import aiohttp

from robustops.core.errors import ConfigError, GymTimeout, GymUnavailable
from robustops.gym.runtime.commands import HOST, Launch

logger = logging.getLogger(__name__)

PREPARE_TIMEOUT_S = 3600.0  # an image is a gigabyte, and some networks are slow
STOP_TIMEOUT_S = 20.0
HEALTH_PERIOD_S = 0.2
NUM_LINES_KEPT = 20


class Container:
    """Single use. `start` waits until /health answers; `stop` may be called at any time and more than once."""

    def __init__(self, launch: Launch, *, start_timeout_s: float) -> None:
        self.url = f"http://{HOST}:{launch.port}"
        self.name = launch.name
        self._launch = launch
        self._start_timeout_s = start_timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._last_lines: deque[str] = deque(maxlen=NUM_LINES_KEPT)

    async def start(self) -> None:
        """Raises ConfigError without the runtime, GymUnavailable for a container that ends, GymTimeout for a mute one.

        Whatever it raises, nothing stays behind.
        """
        try:
            for step in self._launch.prepare:
                await _run(step.argv, may_fail=step.may_fail, timeout_s=PREPARE_TIMEOUT_S)
            if self._launch.scratch is not None:
                self._launch.scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            logger.info("%s starts: %s", self.name, " ".join(self._launch.run))
            self._process = await _spawn(self._launch.run)
            self._reading = asyncio.create_task(self._read(self._process))
            await self._healthy(self._process)
        except BaseException:
            await self.stop()
            raise

    async def ended(self) -> None:
        """Returns when the container's process has ended, for whatever reason."""
        if self._process is not None:
            await self._process.wait()

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            for step in self._launch.stop:
                await _run(step.argv, may_fail=True, timeout_s=STOP_TIMEOUT_S)
            await _end(process)
            logger.info("%s has stopped", self.name)
        if self._reading is not None:
            await self._reading
            self._reading = None
        if self._launch.scratch is not None:
            await asyncio.to_thread(shutil.rmtree, self._launch.scratch, ignore_errors=True)

    async def _healthy(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(self._start_timeout_s), aiohttp.ClientSession() as http:
                while process.returncode is None:
                    if await _answers(http, f"{self.url}/health"):
                        return
                    await asyncio.sleep(HEALTH_PERIOD_S)
        except TimeoutError as error:
            raise GymTimeout(
                f"{self.name}: {self.url}/health did not answer within {self._start_timeout_s:g} s; raise "
                f"start_timeout_s, or look at its last words: {self._words()}"
            ) from error
        raise GymUnavailable(f"{self.name}: ended with exit code {process.returncode} at its start: {self._words()}")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Drain the output, so that the container never waits for us; the last lines explain a failure."""
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._last_lines.append(line.decode("utf-8", "replace").rstrip())
            logger.debug("%s: %s", self.name, self._last_lines[-1])

    def _words(self) -> str:
        return " | ".join(self._last_lines) or "none"


async def _answers(http: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with http.get(url, timeout=aiohttp.ClientTimeout(total=5)) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


async def _spawn(argv: Sequence[str]) -> asyncio.subprocess.Process:
    """In a session of its own: Ctrl-C reaches us first, and its children end with it."""
    try:
        return await asyncio.create_subprocess_exec(
            *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, start_new_session=True
        )
    except FileNotFoundError as error:
        raise ConfigError(
            f"gym={argv[0]}: there is no executable {argv[0]!r} on PATH; install it, or serve with gym=embedded"
        ) from error


async def _run(argv: Sequence[str], *, may_fail: bool, timeout_s: float) -> None:
    process = await _spawn(argv)
    try:
        async with asyncio.timeout(timeout_s):
            output, _ = await process.communicate()
    except TimeoutError as error:
        await _end(process)
        if not may_fail:
            raise GymTimeout(f"{' '.join(argv)}: not done within {timeout_s:g} s") from error
        return
    except BaseException:
        await _end(process)
        raise
    if process.returncode and not may_fail:
        words = output.decode("utf-8", "replace").strip().splitlines()[-3:]
        raise GymUnavailable(f"{' '.join(argv)}: exit code {process.returncode}: {' | '.join(words)}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Terminate its whole process group, and kill what does not go."""
    if process.returncode is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
                return
