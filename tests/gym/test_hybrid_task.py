"""A public task over teams and email, in process and over HTTP. Its seeds are not public: ours stand in for them."""

from contextlib import AsyncExitStack

import pytest
from aiohttp.test_utils import TestServer
from email_seed import SEED as EMAIL_SEED
from small_teams import SEED as TEAMS_SEED

from robustops.data.tasks import load_task
from robustops.gym.client import HttpGym
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_NAME
from robustops.gym.server import make_app
from robustops.gym.verify import verify

TEAM = "team_techcorp_001"
CALLS = (
    ("create_channel", {"teamId": TEAM, "displayName": "Phase 3 Integration Updates"}),
    ("create_label", {"userId": "me", "name": "Phase3-Integration"}),  # no token is sent: the first user acts
)


@pytest.fixture
def task(shared, tmp_path):
    path = shared / "eog" / "tasks" / "upstream" / "hybrid" / "hybrid_synthetic_channel_label.json"
    if not path.is_file():
        pytest.skip("the public hybrid task is not beside this checkout")
    loaded = load_task(path, seed_root=tmp_path)
    seeds = {"gym-teams-mcp": TEAMS_SEED.replace("team-a", TEAM), "gym-email-mcp": EMAIL_SEED}
    for server in loaded.servers:
        seed = tmp_path / server.seed_file
        seed.parent.mkdir(parents=True)
        seed.write_text(seeds[server.name])
    return loaded


async def outcome(gym, task):
    """Which checks pass at the start, and which after the calls."""
    async with gym.open(task) as session:
        assert set(task.tools) - {schema.name for schema in session.tools} == {"get_team"}  # no server has that tool
        before = await verify(session, task, graph=None, calls=(), answer="", judge=None)
        for name, arguments in CALLS:
            result = await session.call(name, arguments)
            assert not result.is_error, result.text
        after = await verify(session, task, graph=None, calls=(), answer="", judge=None)
    return [[check.passed for check in verdict.checks] for verdict in (before, after)]


async def test_the_task_is_solved_in_process(task):
    assert await outcome(EmbeddedGym(), task) == [[False, False], [True, True]]


async def test_the_task_is_solved_over_http(task):
    async with AsyncExitStack() as stack:
        urls = {}
        for server in task.servers:
            app = make_app(BY_NAME[server.name].domain)
            served = await stack.enter_async_context(TestServer(app, host="127.0.0.1"))
            urls[server.name] = str(served.make_url(""))
        gym = HttpGym(urls)
        stack.push_async_callback(gym.close)
        assert await outcome(gym, task) == [[False, False], [True, True]]
