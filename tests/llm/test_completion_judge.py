"""The judge that verification gets from a completion endpoint, down to a local server."""

import json

import pytest
from fake_endpoint import chat_reply, served

from robustops.core.task import Check, GymServer, Task
from robustops.gym.verify import verify
from robustops.llm.backoff import Backoff
from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.judge import CompletionJudge

CHECK = Check(
    index=0,
    kind="response_check",
    name="tells the price",
    gym="csm",
    config={"sql_query": "SELECT price", "comparison_prompt": "It states the new price."},
)
TASK = Task(
    task_id="t",
    domain="csm",
    policy="",
    request="",
    tools=(),
    servers=(GymServer(name="csm", seed_file="s.sql"),),
    checks=(CHECK,),
)


class Prices:
    tools = ()

    async def query(self, sql, gym=None):
        return {"success": True, "data": [{"price": 17500}]}


async def verdict_of(*script):
    async with served(*script) as endpoint:
        completion = HttpCompletion(Endpoint(url=endpoint.url, model="m", backoff=Backoff(max_tries=1)))
        judge = CompletionJudge(completion=completion)
        verdict = await verify(Prices(), TASK, graph=None, calls=(), answer="It is $17,500 now.", judge=judge)
        await completion.close()
    return verdict, endpoint.bodies


async def test_a_judge_asks_at_temperature_zero_with_both_texts():
    async with served(chat_reply('{"score": 9}')) as endpoint:
        completion = HttpCompletion(Endpoint(url=endpoint.url, model="m"))
        reply = await CompletionJudge(completion=completion)("the rules", "the case")
        await completion.close()
    assert reply == '{"score": 9}'
    assert endpoint.bodies[0]["temperature"] == 0.0
    assert endpoint.bodies[0]["messages"] == [
        {"role": "system", "content": "the rules"},
        {"role": "user", "content": "the case"},
    ]


@pytest.mark.parametrize(("score", "passed"), [(9, True), (2, False)])
async def test_a_response_check_is_scored_by_the_endpoint(score, passed):
    verdict, bodies = await verdict_of(chat_reply(json.dumps({"score": score})))
    assert verdict.strict is passed
    case = json.loads(bodies[0]["messages"][1]["content"])
    assert case == {
        "criterion": "It states the new price.",
        "database_rows": 17500,
        "answer": "It is $17,500 now.",
    }


async def test_an_endpoint_that_is_down_leaves_the_check_unscored():
    verdict, bodies = await verdict_of((500, "down", {}))
    assert verdict.strict is None
    assert "HTTP 500: down" in verdict.checks[0].reason
    assert len(bodies) == 2
