"""Every kind of fault on every domain's own tools, in process and over HTTP: which calls are hit, and the laws."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp.test_utils import TestServer
from fault_laws import Call, plan_for, play_by_the_laws
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_cases import domain_cases

from robustops.faults.catalogue import KINDS, subtypes_of
from robustops.faults.injector import Injector
from robustops.gym.client import HttpGym
from robustops.gym.domains import FOLDERS
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.server import make_app
from tests.conftest import IS_FULL_SIZE

DOMAINS = sorted(FOLDERS)
NUM_EXAMPLES = 2000 if IS_FULL_SIZE else 200


# Stated cases are few rows each; these filter some of them away.
FILTERED: dict[str, list[Call]] = {
    "calendar": [("list_events", {"calendarId": "c-work", "timeMax": "2026-03-02T11:00:00Z"})],
    "email": [("list_messages", {"userId": "me", "labelIds": ["UNREAD"]})],
}


def calls_of(domain: str) -> list[Call]:
    cases = domain_cases(domain)
    stated = [*cases.successes.items(), *cases.refusals.items()]
    return [(name, dict(case.arguments)) for name, case in stated] + FILTERED.get(domain, [])


CALLS = {domain: calls_of(domain) for domain in DOMAINS}


@dataclass(frozen=True)
class Pair:
    """Two sessions of one domain; examples begin by putting both back to the start."""

    session: Any
    twin: Any
    start: bytes


@dataclass(frozen=True)
class Stage:
    runner: asyncio.Runner
    pairs: dict[str, Pair]


async def opened(stack: AsyncExitStack, gym: Any, domain: str, folder: Any) -> Pair:
    task = domain_cases(domain).task(folder)
    session, twin = [await stack.enter_async_context(gym.open(task)) for _ in range(2)]
    return Pair(session=session, twin=twin, start=await session.snapshot())


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:
        gym = EmbeddedGym()
        pairs = {name: runner.run(opened(stack, gym, name, tmp_path_factory.mktemp(name))) for name in DOMAINS}
        yield Stage(runner=runner, pairs=pairs)
        runner.run(stack.aclose())


@pytest.fixture(scope="module")
def over_http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    stack = AsyncExitStack()
    with asyncio.Runner() as runner:

        async def serve(domain: str) -> Pair:
            server = await stack.enter_async_context(TestServer(make_app(domain), host="127.0.0.1"))
            gym = HttpGym({BY_DOMAIN[domain].name: str(server.make_url(""))})
            stack.push_async_callback(gym.close)
            return await opened(stack, gym, domain, tmp_path_factory.mktemp(domain))

        pairs = {name: runner.run(serve(name)) for name in DOMAINS}
        yield Stage(runner=runner, pairs=pairs)
        runner.run(stack.aclose())


@st.composite
def histories(draw: st.DrawFn, max_calls: int) -> tuple[str, list[Call]]:
    """A domain and calls of its own; the first comes again later, so that caps and repetitions are met."""
    domain = draw(st.sampled_from(DOMAINS))
    calls = draw(st.lists(st.sampled_from(CALLS[domain]), min_size=1, max_size=max_calls))
    return domain, [calls[0], *calls[1:], calls[0]]


PLANNED = {"subtype": st.sampled_from(sorted(KINDS)), "cap": st.integers(1, 2), "seed": st.integers(0, 2**31)}


def play(stage: Stage, domain: str, calls: list[Call], subtype: str, cap: int, seed: int) -> Injector:
    pair = stage.pairs[domain]

    async def scenario() -> Injector:
        await pair.session.restore(pair.start)
        return await play_by_the_laws(pair.session, pair.twin, plan_for(subtype, calls[0], cap=cap, seed=seed), calls)

    return stage.runner.run(scenario())


@given(history=histories(max_calls=5), **PLANNED)
@settings(max_examples=NUM_EXAMPLES)
def test_the_laws_hold_for_every_domain_in_process(
    in_process: Stage, history: tuple[str, list[Call]], subtype: str, cap: int, seed: int
) -> None:
    play(in_process, *history, subtype, cap, seed)


@pytest.mark.slow
@given(history=histories(max_calls=2), **PLANNED)
@settings(max_examples=NUM_EXAMPLES)
def test_the_laws_hold_for_every_domain_over_http(
    over_http: Stage, history: tuple[str, list[Call]], subtype: str, cap: int, seed: int
) -> None:
    play(over_http, *history, subtype, cap, seed)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_domain_has_calls_that_each_of_the_seven_can_hit(in_process: Stage, domain: str) -> None:
    """And the probe; the stated cases of the domain's tools are the calls."""
    for subtype in (*subtypes_of("all"), "timeout_not_committed"):
        is_hit = (bool(play(in_process, domain, [call], subtype, 1, 7).events) for call in CALLS[domain])
        assert any(is_hit), f"{domain}: no call can be hit by {subtype}"
