"""The scripted expert behind a chat endpoint: what is no question of its tasks gets 400, and no invented answer."""

from __future__ import annotations

import aiohttp
import pytest

from robustops.agent.plan import Plan
from robustops.data.expert_endpoint import ExpertEndpoint, listening

EXPERT = ExpertEndpoint(plans={"Say done.": Plan(task_id="t", steps=(), answer="Done.")})


async def asked(body: object) -> tuple[int, dict]:
    async with (
        listening(EXPERT.reply, "127.0.0.1", 0) as url,
        aiohttp.ClientSession() as http,
        http.post(f"{url}/chat/completions", json=body) as reply,
    ):
        return reply.status, await reply.json()


async def test_a_task_s_request_is_answered_by_its_plan():
    status, answer = await asked({"messages": [{"role": "user", "content": "Say done."}]})
    assert status == 200
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "Done."}
    assert "usage" not in answer, "it has no tokens to count"


@pytest.mark.parametrize(
    "body", [{"messages": [{"role": "user", "content": "What else?"}]}, {"messages": []}, {"prompt": "x"}, []]
)
async def test_anything_else_is_refused(body):
    status, answer = await asked(body)
    assert status == 400
    assert answer["error"]["message"]


async def test_requests_are_not_listed_on_the_terminal(caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    await asked({"messages": [{"role": "user", "content": "Say done."}]})
    assert [record for record in caplog.records if record.name == "aiohttp.access"] == []
