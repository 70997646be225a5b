"""The judge that verification gets from a completion endpoint."""

from fake_endpoint import chat_reply, served

from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.judge import CompletionJudge


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
