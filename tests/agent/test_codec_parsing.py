"""The codec reads what a model wrote: one call, a final answer, or a reason why it is neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.agent.codec import Codec
from robustops.agent.hermes import Decision
from robustops.core.episode import ToolCall


def test_a_hermes_block_is_a_call(compact: Codec) -> None:
    text = '<tool_call>\n{"name": "find_account", "arguments": {"name": "Acme"}}\n</tool_call>'
    assert compact.parse(text) == Decision(call=ToolCall(name="find_account", arguments={"name": "Acme"}))


def test_narration_before_a_call_is_kept_as_content(compact: Codec) -> None:
    decision = compact.parse('I look it up.\n<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    assert (decision.content, decision.call) == ("I look it up.", ToolCall(name="f", arguments={}))


def test_text_without_a_block_is_the_final_answer(compact: Codec) -> None:
    decision = compact.parse("All done.<|im_end|>")
    assert (decision.call, decision.malformed) == (None, None)
    assert decision.content == "All done."


def test_a_call_inside_a_think_block_is_not_a_call(compact: Codec) -> None:
    decision = compact.parse('<think>\nmaybe <tool_call>{"name": "f", "arguments": {}}</tool_call>\n</think>\n\nNo.')
    assert (decision.call, decision.malformed, decision.content) == (None, None, "No.")
    assert decision.reasoning.startswith("maybe")


def test_reasoning_that_the_prompt_opened_is_still_reasoning(compact: Codec) -> None:
    assert compact.parse("so it is\n</think>\n\nYes.") == Decision(content="Yes.", reasoning="so it is")


def test_arguments_encoded_twice_are_decoded(compact: Codec) -> None:
    decision = compact.parse('<tool_call>{"name": "f", "arguments": "{\\"case_id\\": 7}"}</tool_call>')
    assert decision.call == ToolCall(name="f", arguments={"case_id": 7})


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ('<tool_call>{"name": "f", "arguments": {}', "unclosed"),
        ("<tool_call>", "unclosed"),
        ('{"name": "f", "arguments": {}}</tool_call>', "without <tool_call>"),
        ("<tool_call>{name: f}</tool_call>", "not JSON"),
        ("<tool_call></tool_call>", "not JSON"),
        ('<tool_call>{"arguments": {}}</tool_call>', 'missing "name"'),
        ('<tool_call>{"name": 3, "arguments": {}}</tool_call>', '"name" is not'),
        ('<tool_call>{"name": "f"}</tool_call>', 'missing "arguments"'),
        ('<tool_call>{"name": "f", "arguments": [1]}</tool_call>', "not an object but a list"),
        ('<tool_call>{"name": "f", "arguments": null}</tool_call>', "not an object but null"),
        ('<tool_call>{"name": "f", "arguments": "{}x"}</tool_call>', '"arguments" is not JSON'),
        ('<tool_call>{"name": "f", "arguments": "[1]"}</tool_call>', "not an object but a list"),
        ('<tool_call>[{"name": "f", "arguments": {}}]</tool_call>', "got a list"),
        ('<tool_call>{"name": "f", "arguments": {"x": NaN}}</tool_call>', "not usable JSON"),
        ('<tool_call>{"name": "f", "arguments": {"x": 1e999}}</tool_call>', "not usable JSON"),
        ('<tool_call>{"name": "f", "arguments": {"x": "\\ud800"}}</tool_call>', "lone surrogate"),
        ('<tool_call>{"name": "f", "arguments": {"x": ' + "9" * 5000 + "}}</tool_call>", "not usable JSON"),
        ('<tool_call>{"name": "f", "arguments": ' + "[" * 200_000 + "</tool_call>", "JSON"),
    ],
)
def test_a_block_that_is_no_call_says_why(compact: Codec, block: str, why: str) -> None:
    decision = compact.parse("Hm. " + block + "<|im_end|>")
    assert decision.call is None
    assert why in str(decision.malformed)


@given(st.text())
def test_parse_never_raises_and_decides_one_thing(text: str) -> None:
    decision = Codec.parse(None, text)  # type: ignore[arg-type]  # parsing needs no tokenizer
    assert decision.call is None or decision.malformed is None


fragments = st.sampled_from([*'<>/{}[]":, \ax1', "\n", "<tool_call>", "</tool_call>", '{"name": "f"'])


@given(st.lists(fragments).map("".join))
def test_parse_never_raises_on_text_near_a_call(text: str) -> None:
    Codec.parse(None, "<tool_call>" + text + "</tool_call>")  # type: ignore[arg-type]
