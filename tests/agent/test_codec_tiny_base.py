"""The shipped tiny Base folder: a tokenizer made for copying, a template made for growing, weights as documented."""

import hashlib
from pathlib import Path

import pytest

import robustops
from robustops.agent.codec import Codec
from robustops.agent.template import render
from robustops.core.episode import ToolCall, ToolResult
from robustops.core.task import Task, ToolSchema

FOLDER = Path(robustops.__file__).parent / "assets" / "models" / "tiny-base"
FIND = ToolSchema(
    name="find_account",
    description="",
    input_schema={"properties": {"name": {"type": "string"}}, "required": ["name"]},
    gym="g",
)
TASK = Task(
    task_id="t", domain="csm", policy="Be exact.", request="Price of Kestrel Foods 4?", tools=(), servers=(), checks=()
)


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec.load(FOLDER, tool_schema="compact")


def pieces(codec: Codec, text: str) -> list[str]:
    return [codec.decode([token_id]) for token_id in codec.encode(text)]


def test_every_digit_is_a_token_of_its_own(codec: Codec) -> None:
    assert pieces(codec, "CS-1234567")[-7:] == list("1234567")


@pytest.mark.parametrize(
    "tag",
    [
        "<|im_start|>",
        "<|im_end|>",
        "<tool_call>",
        "</tool_call>",
        "<tool_response>",
        "</tool_response>",
        "<|endoftext|>",
    ],
)
def test_every_tag_is_one_token(codec: Codec, tag: str) -> None:
    assert codec.count(tag) == 1


def test_a_name_is_the_same_tokens_in_a_request_and_in_a_call(codec: Codec) -> None:
    name = codec.encode("Kestrel Foods 4")
    for text in (
        "Set the price of Kestrel Foods 4 to 7.",
        '{"name": "Kestrel Foods 4", "x": 1}',
        '["Kestrel Foods 4"]',
    ):
        ids = codec.encode(text)
        assert any(ids[i : i + len(name)] == name for i in range(len(ids))), text


def test_json_punctuation_and_keys_are_single_tokens(codec: Codec) -> None:
    assert pieces(codec, '{"account_id": 12, "name": "x", "active": 1}')[:8] == [
        '{"', "account_id", '": ', "1", "2", ', "', "name", '": "',
    ]  # fmt: skip


def test_an_episode_grows_into_what_the_template_renders(codec: Codec) -> None:
    call = ToolCall(name="find_account", arguments={"name": "Kestrel Foods", "active": True})
    opening = codec.start(TASK, (FIND,))
    sampled = codec.encode_decision(call=call, content="")
    result = ToolResult(text='{"account_id":4821,"name":"Kestrel Foods","email_domain":null}', observation="{}")
    ids = [*opening.token_ids, *sampled, *codec.continuation(sampled, result)]
    messages = [*opening.messages, codec.assistant_message(codec.decode(sampled)), codec.tool_message(result)]
    text = render(codec._tokenizer, messages)
    assert codec.decode(ids) == text
    assert tuple(ids) == codec.encode(text)  # for this tokenizer, growing and rendering agree to the token
    assert text.startswith("<|im_start|>system\nBe exact.\n\n# Tools\nfind_account(name)<|im_end|>\n<|im_start|>user\n")
    assert text.endswith(
        '<tool_response>\n{"account_id": 4821, "name": "Kestrel Foods"}\n</tool_response><|im_end|>\n'
        "<|im_start|>assistant\n"
    )


def test_the_full_view_renders_schemas_too(codec: Codec) -> None:
    full = Codec.load(FOLDER, tool_schema="full")
    assert '"parameters": {"properties": {"name"' in full.decode(full.start(TASK, (FIND,)).token_ids)


def test_the_weights_are_small_and_are_those_the_readme_names() -> None:
    weights = (FOLDER / "model.safetensors").read_bytes()
    assert len(weights) <= 8 * 2**20
    assert hashlib.sha256(weights).hexdigest() in (FOLDER / "README.md").read_text(encoding="utf-8")
