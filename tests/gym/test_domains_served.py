"""Every domain's cases played one after the other: in process, again after a restore, and over HTTP. All the same."""

from dataclasses import replace

import pytest
from aiohttp.test_utils import TestServer
from tool_cases import domain_cases

from robustops.gym.client import HttpGym
from robustops.gym.domains import FOLDERS
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.server import make_app


async def played(session, cases):
    """Each call's result without its latency, and the state that it left behind."""
    steps = []
    for stated in (cases.successes, cases.refusals):
        for name, case in stated.items():
            result = await session.call(name, case.arguments)
            steps.append((name, replace(result, latency_s=0.0), await session.state_hash()))
    return steps


@pytest.fixture(params=FOLDERS)
def cases(request):
    return domain_cases(request.param)


async def test_a_restored_session_gives_the_same_replies_ids_and_states_again(cases, tmp_path):
    async with EmbeddedGym().open(cases.task(tmp_path)) as session:
        start, before = await session.snapshot(), await session.state_hash()
        first = await played(session, cases)
        await session.restore(start)
        assert await session.state_hash() == before
        assert await played(session, cases) == first
    assert len({digest for _, _, digest in first}) > len(cases.successes) / 4  # the writes did write


async def test_a_served_session_gives_the_same_replies_and_states(cases, tmp_path):
    task = cases.task(tmp_path)
    async with EmbeddedGym().open(task) as session:
        in_process = await played(session, cases)
    async with TestServer(make_app(cases.domain), host="127.0.0.1") as server:
        gym = HttpGym({BY_DOMAIN[cases.domain].name: str(server.make_url(""))})
        try:
            async with gym.open(task) as session:
                over_http = await played(session, cases)
        finally:
            await gym.close()
    for ours, theirs in zip(in_process, over_http, strict=True):
        assert theirs == ours
