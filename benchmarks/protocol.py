"""Calls per second on the csm gym, in process and over HTTP. Run: python benchmarks/protocol.py

A: the embedded session. B: the same engine served by another process on loopback, through `HttpGym`. Both open
sessions on the real csm seed of the package agentrelbench, and in ten rounds call three read tools and one write and
query once. Opening is part of the time: over HTTP it sends 1.2 MB of seed.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from csm import SERVER, csm_task
from table import append_row, interleave

from robustops.core.task import Task
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.server import serve
from robustops.gym.session import Gym

CALLS = (
    ("find_account", {"name": "Acme Systems"}),
    ("find_contracts", {"account_id": 3}),
    ("search_cases", {"account_id": 3, "state": "new"}),
    ("update_contract", {"contract_id": 8, "contract_price": 17500}),
)
QUERY = "SELECT COUNT(*) FROM contract WHERE contract_price = 17500"
ROUNDS = 10


async def session_of_calls(gym: Gym, task: Task) -> None:
    async with gym.open(task) as session:
        for _ in range(ROUNDS):
            for name, arguments in CALLS:
                result = await session.call(name, arguments)
                if result.is_error:
                    raise RuntimeError(f"{name}: {result.text}")
            await session.query(QUERY)


async def sessions(gym: Gym, task: Task, concurrency: int) -> None:
    await asyncio.gather(*(session_of_calls(gym, task) for _ in range(concurrency)))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10, help="interleaved measurements of each way")
    pairs = parser.parse_args().pairs
    task, embedded = csm_task(), EmbeddedGym()
    with server_process() as url, asyncio.Runner() as runner:
        over_http = HttpGym({SERVER: url})
        for concurrency in (1, 8):
            paired = interleave(
                lambda n=concurrency: runner.run(sessions(embedded, task, n)),
                lambda n=concurrency: runner.run(sessions(over_http, task, n)),
                num_pairs=pairs,
            )
            num_calls = concurrency * ROUNDS * (len(CALLS) + 1)
            row = {
                "concurrency": concurrency,
                "embedded_calls_per_s": round(num_calls / paired.a_ms * 1000),
                "http_calls_per_s": round(num_calls / paired.b_ms * 1000),
                "ratio_median": round(paired.ratio, 1),
                "ratio_quartiles": [round(value, 1) for value in paired.ratio_quartiles],
                "pairs": paired.num_pairs,
            }
            print(append_row("protocol", row, packages=("aiohttp",)))
        runner.run(over_http.close())


if __name__ == "__main__":
    main()
