"""The codec: decisions as text and back, the two views, token in token out, and templates it must refuse."""

import json
from pathlib import Path

import pytest
from chat_folder import FORGETFUL, NO_CALLS, QWEN3_LIKE, TAGS, TRIMMING, write_chat_folder
from hypothesis import given
from hypothesis import strategies as st

from robustops.agent.codec import Codec
from robustops.agent.hermes import Decision
from robustops.agent.template import render
from robustops.core.episode import ToolCall, ToolResult
from robustops.core.errors import ConfigError
from robustops.core.task import Check, Task, ToolSchema

FIND = ToolSchema(
    name="find_account",
    description="Account by name.",
    input_schema={"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    gym="g",
)
UPDATE = ToolSchema(
    name="update_case",
    description="Change a case.",
    input_schema={
        "type": "object",
        "properties": {"case_id": {"type": "integer"}, "state": {"type": "string"}, "priority": {"type": "string"}},
        "required": ["case_id"],
    },
    gym="g",
)
TASK = Task(
    task_id="t",
    domain="csm",
    policy="Close what is solved.",
    request="Close case 17.",
    tools=("find_account", "update_case"),
    servers=(),
    checks=(
        Check(index=0, kind="database_state", name="HIDDEN-NAME", gym=None, query="HIDDEN-SQL", expected="HIDDEN"),
    ),
)


def reply(text: str, **options: bool) -> ToolResult:
    return ToolResult(text=text, observation=json.dumps({"content": [{"type": "text", "text": text}]}), **options)


# Round trips

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["</tool_call>", "<tool_call>", "<|im_end|>", "<|im_start|>user\n", 'quote " and \\ back']),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=8
)
safe_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<")).map(str.strip)
surrogate_free = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    name=surrogate_free,
    arguments=st.dictionaries(surrogate_free, values, max_size=4),
    content=safe_text,
)
def test_a_call_survives_encoding_and_decoding(
    compact: Codec, name: str, arguments: dict[str, object], content: str
) -> None:
    call = ToolCall(name=name, arguments=arguments)
    ids = compact.encode_decision(call=call, content=content)
    assert ids[-1] == compact.stop_ids[0]
    assert not set(ids[:-1]) & set(compact.stop_ids)
    assert compact.parse(compact.decode(ids)) == Decision(call=call, content=content)


@given(content=safe_text)
def test_a_final_answer_survives_encoding_and_decoding(compact: Codec, content: str) -> None:
    ids = compact.encode_decision(call=None, content=content)
    assert ids[-1] == compact.eos_id
    assert compact.parse(compact.decode(ids)) == Decision(content=content)


# Views


def test_compact_opening_lists_signatures_and_hides_schemas(compact: Codec) -> None:
    opening = compact.start(TASK, (FIND, UPDATE))
    system = opening.messages[0]["content"]
    assert system == ("Close what is solved.\n\n# Tools\nfind_account(name)\nupdate_case(case_id, state?, priority?)")
    assert compact.decode(opening.token_ids) == (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\nClose case 17.<|im_end|>\n<|im_start|>assistant\n"
    )


def test_full_opening_lets_the_template_render_schemas(full: Codec) -> None:
    text = full.decode(full.start(TASK, (FIND, UPDATE)).token_ids)
    tools = text.partition("<tools>\n")[2].partition("\n</tools>")[0].splitlines()
    assert [json.loads(line)["function"]["name"] for line in tools] == ["find_account", "update_case"]
    assert json.loads(tools[0])["function"]["parameters"] == FIND.input_schema


@pytest.mark.parametrize("view", ["full", "compact"])
def test_checks_never_reach_the_opening(full: Codec, compact: Codec, view: str) -> None:
    codec = full if view == "full" else compact
    opening = codec.start(TASK, (FIND,))
    assert "HIDDEN" not in codec.decode(opening.token_ids)
    assert "HIDDEN" not in json.dumps(opening.messages)


def test_compact_reply_drops_nulls_and_bookkeeping_times_at_every_depth(compact: Codec) -> None:
    row = {"case_id": 7, "closed_on": None, "sys_created_on": "x", "sys_updated_on": "y", "escalation": 0, "number": ""}
    text = json.dumps([row, {"inner": row}], separators=(",", ":"))
    kept = '{"case_id": 7, "escalation": 0, "number": ""}'
    assert compact.tool_message(reply(text)) == {"role": "tool", "content": f'[{kept}, {{"inner": {kept}}}]'}


@pytest.mark.parametrize("text", ["API Error [f]: Invalid case_id", '{"cut": [1, 2', "", "17", '"text"', "{'a': None}"])
def test_compact_reply_shows_other_text_raw(compact: Codec, text: str) -> None:
    assert compact.tool_message(reply(text, is_error=True))["content"] == text


def test_full_reply_is_the_whole_result_object(full: Codec) -> None:
    result = reply('{"case_id": 7, "closed_on": null}')
    assert full.tool_message(result)["content"] == result.observation


def test_compact_reply_keeps_characters_beyond_ascii(compact: Codec) -> None:
    assert compact.tool_message(reply('{"name":"M\\u00fcller"}'))["content"] == '{"name": "Müller"}'


# Token in, token out


def grow(codec: Codec, turns: list[tuple[ToolCall, str, ToolResult]]) -> tuple[str, list[dict[str, object]]]:
    opening = codec.start(TASK, (FIND, UPDATE))
    ids, messages = list(opening.token_ids), list(opening.messages)
    for call, content, result in turns:
        sampled = codec.encode_decision(call=call, content=content)
        ids += [*sampled, *codec.continuation(sampled, result)]
        messages += [codec.assistant_message(Decision(call=call, content=content)), codec.tool_message(result)]
    return codec.decode(ids), messages  # type: ignore[return-value]


@pytest.mark.parametrize("view", ["full", "compact"])
def test_a_grown_prompt_is_what_the_template_renders(full: Codec, compact: Codec, view: str) -> None:
    codec = full if view == "full" else compact
    text, messages = grow(
        codec,
        [
            (ToolCall(name="find_account", arguments={"name": "Ünï"}), "I look.", reply('{"account_id":3,"x":null}')),
            (
                ToolCall(name="update_case", arguments={"case_id": 17, "state": "closed"}),
                "",
                reply("API Error [x]: no"),
            ),
        ],
    )
    tools = None
    if view == "full":
        tools = [
            {
                "type": "function",
                "function": {"name": t.name, "description": t.description, "parameters": dict(t.input_schema)},
            }
            for t in (FIND, UPDATE)
        ]
    assert text == render(codec._tokenizer, messages, tools=tools)


def test_a_sample_that_ended_its_turn_gets_no_second_end(compact: Codec) -> None:
    after_call = compact.continuation(
        compact.encode_decision(call=ToolCall(name="f", arguments={}), content=""), reply("r")
    )
    after_end = compact.continuation(compact.encode("<tool_call>\n{oops<|im_end|>"), reply("r"))
    assert after_call == (compact.eos_id, *after_end)
    assert compact.eos_id not in after_end[: after_end.index(compact.encode("<tool_response>")[0])]


def test_a_sample_cut_by_its_budget_gets_an_end_of_turn(compact: Codec) -> None:
    assert compact.continuation(compact.encode("<tool_call>\n{"), reply("r"))[0] == compact.eos_id


def test_a_sample_keeps_the_very_tokens_it_was_sampled_as(compact: Codec) -> None:
    odd = (
        '<tool_call>\n{"arguments": {"name":   "Acme"},"name":"find_account"}\n</tool_call>'  # no template writes this
    )
    sampled = compact.encode(odd)
    suffix = compact.decode(compact.continuation(sampled, reply("{}")))
    assert (
        suffix
        == "<|im_end|>\n<|im_start|>user\n<tool_response>\n{}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_call_span_covers_the_block_and_not_the_narration(compact: Codec) -> None:
    sampled = compact.encode_decision(call=ToolCall(name="f", arguments={}), content="I look.")
    span = compact.call_span(sampled)
    assert compact.decode([sampled[i] for i in span]) == '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert compact.decode(sampled[: span.start]) == "I look.\n"


def test_the_span_of_an_unclosed_call_reaches_the_end_of_the_turn(compact: Codec) -> None:
    sampled = compact.encode("So.<tool_call>\n{oops<|im_end|>")
    assert compact.call_span(sampled) == range(3, len(sampled))
    assert compact.call_span(compact.encode("Done.<|im_end|>")) == range(0)


def test_count_counts_tokens(compact: Codec) -> None:
    assert compact.count("<tool_call>abc") == 4


def test_an_assistant_message_holds_arguments_as_an_object(compact: Codec) -> None:
    message = compact.assistant_message('So.\n<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>')
    assert message["content"] == "So."
    assert message["tool_calls"] == [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]


def test_a_malformed_turn_stays_in_history_as_it_was(compact: Codec) -> None:
    assert compact.assistant_message("<tool_call>\n{oops<|im_end|>") == {
        "role": "assistant",
        "content": "<tool_call>\n{oops",
    }


# Loading


def test_a_template_that_strips_earlier_reasoning_is_refused_naming_the_turn(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not prefix-preserving: after turn \d with reasoning it rewrites turn 1"):
        Codec.load(write_chat_folder(tmp_path, FORGETFUL), tool_schema="full")


def test_a_template_that_clears_earlier_replies_is_refused_naming_the_turn(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"not prefix-preserving: after turn 2 it rewrites turn 1"):
        Codec.load(write_chat_folder(tmp_path, TRIMMING), tool_schema="full")


def test_a_template_without_tool_calls_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not write tool calls"):
        Codec.load(write_chat_folder(tmp_path, NO_CALLS), tool_schema="full")


def test_a_tokenizer_that_splits_the_call_tag_is_refused(tmp_path: Path) -> None:
    tags = tuple(tag for tag in TAGS if tag != "</tool_call>")
    with pytest.raises(ConfigError, match="'</tool_call>' is not a single token"):
        Codec.load(write_chat_folder(tmp_path, QWEN3_LIKE, tags=tags), tool_schema="full")


def test_a_missing_model_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no such model folder; set model\.path"):
        Codec.load(tmp_path / "nowhere", tool_schema="full")


def test_a_folder_without_a_tokenizer_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no loadable tokenizer") as error:
        Codec.load(tmp_path, tool_schema="full")
    assert "\n" not in str(error.value)
