"""Waits between tries."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.llm.backoff import Backoff, parse_retry_after

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("3", 3.0),
        ("0.5", 0.5),
        ("-4", 0.0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(header, seconds):
    assert parse_retry_after(header, NOW) == seconds


@given(attempt=st.integers(0, 40), seed=st.integers(0, 100))
def test_a_wait_is_never_above_the_cap_nor_below_half_its_ceiling(attempt, seed):
    wait_s = Backoff(base_s=0.5, cap_s=30.0).wait_s(attempt, random.Random(seed))
    ceiling = min(30.0, 0.5 * 2**attempt)
    assert ceiling / 2 <= wait_s <= ceiling
