"""The gym's speed on the real csm seed: B6 (restore against replay), B7 (tasks per second), and what each step costs.

Run: python -m benchmarks gym

B6: a continuation begins 20 calls deep in an episode. A: sessions are opened and restored from the checkpoint's bytes.
B: the seed SQL is loaded and the 20 calls are made again. Both end with the state hash of the checkpoint.

B7: a task opens a session, makes one call, takes a snapshot, restores it and verifies five checks; in process, and over
HTTP against a server in another process. The naive client beside them (benchmarks/naive.py) takes no snapshot, so the
ratios to it are of tasks without one. Every task of every way must pass all its checks, or the benchmark fails.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from time import perf_counter, process_time

from csm import SERVER, WRITE, csm_task
from naive import NaiveClient
from served import Server, server_process
from table import append_row, interleave

from robustops.core.task import Task
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym, EmbeddedSession
from robustops.gym.session import Gym, Session
from robustops.gym.verify import verify

CONCURRENCIES = (1, 8, 16, 32, 64, 128)
READS = {
    "read_by_id": ("find_product_by_id", {"product_id": 3}),
    "read_by_scan": ("find_case_slas", {"case_id": 5}),
}
NUM_RESTORED, NUM_REPLAYED = 16, 2  # sessions in one measurement of B6: a restore alone is too short to time
PREFIX = [READS["read_by_id"], WRITE, READS["read_by_scan"], ("count_case_by_state", {})] * 5
TARGETS = {"ratio_median": 100.0, "read_by_id_calls_per_s": 2000.0, "embedded_to_naive": 10.0}

Run = Callable[[], Awaitable[None]]  # one task, from its opening to its verdict


async def called(session: Session, name: str, arguments: dict[str, object]) -> None:
    result = await session.call(name, arguments)
    if result.is_error:
        raise RuntimeError(f"{name}: {result.text}")


async def play_prefix(session: EmbeddedSession) -> str:
    for name, arguments in PREFIX:
        await called(session, name, arguments)
    return await session.state_hash()


async def restored(gym: EmbeddedGym, task: Task, checkpoint: bytes, digest: str) -> None:
    for _ in range(NUM_RESTORED):
        async with gym.open(task) as session:
            await session.restore(checkpoint)
            if await session.state_hash() != digest:
                raise RuntimeError("the restored state is not that of the checkpoint")


async def replayed(task: Task, digest: str) -> None:
    for _ in range(NUM_REPLAYED):
        async with EmbeddedGym().open(task) as session:  # a gym of its own: nothing cached, the seed is loaded
            if await play_prefix(session) != digest:
                raise RuntimeError("the replayed state is not that of the checkpoint")


async def one_task(gym: Gym, task: Task, *, has_snapshot: bool) -> None:
    async with gym.open(task) as session:
        await called(session, *WRITE)
        if has_snapshot:
            await session.restore(await session.snapshot())
        verdict = await verify(session, task, graph=None, calls=(), answer="", judge=None)
    if not verdict.strict:
        raise RuntimeError(f"a check did not pass: {verdict}")


async def naive_task(client: NaiveClient, task: Task) -> None:
    if await client.run(task, WRITE) != len(task.checks):
        raise RuntimeError("a check did not pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """`cpu_share`: of one core, taken by this process. `cpu_ms`: of one task, by this process and the server."""

    tasks_per_s: float
    cpu_share: float
    cpu_ms: float


async def throughput(run: Run, num_tasks: int, concurrency: int, server: Server) -> Throughput:
    """Raises whatever a task raises: a figure is only given for 100% of the tasks."""
    waiting = iter(range(num_tasks))

    async def work() -> None:
        for _ in waiting:
            await run()

    start, cpu_start, server_start = perf_counter(), process_time(), server.cpu_s()
    async with asyncio.TaskGroup() as group:
        for _ in range(min(concurrency, num_tasks)):
            group.create_task(work())
    wall_s, cpu_s = perf_counter() - start, process_time() - cpu_start
    both_s = cpu_s + server.cpu_s() - server_start
    return Throughput(tasks_per_s=num_tasks / wall_s, cpu_share=cpu_s / wall_s, cpu_ms=both_s / num_tasks * 1000)


async def mean_us(work: Callable[[], Awaitable[object]], repeats: int = 300) -> float:
    await work()
    start = perf_counter()
    for _ in range(repeats):
        await work()
    return (perf_counter() - start) / repeats * 1e6


async def step_costs(gym: Gym, task: Task) -> dict[str, float]:
    """Mean microseconds of every step of a task, and calls per second."""

    async def open_and_close() -> None:
        async with gym.open(task):
            pass

    costs = {"open_us": round(await mean_us(open_and_close), 1)}
    async with gym.open(task) as session:
        steps: dict[str, Callable[[], Awaitable[object]]] = {
            name: (lambda call=call: session.call(*call)) for name, call in (*READS.items(), ("write", WRITE))
        }
        for name, step in steps.items():
            costs[f"{name}_us"] = round(await mean_us(step), 1)
            costs[f"{name}_calls_per_s"] = round(1e6 / costs[f"{name}_us"])
        snapshot = await session.snapshot()
        costs["snapshot_us"] = round(await mean_us(session.snapshot), 1)
        costs["restore_us"] = round(await mean_us(lambda: session.restore(snapshot)), 1)
        costs["verify_us"] = round(await mean_us(lambda: verified(session, task)), 1)
    return costs


async def verified(session: Session, task: Task) -> None:
    """After a write, as at the end of an episode: the checks read a fresh copy."""
    await session.call(*WRITE)
    await verify(session, task, graph=None, calls=(), answer="", judge=None)


def checkpoint_row(runner: asyncio.Runner, task: Task, num_pairs: int) -> dict[str, object]:
    gym = EmbeddedGym()

    async def checkpoint() -> tuple[bytes, str]:
        async with gym.open(task) as session:
            digest = await play_prefix(session)
            return await session.snapshot(), digest

    each = NUM_RESTORED / NUM_REPLAYED
    content, digest = runner.run(checkpoint())
    paired = interleave(
        lambda: runner.run(restored(gym, task, content, digest)),
        lambda: runner.run(replayed(task, digest)),
        num_pairs=num_pairs,
    )
    return {
        "restore_ms": round(paired.a_ms / NUM_RESTORED, 3),
        "reseed_and_replay_ms": round(paired.b_ms / NUM_REPLAYED, 1),
        "ratio_median": round(paired.ratio * each, 1),
        "ratio_quartiles": [round(value * each, 1) for value in paired.ratio_quartiles],
        "pairs": paired.num_pairs,
        "checkpoint_bytes": len(content),
        **runner.run(step_costs(gym, task)),
    }


def throughput_rows(
    runner: asyncio.Runner, task: Task, server: Server, *, num_rounds: int, concurrencies: Iterable[int]
) -> Iterable[dict[str, object]]:
    embedded, remote, naive = EmbeddedGym(), HttpGym({SERVER: server.url}), NaiveClient(server.url)
    ways: dict[str, Run] = {
        "embedded": lambda: one_task(embedded, task, has_snapshot=True),
        "http": lambda: one_task(remote, task, has_snapshot=True),
        "embedded_plain": lambda: one_task(embedded, task, has_snapshot=False),
        "http_plain": lambda: one_task(remote, task, has_snapshot=False),
        "naive": lambda: naive_task(naive, task),
    }
    for run in ways.values():
        runner.run(run())  # loads the seed and shakes hands, untimed
    for concurrency in concurrencies:
        sizes = {way: max(32, concurrency) * (4 if "embedded" in way else 1) for way in ways}
        seen: dict[str, list[Throughput]] = {way: [] for way in ways}
        retries = remote.traffic.num_retries
        for _ in range(num_rounds):
            for way, run in ways.items():
                seen[way].append(runner.run(throughput(run, sizes[way], concurrency, server)))
        rates = {way: [one.tasks_per_s for one in found] for way, found in seen.items()}
        yield {
            "concurrency": concurrency,
            "completed": "100%",
            **{f"{way}_tasks_per_s": round(statistics.median(found), 1) for way, found in rates.items()},
            **{f"{way}_client_cpu": round(statistics.median(one.cpu_share for one in seen[way]), 2) for way in ways},
            **{f"{way}_cpu_ms": round(statistics.median(one.cpu_ms for one in seen[way]), 2) for way in ways},
            "http_retries": remote.traffic.num_retries - retries,
            "embedded_to_naive": ratio(rates["embedded_plain"], rates["naive"]),
            "http_to_naive": ratio(rates["http_plain"], rates["naive"]),
            "rounds": num_rounds,
        }
    runner.run(remote.close())


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios of each round."""
    return round(statistics.median(a / b for a, b in zip(ours, theirs, strict=True)), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10, help="interleaved measurements of B6")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved measurements of B7 at each concurrency")
    parser.add_argument("--concurrency", type=int, nargs="*", default=CONCURRENCIES)
    options = parser.parse_args()
    task = csm_task()
    with asyncio.Runner() as runner:
        row = checkpoint_row(runner, task, options.pairs)
        print(append_row("B6 gym", row, packages=("pydantic",)))
        rows = [row]
        with server_process() as server:
            for row in throughput_rows(
                runner, task, server, num_rounds=options.rounds, concurrencies=options.concurrency
            ):
                print(append_row("B7 gym", row, packages=("aiohttp",)), flush=True)
                rows.append(row)
            remote = HttpGym({SERVER: server.url})
            costs = runner.run(step_costs(remote, task))
            print(append_row("B7 gym over HTTP, steps", costs, packages=("aiohttp",)))
            runner.run(remote.close())
    for name, target in TARGETS.items():
        worst = min(float(str(row[name])) for row in rows if name in row)
        print(f"{name}: {worst:g}, target at least {target:g}: {'met' if worst >= target else 'MISSED'}")


if __name__ == "__main__":
    main()
