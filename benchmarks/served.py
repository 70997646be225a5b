"""A served csm domain in a process of its own: its URL, and how much of a core it took."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from robustops.gym.server import serve


def _serve(pipe: Connection) -> None:
    asyncio.run(serve(["csm"], port=0, on_ready=lambda served: pipe.send(served[0].url)))


@contextmanager
def server_process() -> Iterator[str]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        if not here.poll(60):
            raise RuntimeError("the server did not start within 60 s")
        yield here.recv()
    finally:
        process.terminate()
        process.join()
