"""The teams and drive domains in process and over HTTP: the same replies, the same rows, the same refusals."""

from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp.test_utils import TestServer
from tool_cases import all_rows, domain_cases

from robustops.gym.client import HttpGym
from robustops.gym.domains import load_domain, load_toolbox
from robustops.gym.embedded import EmbeddedGym
from robustops.gym.public import BY_DOMAIN
from robustops.gym.server import make_app

# A read, writes of several kinds, an answer without a body, refusals by rule and by schema, a failure that wrote.
PLAYED = {
    "teams": (
        *("list_users", "create_channel", "update_channel", "send_chat_message", "add_team_member"),
        *("create_virtual_event_townhall", "set_user_status_message", "list_team_members"),
    ),
    "drive": ("list_files", "create_file", "update_files", "create_permission", "create_comments", "list_changes"),
}


@asynccontextmanager
async def gyms(domain):
    async with TestServer(make_app(domain), host="127.0.0.1") as server:
        over_http = HttpGym({BY_DOMAIN[domain].name: str(server.make_url(""))})
        try:
            yield EmbeddedGym(toolboxes=(load_toolbox(domain),)), over_http
        finally:
            await over_http.close()


async def play(gym, domain, folder):
    cases = domain_cases(domain)
    async with gym.open(cases.task(folder)) as session:
        asked = [(name, case) for name in PLAYED[domain] for case in (cases.successes[name], cases.refusals[name])]
        replies = [replace(await session.call(name, case.arguments), latency_s=0.0) for name, case in asked]
        return replies, await all_rows(session, load_domain(domain))


@pytest.mark.parametrize("domain", PLAYED)
async def test_calls_give_the_same_replies_and_rows_both_ways(domain, tmp_path):
    async with gyms(domain) as (embedded, over_http):
        in_process = await play(embedded, domain, tmp_path)
        served = await play(over_http, domain, tmp_path)
    assert served[0] == in_process[0]
    assert served[1] == in_process[1]
    assert {result.is_error for result in in_process[0]} == {True, False}
