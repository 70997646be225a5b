"""Value extraction and comparison against the benchmark's own recorded outputs, and the rules those do not reach."""

import json
from pathlib import Path

import pytest

from robustops.gym.comparison import compare, extract_value

GOLDENS = Path(__file__).resolve().parents[2] / ".." / "shared" / "eog" / "verifier_parity.json"


def goldens(kind: str) -> list[dict]:
    if not GOLDENS.is_file():
        pytest.skip("the shared parity goldens (eog/verifier_parity.json) are not beside this checkout")
    return json.loads(GOLDENS.read_text())[kind]


def test_extraction_equals_the_recorded_outputs_of_the_benchmark():
    cases = goldens("extraction")
    assert len(cases) == 10
    for case in cases:
        assert extract_value(case["case"].get("result")) == case["golden"], case


def test_comparison_equals_the_recorded_outputs_of_the_benchmark():
    cases = goldens("comparison")
    assert len(cases) == 7
    for case in cases:
        given = case["case"]
        outcome = compare(given["actual"], given["expected"], given["comparison_type"])
        assert {"passed": outcome.passed, "details": outcome.details} == case["golden"], case


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ({"data": []}, []),
        ({"data": [{"a": 1, "b": 2}]}, {"a": 1, "b": 2}),
        ({"data": [[7]]}, [7]),  # lists unwrap under `rows` only
        ({"rows": [[7, 8]]}, [7, 8]),
        ({"rows": [{"a": 1}]}, 1),
        ({"data": None, "rows": [[7]]}, None),  # `data` is looked at first, whatever it holds
        ({"content": [{"type": "image"}, {"type": "text", "text": "x"}]}, "x"),
        ({"content": []}, []),
        ({"success": True}, {"success": True}),
        ([1, 2], [1, 2]),
    ],
)
def test_extraction_beyond_the_goldens(reply, value):
    assert extract_value(reply) == value


@pytest.mark.parametrize(
    ("actual", "expected", "comparison", "passed"),
    [
        (1, "1", "equals", False),
        (1, 1.0, "equals", True),
        ([], None, "equals", False),
        ("5", 3, "greater_than", False),  # a type error is a failed check
        (None, 3, "less_than", False),
        (3, 3, "greater_than", False),
        ("abc", "b", "contains", True),
        ({"a": "b"}, "'b'", "contains", True),
        ("abc", "B", "contains", False),
        (1, 1, "EQUALS", False),
    ],
)
def test_comparison_beyond_the_goldens(actual, expected, comparison, passed):
    assert compare(actual, expected, comparison).passed is passed
