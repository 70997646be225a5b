"""A served csm domain in a process of its own: its URL, and the CPU seconds that it took so far."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from robustops.gym.server import serve


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    url: str
    pid: int

    def cpu_s(self) -> float:
        """User and system time; 0 where there is no /proc."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _serve(pipe: Connection) -> None:
    asyncio.run(serve(["csm"], port=0, on_ready=lambda served: pipe.send(served[0].url)))


@contextmanager
def server_process() -> Iterator[Server]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        if not here.poll(60):
            raise RuntimeError("the server did not start within 60 s")
        yield Server(url=here.recv(), pid=process.pid or 0)
    finally:
        process.terminate()
        process.join()
