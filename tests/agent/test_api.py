"""The API policy over a completion that answers from a list; a byte-wise codec stands in for the Base tokenizer."""

import json

import pytest

from robustops.agent.api import ApiPolicy, chat_messages
from robustops.agent.hermes import parse, write_decision
from robustops.agent.policy import Prompt, Sampling
from robustops.core.errors import PolicyError
from robustops.core.task import ToolSchema
from robustops.llm.completion import Reply, RequestedCall, Usage

END = "<|im_end|>"


class ByteCodec:
    """One token a byte, and the hermes text of the real codec."""

    def encode(self, text):
        return tuple(text.encode())

    def decode(self, ids):
        return bytes(ids).decode()

    def encode_decision(self, *, call, content):
        text = write_decision(call=call, content=content)
        return self.encode(text if call else text + END)


class FakeCompletion:
    def __init__(self, reply):
        self.reply = reply
        self.asked = []
        self.closed = False

    async def complete(self, messages, *, tools=(), temperature=0.0, max_tokens=1024, seed=None):
        self.asked.append({"messages": messages, "tools": tools, "t": temperature, "max": max_tokens, "seed": seed})
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply

    async def close(self):
        self.closed = True


TOOL = ToolSchema(name="find", description="d", input_schema={"type": "object", "properties": {}}, gym="g")


def prompt(*messages):
    messages = messages or ({"role": "user", "content": "go"},)
    return Prompt(case_id="c", task_id="t", turn=0, token_ids=(), messages=messages, tools=(TOOL,))


async def sample_of(reply, max_tokens=500):
    return await ApiPolicy(FakeCompletion(reply), ByteCodec()).act(prompt(), Sampling(max_tokens=max_tokens))


def requested(name="find", arguments='{"a": "ä"}'):
    return RequestedCall(name=name, arguments=arguments)


async def test_the_endpoint_gets_messages_schemas_and_sampling():
    completion = FakeCompletion(Reply(text="hi"))
    sampling = Sampling(temperature=0.7, max_tokens=99, seed=5)
    await ApiPolicy(completion, ByteCodec()).act(prompt(), sampling)
    asked = completion.asked[0]
    assert asked["messages"] == [{"role": "user", "content": "go"}]
    assert (asked["t"], asked["max"], asked["seed"]) == (0.7, 99, 5)
    function = {"name": "find", "description": "d", "parameters": {"type": "object", "properties": {}}}
    assert asked["tools"] == [{"type": "function", "function": function}]


async def test_a_call_becomes_hermes_text_that_parses_back():
    sample = await sample_of(Reply(text="Looking.", tool_calls=(requested(),)))
    decision = parse(sample.text)
    assert decision.call is not None
    assert (decision.call.name, decision.call.arguments, decision.content) == ("find", {"a": "ä"}, "Looking.")
    assert sample.text.endswith("</tool_call>")
    assert sample.token_ids == tuple(sample.text.encode())
    assert (sample.finish, sample.logprobs, sample.dropped_calls) == ("stop", (), 0)


async def test_of_several_calls_the_first_is_kept_and_the_rest_counted():
    sample = await sample_of(Reply(text="", tool_calls=(requested("find"), requested("b"), requested("c"))))
    assert parse(sample.text).call.name == "find"
    assert sample.dropped_calls == 2


@pytest.mark.parametrize("arguments", ["{broken", "[1]", '"text"x'])
async def test_arguments_that_are_no_object_reach_the_codec_as_a_malformed_block(arguments):
    sample = await sample_of(Reply(text="", tool_calls=(requested("find", arguments),)))
    assert parse(sample.text).malformed
    assert sample.text.endswith("</tool_call>")


async def test_a_final_answer_ends_with_the_end_of_turn():
    sample = await sample_of(Reply(text=" Done. "))
    assert (sample.text, sample.finish) == (f"Done.{END}", "stop")


async def test_blocks_in_plain_text_count_as_calls_and_stop_after_the_first():
    block = '<tool_call>\n{"name": "find", "arguments": {}}\n</tool_call>'
    sample = await sample_of(Reply(text=f"x\n{block}\n{block}\n{block}"))
    assert sample.text == f"x\n{block}"
    assert sample.dropped_calls == 2


async def test_a_block_left_in_the_text_beside_the_parsed_call_is_not_counted_twice():
    block = '<tool_call>\n{"name": "find", "arguments": {"a": 1}}\n</tool_call>'
    sample = await sample_of(Reply(text=f"x {block}", tool_calls=(requested("find", '{"a": 1}'),)))
    assert sample.text == f"x\n{block}"


async def test_a_reply_cut_by_the_endpoint_has_no_stop_token():
    sample = await sample_of(Reply(text="half a sent", finish="length"))
    assert (sample.text, sample.finish) == ("half a sent", "length")


async def test_the_budget_is_counted_in_base_tokens_not_in_the_endpoints():
    sample = await sample_of(Reply(text="0123456789", usage=Usage(completion_tokens=2)), max_tokens=8)
    assert (sample.text, sample.finish, len(sample.token_ids)) == ("01234567", "length", 8)


async def test_cached_and_reasoning_tokens_are_passed_on():
    sample = await sample_of(Reply(text="x", usage=Usage(cached_tokens=5, reasoning_tokens=7)))
    assert (sample.cached_tokens, sample.reasoning_tokens) == (5, 7)


async def test_an_endpoint_that_fails_is_a_policy_error():
    with pytest.raises(PolicyError, match="down"):
        await sample_of(PolicyError("down"))


async def test_closing_the_policy_closes_the_endpoint():
    completion = FakeCompletion(Reply(text=""))
    await ApiPolicy(completion, ByteCodec()).close()
    assert completion.closed


def test_calls_and_replies_are_tied_by_an_id_and_arguments_are_text():
    call = {"type": "function", "function": {"name": "find", "arguments": {"a": "ä"}}}
    sent = chat_messages(
        [
            {"role": "system", "content": "s"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "r1"},
            {"role": "assistant", "content": "<tool_call>broken"},
            {"role": "tool", "content": "error"},
        ]
    )
    function = sent[1]["tool_calls"][0]["function"]
    assert json.loads(function["arguments"]) == {"a": "ä"}
    assert sent[2] == {"role": "tool", "tool_call_id": sent[1]["tool_calls"][0]["id"], "content": "r1"}
    assert sent[4] == {"role": "user", "content": "<tool_response>\nerror\n</tool_response>"}
