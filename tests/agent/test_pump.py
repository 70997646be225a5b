"""The pump between coroutines and a synchronous engine, against a fake engine that needs several steps per request."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Sequence

import pytest

from robustops.agent.policy import Prompt, Request, Sample, Sampling
from robustops.agent.pump import EnginePump, Finished
from robustops.core.errors import PolicyError


class CountdownEngine:
    """Each request runs for `token_ids[0]` steps and then answers with its own prompt and seed."""

    def __init__(self) -> None:
        self.left: dict[str, int] = {}
        self.answers: dict[str, Sample] = {}
        self.batches: list[list[tuple[int, ...]]] = []
        self.added: list[tuple[int, ...]] = []
        self.aborted: list[str] = []
        self.num_steps = 0
        self.fails_at_step = -1

    def add(self, request_id: str, token_ids: Sequence[int], sampling: Sampling) -> None:
        if token_ids[0] == 666:
            raise RuntimeError("the engine core is gone")
        if len(token_ids) > 8:
            raise ValueError("prompt of 9 tokens is longer than 8")
        self.added.append(tuple(token_ids))
        self.left[request_id] = token_ids[0]
        seed = -1 if sampling.seed is None else sampling.seed
        self.answers[request_id] = Sample(token_ids=(*token_ids, seed), logprobs=(), text="", finish="stop")

    def abort(self, request_id: str) -> None:
        self.aborted.append(request_id)
        del self.left[request_id]

    def step(self) -> list[Finished]:
        self.num_steps += 1
        if self.num_steps == self.fails_at_step:
            raise RuntimeError("out of memory\nsecond line")
        self.batches.append([self.answers[key].token_ids[:-1] for key in self.left])
        self.left = {key: left - 1 for key, left in self.left.items()}
        done = [key for key, left in self.left.items() if left <= 0]
        for key in done:
            del self.left[key]
        return [Finished(request_id=key, sample=self.answers[key]) for key in done]

    def has_unfinished(self) -> bool:
        return bool(self.left)


def prompt(case_id: str, turn: int, *token_ids: int) -> Prompt:
    return Prompt(case_id=case_id, task_id=case_id, turn=turn, token_ids=token_ids, messages=(), tools=())


async def test_a_finished_episode_reenters_while_a_longer_one_is_still_decoding():
    engine = CountdownEngine()
    pump = EnginePump(engine)

    async def short() -> None:
        for turn in range(4):
            await pump.act(prompt("short", turn, 1, turn), Sampling())

    await asyncio.gather(pump.act(prompt("long", 0, 5), Sampling()), short())
    # Lockstep would need 5 + 1 + 1 + 1 steps: the short episode's turns all ran beside the long one's.
    assert engine.num_steps == 5
    assert [len(batch) for batch in engine.batches] == [2, 2, 2, 2, 1]


async def test_each_answer_reaches_the_coroutine_that_asked():
    pump = EnginePump(CountdownEngine())
    samples = await asyncio.gather(*(pump.act(prompt("c", 0, 3 - i % 3, i), Sampling(seed=i)) for i in range(12)))
    assert [sample.token_ids for sample in samples] == [(3 - i % 3, i, i) for i in range(12)]


async def run_episodes(order: Sequence[int], *, joined: bool) -> CountdownEngine:
    """Episodes of two or three turns that wait a random number of loop passes before each act."""
    engine = CountdownEngine()
    pump = EnginePump(engine, deterministic=True, quiet_passes=16)
    delays = random.Random(str(order))

    async def episode(name: int) -> None:
        for turn in range(2 + name % 2):
            for _ in range(delays.randrange(60 if joined else 6)):
                await asyncio.sleep(0)
            await pump.act(prompt(f"case-{name}", turn, 1 + name % 3, name, turn), Sampling())
        if joined:
            pump.leave()

    if joined:
        pump.join(len(order))
    await asyncio.gather(*(episode(name) for name in order))
    return engine


@pytest.mark.parametrize("joined", [False, True])
async def test_deterministic_mode_runs_equal_batches_whatever_the_order_of_arrival(joined):
    names = list(range(6))
    first = await run_episodes(names, joined=joined)
    second = await run_episodes(names[::-1], joined=joined)
    assert first.added == second.added
    assert first.batches == second.batches
    assert [ids[1] for ids in first.added[:6]] == names
    seeded = [sorted(sample.token_ids for sample in run.answers.values()) for run in (first, second)]
    assert seeded[0] == seeded[1], "seeds must depend on the request alone"


async def test_a_barrier_waits_for_a_registered_branch_that_is_slow():
    engine = CountdownEngine()
    pump = EnginePump(engine, deterministic=True, quiet_passes=2)
    pump.join(2)

    async def slow() -> None:
        for _ in range(200):
            await asyncio.sleep(0)
        await pump.act(prompt("b", 0, 1, 2), Sampling())
        pump.leave()

    async def quick() -> None:
        await pump.act(prompt("a", 0, 1, 1), Sampling())
        pump.leave()

    await asyncio.gather(slow(), quick())
    assert engine.batches == [[(1, 1), (1, 2)]]


async def test_a_barrier_gives_up_on_a_branch_that_never_acts():
    engine = CountdownEngine()
    pump = EnginePump(engine, deterministic=True, barrier_timeout_s=0.01)
    pump.join(2)
    sample = await pump.act(prompt("a", 0, 1), Sampling(seed=4))
    assert sample.token_ids == (1, 4)


async def test_equal_requests_of_one_batch_get_different_seeds():
    pump = EnginePump(CountdownEngine(), deterministic=True)
    samples = await asyncio.gather(*(pump.act(prompt("c", 0, 1), Sampling()) for _ in range(4)))
    assert len({sample.token_ids[-1] for sample in samples}) == 4


async def test_leaving_without_having_joined_is_a_mistake():
    pump = EnginePump(CountdownEngine())
    pump.join()
    with pytest.raises(ValueError, match="2 branches leave, but only 1"):
        pump.leave(2)


@pytest.mark.parametrize("deterministic", [False, True])
async def test_a_refused_request_fails_alone_and_names_case_and_turn(deterministic):
    pump = EnginePump(CountdownEngine(), deterministic=deterministic)
    refused, fine = await asyncio.gather(
        pump.act(prompt("big", 3, *range(9)), Sampling()),
        pump.act(prompt("ok", 0, 2), Sampling(seed=7)),
        return_exceptions=True,
    )
    assert isinstance(refused, PolicyError)
    assert str(refused) == "big turn 3: the engine refused the request: prompt of 9 tokens is longer than 8"
    assert fine.token_ids == (2, 7)


async def test_an_engine_that_dies_tells_everybody_in_one_line():
    engine = CountdownEngine()
    engine.fails_at_step = 2
    pump = EnginePump(engine)
    errors = await asyncio.gather(
        *(pump.act(prompt(f"c{i}", 1, 5), Sampling()) for i in range(3)), return_exceptions=True
    )
    assert [str(error) for error in errors] == [
        f"c{i} turn 1: the engine has stopped: RuntimeError: out of memory" for i in range(3)
    ]
    with pytest.raises(PolicyError, match="out of memory"):
        await pump.act(prompt("later", 0, 1), Sampling())


async def test_an_engine_that_dies_while_requests_are_added_tells_the_whole_batch():
    pump = EnginePump(CountdownEngine())
    ids = (3, 666, 3)
    errors = await asyncio.gather(
        *(pump.act(prompt(f"c{i}", 0, first), Sampling()) for i, first in enumerate(ids)), return_exceptions=True
    )
    assert all("the engine core is gone" in str(error) for error in errors)


async def test_a_cancelled_act_leaves_the_engine():
    engine = CountdownEngine()
    pump = EnginePump(engine)
    task = asyncio.create_task(pump.act(prompt("stuck", 0, 10**9), Sampling()))
    await pump.act(prompt("other", 0, 3), Sampling())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [engine.answers[key].token_ids[0] for key in engine.aborted] == [10**9]
    assert pump.is_idle


async def test_close_releases_whoever_still_waits():
    pump = EnginePump(CountdownEngine())
    task = asyncio.create_task(pump.act(prompt("stuck", 0, 10**9), Sampling()))
    await asyncio.sleep(0)
    await pump.close()
    with pytest.raises(PolicyError, match="stuck turn 0: the engine has stopped: closed"):
        await task


def test_the_pump_survives_several_event_loops():
    pump = EnginePump(CountdownEngine(), deterministic=True)
    for seed in range(3):
        sample = asyncio.run(pump.act(prompt("c", 0, 2), Sampling(seed=seed)))
        assert sample.token_ids == (2, seed)


class Notebook:
    """A store that finds what it is given, and notes what it is asked to keep."""

    def __init__(self, known: Sequence[tuple[str, int]] = ()) -> None:
        self.known = set(known)
        self.kept: list[list[tuple[str, int]]] = []

    def find(self, requests: Sequence[Request]) -> list[Sample] | None:
        names = [(request.prompt.case_id, request.prompt.turn) for request in requests]
        answer = Sample(token_ids=(0,), logprobs=(), text="from the store", finish="stop")
        return [answer for _ in names] if self.known.issuperset(names) else None

    def keep(self, requests: Sequence[Request], samples: Sequence[Sample]) -> None:
        assert len(requests) == len(samples)
        self.kept.append([(request.prompt.case_id, request.prompt.turn) for request in requests])


async def two_turns(pump: EnginePump, name: str) -> list[str]:
    return [(await pump.act(prompt(name, turn, 1, turn), Sampling(seed=7))).text for turn in range(2)]


async def test_what_the_store_knows_is_not_asked_of_the_engine_and_the_rest_is_kept():
    engine, store = CountdownEngine(), Notebook([("a", 0), ("b", 0), ("b", 1)])
    pump = EnginePump(engine)
    pump.remember(store)
    texts = await asyncio.gather(*(two_turns(pump, name) for name in "abc"))
    assert texts == [["from the store", ""], ["from the store", "from the store"], ["", ""]]
    assert sorted(name for batch in store.kept for name in batch) == [("a", 1), ("c", 0), ("c", 1)]
    assert len(engine.added) == 3


async def test_a_deterministic_batch_comes_from_the_store_whole_or_is_run_whole():
    engine, store = CountdownEngine(), Notebook([("a", 0), ("b", 0), ("a", 1)])
    pump = EnginePump(engine, deterministic=True)
    pump.remember(store)
    texts = await asyncio.gather(*(two_turns(pump, name) for name in "ab"))
    assert texts == [["from the store", ""], ["from the store", ""]]
    assert engine.batches == [[(1, 1), (1, 1)]], "the known turn of a is sampled again beside that of b"
    assert store.kept == [[("a", 1), ("b", 1)]], "and kept in one piece"


async def test_a_forgotten_store_is_neither_asked_nor_told():
    engine, store = CountdownEngine(), Notebook([("a", 0), ("a", 1)])
    pump = EnginePump(engine)
    pump.remember(store)
    pump.remember(None)
    assert await two_turns(pump, "a") == ["", ""]
    assert store.kept == []


def test_an_interrupt_inside_the_engine_ends_the_loop_and_leaves_no_traceback_behind(caplog):
    class Interrupted(CountdownEngine):
        def step(self) -> list[Finished]:
            raise KeyboardInterrupt

    pump = EnginePump(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(pump.act(prompt("c", 0, 2), Sampling()))
    asyncio.run(pump.close())
    gc.collect()
    assert "never retrieved" not in caplog.text
