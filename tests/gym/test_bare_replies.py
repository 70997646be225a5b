"""Replies of the servers that answer with indented JSON and bare texts, and the ids that look random there."""

import json
import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.gym.arguments import ArgumentChecker, ArgumentError, validation_text
from robustops.gym.domain import Param, Table, Tool
from robustops.gym.engine import NO_BODY, indented
from robustops.gym.ids import Ids

LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8"))
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@given(JSON.filter(lambda value: value is not None))
def test_indented_json_is_that_of_the_standard_library(value):
    assert indented(value) == json.dumps(value, indent=2)


def test_an_answer_without_a_body_is_told_in_words():
    assert indented(None) == NO_BODY == "Operation completed successfully"


@given(st.text(max_size=20))
def test_ids_follow_from_their_origin_and_from_nothing_else(origin):
    first, again = Ids(origin), Ids(origin)
    given_ids = [first.uuid() for _ in range(20)]
    assert given_ids == [again.uuid() for _ in range(20)]
    assert len(set(given_ids)) == 20
    assert {UUID(text).version for text in given_ids} == {4}
    assert Ids(f"{origin}/").uuid() not in given_ids
    assert re.fullmatch("[0-9a-f]{8}", first.hex(8))
    assert re.fullmatch("[a-z]{4}", first.letters(4))


def refused(schema, value, *, is_path=False, is_required=True):
    """The text for one argument `it` of that schema; an absent one where the value is Ellipsis."""
    param = Param(name="it", schema=schema, enforced=schema, is_path=is_path, is_required=is_required)
    table = Table(name="t", key="id", columns=())
    checker = ArgumentChecker(Tool(name="n", does="d", doc="", table=table, params=(param,)), place="body")
    with pytest.raises(ArgumentError) as error:
        checker.check({} if value is ... else {"it": value})
    return validation_text(error.value.reports)


ITEMS = {
    "type": "array",
    "maxItems": 2,
    "items": {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string", "minLength": 3}, "n": {"type": "integer", "minimum": 0, "maximum": 9}},
    },
}


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"type": "string"}, ..., "Validation errors:\n- it: is required"),
        ({"type": "string", "minLength": 2}, "a", "Validation errors:\n- it: must have at least 2 characters"),
        (ITEMS, [{}], "Validation errors:\n- it[0].id: is required"),
        (
            ITEMS,
            [{"id": "abc"}, {"id": "a", "n": 10}],
            "Validation errors:\n- it[1].id: must have at least 3 characters\n"
            "- it[1].n: Input should be less than or equal to 9",
        ),
        (
            ITEMS,
            [{"id": "abc"}] * 3,
            "Validation errors:\n- it: List should have at most 2 items after validation, not 3",
        ),
        ({"type": "object"}, "text", "Validation errors:\n- it: Input should be a valid dictionary"),
        (
            {"type": "object"},
            {"a": "\ud800"},
            "Validation errors:\n- it: Input should be a valid string, unable to parse",
        ),
    ],
)
def test_faults_are_told_line_by_line_with_the_place_inside_the_argument(schema, value, text):
    assert refused(schema, value).startswith(text)


@pytest.mark.parametrize("value", ["", ...])
def test_a_part_of_the_url_that_lacks_is_told_in_other_words(value):
    schema = {"type": "string", "minLength": 1}
    assert refused(schema, value, is_path=True) == "The parameter 'it' is required and cannot be empty."


def checked(schema, value):
    param = Param(name="it", schema=schema, enforced=schema)
    table = Table(name="t", key="id", columns=())
    tool = Tool(name="n", does="d", doc="", table=table, params=(param,))
    return ArgumentChecker(tool, place="body").check({"it": value})


def test_unlisted_fields_of_an_object_are_dropped_unless_it_lists_none_or_allows_more():
    listed = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert checked(listed, {"a": "1", "b": 2}) == {"it": {"a": 1}}
    assert checked(listed, {"a": None}) == {"it": {"a": None}}
    assert checked({"type": "object"}, {"b": [2]}) == {"it": {"b": [2]}}
    assert checked({**listed, "additionalProperties": True}, {"a": 1, "b": 2}) == {"it": {"a": 1, "b": 2}}
