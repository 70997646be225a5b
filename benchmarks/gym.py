"""The embedded csm gym: B6, continuing from a checkpoint, and what each step costs. Run: python benchmarks/gym.py

B6: a continuation begins 20 calls deep in an episode on the real csm seed of the package agentrelbench. A: four
sessions are opened and restored from the checkpoint's bytes. B: the seed SQL is loaded and the 20 calls are made
again, four times. Both end with the state hash of the checkpoint, which is checked.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter

from csm import csm_task
from table import append_row, interleave

from robustops.core.task import Task
from robustops.gym.embedded import EmbeddedGym, EmbeddedSession

MEMBERS = 4
WRITE = ("update_case", {"case_id": 3, "priority": "low"})
READS = {
    "read_by_id_us": ("find_product_by_id", {"product_id": 3}),
    "read_by_scan_us": ("find_case_slas", {"case_id": 5}),
}
PREFIX = [READS["read_by_id_us"], WRITE, ("find_case_slas", {"case_id": 5}), ("count_case_by_state", {})] * 5


async def play_prefix(session: EmbeddedSession) -> str:
    for name, arguments in PREFIX:
        result = await session.call(name, arguments)
        if result.is_error:
            raise RuntimeError(f"{name}: {result.text}")
    return await session.state_hash()


async def restored(gym: EmbeddedGym, task: Task, checkpoint: bytes, digest: str) -> None:
    for _ in range(MEMBERS):
        async with gym.open(task) as session:
            await session.restore(checkpoint)
            if await session.state_hash() != digest:
                raise RuntimeError("the restored state is not that of the checkpoint")


async def replayed(task: Task, digest: str) -> None:
    for _ in range(MEMBERS):
        async with EmbeddedGym().open(task) as session:  # a gym of its own: nothing cached, the seed is loaded
            if await play_prefix(session) != digest:
                raise RuntimeError("the replayed state is not that of the checkpoint")


async def mean_us(work: Callable[[], Awaitable[object]], repeats: int = 300) -> float:
    await work()
    start = perf_counter()
    for _ in range(repeats):
        await work()
    return round((perf_counter() - start) / repeats * 1e6, 1)


async def step_costs(gym: EmbeddedGym, task: Task) -> dict[str, float]:
    async def open_and_close() -> None:
        async with gym.open(task):
            pass

    costs = {"open_us": await mean_us(open_and_close)}
    async with gym.open(task) as session:

        async def write_and_hash() -> None:
            await session.call(*WRITE)
            await session.state_hash()

        for name, call in READS.items():
            costs[name] = await mean_us(lambda call=call: session.call(*call))
        costs["write_us"] = await mean_us(lambda: session.call(*WRITE))
        costs["write_and_hash_us"] = await mean_us(write_and_hash)
        snapshot = await session.snapshot()
        costs["snapshot_us"] = await mean_us(session.snapshot)
        costs["restore_us"] = await mean_us(lambda: session.restore(snapshot))
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10, help="interleaved measurements of each way")
    num_pairs = parser.parse_args().pairs
    task, gym = csm_task(), EmbeddedGym()

    async def checkpoint() -> tuple[bytes, str]:
        async with gym.open(task) as session:
            digest = await play_prefix(session)
            return await session.snapshot(), digest

    with asyncio.Runner() as runner:
        content, digest = runner.run(checkpoint())
        paired = interleave(
            lambda: runner.run(restored(gym, task, content, digest)),
            lambda: runner.run(replayed(task, digest)),
            num_pairs=num_pairs,
        )
        row = {
            "restore_ms_per_member": round(paired.a_ms / MEMBERS, 3),
            "reseed_and_replay_ms_per_member": round(paired.b_ms / MEMBERS, 1),
            "ratio_median": round(paired.ratio, 1),
            "ratio_quartiles": [round(value, 1) for value in paired.ratio_quartiles],
            "pairs": paired.num_pairs,
            "checkpoint_bytes": len(content),
            **runner.run(step_costs(gym, task)),
        }
    print(append_row("B6 gym", row, packages=("pydantic",)))


if __name__ == "__main__":
    main()
