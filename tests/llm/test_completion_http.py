"""The completion client against a local endpoint: retries, deadlines, counts, and a key that never shows."""

import asyncio
import logging
import random
import socket
from contextlib import asynccontextmanager

import pytest
from fake_endpoint import chat_reply, served

from robustops.core.errors import ConfigError, PolicyError
from robustops.llm.backoff import Backoff
from robustops.llm.completion import RequestedCall, Usage
from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.spend import Price

HELLO = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "find", "description": "d", "parameters": {"type": "object"}}}


class Waits:
    """Stands in for asyncio.sleep: remembers what was asked and returns at once."""

    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(seconds)


@asynccontextmanager
async def client(url, *, waits=None, **fields):
    endpoint = Endpoint(**{"url": url, "model": "m", "backoff": Backoff(max_tries=4, base_s=1.0, cap_s=3.0), **fields})
    completion = HttpCompletion(endpoint, sleep=waits or Waits(), rng=random.Random(0))
    try:
        yield completion
    finally:
        await completion.close()


async def test_what_is_sent_is_the_chat_completions_format():
    async with served(chat_reply()) as endpoint, client(endpoint.url, extra={"return_token_ids": True}) as completion:
        await completion.complete(HELLO, tools=[TOOL], temperature=0.5, max_tokens=7, seed=3)
    assert endpoint.bodies == [
        {
            "model": "m",
            "messages": HELLO,
            "tools": [TOOL],
            "temperature": 0.5,
            "max_tokens": 7,
            "seed": 3,
            "return_token_ids": True,
        }
    ]


async def test_absent_tools_and_seed_are_left_out():
    async with served(chat_reply()) as endpoint, client(endpoint.url) as completion:
        await completion.complete(HELLO)
    assert not {"tools", "seed"} & endpoint.bodies[0].keys()


async def test_a_reply_keeps_calls_usage_ids_and_logprobs():
    reply = chat_reply(
        None,
        tool_calls=[("find", '{"a": 1}'), ("other", "{}")],
        finish="tool_calls",
        usage={
            "prompt_tokens": 20,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 16},
            "completion_tokens_details": {"reasoning_tokens": 2},
        },
        logprobs={"content": [{"token": "a", "logprob": -0.5}]},
        token_ids=[7],
    )
    async with served(reply) as endpoint, client(endpoint.url) as completion:
        got = await completion.complete(HELLO)
    assert got.text == ""
    assert got.finish == "stop"
    assert got.tool_calls == (
        RequestedCall(name="find", arguments='{"a": 1}'),
        RequestedCall(name="other", arguments="{}"),
    )
    assert got.usage == Usage(prompt_tokens=20, completion_tokens=5, cached_tokens=16, reasoning_tokens=2)
    assert (got.token_ids, got.logprobs) == ((7,), (-0.5,))


async def test_a_reply_cut_by_the_endpoint_says_length():
    async with served(chat_reply("half", finish="length")) as endpoint, client(endpoint.url) as completion:
        assert (await completion.complete(HELLO)).finish == "length"


@pytest.mark.parametrize(
    ("sent", "kept"), [("", "{}"), (None, "{}"), ({"a": "ä"}, '{"a": "ä"}'), ("{broken", "{broken")]
)
async def test_arguments_become_text_in_every_spelling(sent, kept):
    async with served(chat_reply(tool_calls=[("find", sent)])) as endpoint, client(endpoint.url) as completion:
        assert (await completion.complete(HELLO)).tool_calls[0].arguments == kept


async def test_busy_and_broken_servers_are_asked_again_with_growing_waits():
    waits = Waits()
    script = ((429, "busy", {}), (503, "down", {}), "drop", chat_reply("at last"))
    async with served(*script) as endpoint, client(endpoint.url, waits=waits) as completion:
        assert (await completion.complete(HELLO)).text == "at last"
        assert completion.spend.num_retries == 3
    assert 0.5 <= waits.seconds[0] <= 1.0
    assert 1.0 <= waits.seconds[1] <= 2.0
    assert 1.5 <= waits.seconds[2] <= 3.0


async def test_retry_after_is_a_lower_bound_of_the_wait():
    waits = Waits()
    async with (
        served((429, "busy", {"Retry-After": "17"}), chat_reply()) as endpoint,
        client(endpoint.url, waits=waits) as completion,
    ):
        await completion.complete(HELLO)
    assert 17 <= waits.seconds[0] <= 18


async def test_a_wait_past_the_deadline_is_not_begun():
    waits = Waits()
    async with (
        served((429, "busy", {"Retry-After": "3600"})) as endpoint,
        client(endpoint.url, waits=waits, deadline_s=60) as completion,
    ):
        with pytest.raises(PolicyError, match="past the deadline"):
            await completion.complete(HELLO)
    assert waits.seconds == []


async def test_tries_are_bounded_and_the_last_reason_is_told():
    async with served((500, "kaputt", {})) as endpoint, client(endpoint.url) as completion:
        with pytest.raises(PolicyError, match=r"HTTP 500: kaputt \(4 tries\)"):
            await completion.complete(HELLO)
        assert completion.spend.num_failures == 1
    assert len(endpoint.bodies) == 4


@pytest.mark.parametrize("status", [400, 401, 404, 422, 302])
async def test_a_refusal_is_final(status):
    async with served((status, "no", {"Location": "/elsewhere"})) as endpoint, client(endpoint.url) as completion:
        with pytest.raises(PolicyError, match=f"HTTP {status}: no"):
            await completion.complete(HELLO)
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("body", ["<html>", "{}", '{"choices": []}', '{"choices": [{"message": {"content": 5}}]}'])
async def test_an_answer_that_is_no_completion_is_asked_for_again(body):
    async with served((200, body, {}), chat_reply("fine")) as endpoint, client(endpoint.url) as completion:
        assert (await completion.complete(HELLO)).text == "fine"


async def test_a_hanging_endpoint_ends_at_the_deadline():
    async with served("hang") as endpoint, client(endpoint.url, deadline_s=0.05) as completion:
        with pytest.raises(PolicyError, match=r"no reply within 0\.05 s"):
            await completion.complete(HELLO)
        assert completion.spend.num_failures == 1


async def test_one_slow_try_is_given_up_before_the_deadline():
    async with (
        served("hang", chat_reply("second")) as endpoint,
        client(endpoint.url, request_timeout_s=0.05, deadline_s=30) as completion,
    ):
        assert (await completion.complete(HELLO)).text == "second"


async def test_a_refused_connection_is_a_policy_error_that_names_the_endpoint():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    async with client(url) as completion:
        with pytest.raises(PolicyError, match=url):
            await completion.complete(HELLO)


async def test_no_more_requests_at_a_time_than_configured():
    async with served("hang") as endpoint, client(endpoint.url, concurrency=2) as completion:
        waiting = [asyncio.create_task(completion.complete(HELLO)) for _ in range(5)]
        for _ in range(2):
            await endpoint.arrived.acquire()
        with pytest.raises(TimeoutError):  # a third one must not arrive while two are unanswered
            await asyncio.wait_for(endpoint.arrived.acquire(), timeout=0.1)
        endpoint.release.set()
        await asyncio.gather(*waiting)
    assert endpoint.most_at_once == 2
    assert len(endpoint.bodies) == 5


async def test_the_key_is_sent_but_never_shown(monkeypatch, caplog):
    monkeypatch.setenv("SOME_KEY", "sk-secret")
    refusals = ((503, "bad key sk-secret", {}), (401, "bad key sk-secret", {}))
    with caplog.at_level(logging.DEBUG):
        async with served(*refusals) as endpoint, client(endpoint.url, key_env="SOME_KEY") as completion:
            with pytest.raises(PolicyError, match=r"\$SOME_KEY") as error:
                await completion.complete(HELLO)
            shown = caplog.text + str(error.value) + repr(completion)
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-secret"
    assert "bad key [key]" in shown
    assert "sk-secret" not in shown


def test_a_missing_key_names_the_variable(monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(ConfigError, match="SOME_KEY"):
        HttpCompletion(Endpoint(url="http://127.0.0.1/v1", model="m", key_env="SOME_KEY"))


async def test_tokens_and_cost_add_up():
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 600}}
    price = Price(prompt=2.0, completion=8.0, cached=0.5)
    async with served(chat_reply(usage=usage)) as endpoint, client(endpoint.url, price=price) as completion:
        await completion.complete(HELLO)
        await completion.complete(HELLO)
        spend = completion.spend
    assert (spend.num_replies, spend.prompt_tokens, spend.completion_tokens, spend.cached_tokens) == (
        2,
        2000,
        200,
        1200,
    )
    # per reply: 400 fresh x 2 + 600 cached x 0.5 + 100 completion x 8 = 800 + 300 + 800 = 1900 millionths
    assert spend.cost_usd == pytest.approx(2 * 1900e-6)
