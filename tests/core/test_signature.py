"""The identity of a call."""

from robustops.core.signature import call_signature


def test_key_order_at_any_depth_is_no_difference() -> None:
    first = call_signature("find", {"a": 1, "b": {"x": None, "y": [1, 2]}})
    assert first == call_signature("find", {"b": {"y": [1, 2], "x": None}, "a": 1})


def test_tool_type_and_list_order_are_differences() -> None:
    base = call_signature("find", {"ids": [1, 2]})
    assert base != call_signature("list", {"ids": [1, 2]})
    assert base != call_signature("find", {"ids": [2, 1]})
    assert call_signature("find", {"id": 1}) != call_signature("find", {"id": "1"})
