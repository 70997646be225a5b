"""An endpoint's replies through the real codec: tokens that the Base model could have sampled, and their meaning."""

from pathlib import Path

import pytest
from chat_folder import QWEN3_LIKE, write_chat_folder

from robustops.agent.api import ApiPolicy
from robustops.agent.codec import Codec
from robustops.agent.hermes import Decision
from robustops.agent.policy import Prompt, Sample, Sampling
from robustops.llm.completion import Reply, RequestedCall


@pytest.fixture(scope="module")
def codec(tmp_path_factory: pytest.TempPathFactory) -> Codec:
    folder: Path = tmp_path_factory.mktemp("chat")
    write_chat_folder(folder, QWEN3_LIKE)
    return Codec.load(folder, tool_schema="full")


class OneReply:
    def __init__(self, reply: Reply) -> None:
        self.reply = reply

    async def complete(self, messages, *, tools=(), temperature=0.0, max_tokens=1024, seed=None) -> Reply:
        return self.reply

    async def close(self) -> None: ...


async def sampled(codec: Codec, reply: Reply, max_tokens: int = 500) -> Sample:
    prompt = Prompt(case_id="c", task_id="t", turn=0, token_ids=(), messages=(), tools=())
    return await ApiPolicy(OneReply(reply), codec).act(prompt, Sampling(max_tokens=max_tokens))


async def test_a_call_ends_with_the_closing_tag_and_parses_back(codec):
    calls = (
        RequestedCall(name="find", arguments='{"name": "A </tool_call> ä"}'),
        RequestedCall(name="x", arguments="{}"),
    )
    sample = await sampled(codec, Reply(text="First.", tool_calls=calls))
    assert sample.token_ids[-1] == codec.call_close_id
    assert sample.token_ids.count(codec.call_close_id) == 1
    decision = codec.parse(sample.text)
    assert decision.call is not None
    assert (decision.call.arguments, decision.content) == ({"name": "A </tool_call> ä"}, "First.")
    assert sample.dropped_calls == 1


async def test_a_final_answer_ends_with_the_end_of_turn(codec):
    sample = await sampled(codec, Reply(text="All done."))
    assert sample.token_ids[-1] == codec.eos_id
    assert codec.parse(sample.text) == Decision(content="All done.")
    assert codec.parse(sample.text).content == "All done."


async def test_arguments_that_are_no_json_become_a_malformed_block_that_ends_the_turn(codec):
    sample = await sampled(codec, Reply(text="", tool_calls=(RequestedCall(name="find", arguments="{oops"),)))
    assert sample.token_ids[-1] == codec.call_close_id
    assert codec.parse(sample.text).malformed is not None


async def test_an_answer_over_the_budget_is_cut_before_its_stop_token(codec):
    sample = await sampled(codec, Reply(text="All done."), max_tokens=3)
    assert (len(sample.token_ids), sample.finish) == (3, "length")
    assert codec.eos_id not in sample.token_ids
