"""Passes over the cases of one flow: in which order they come, and what a barred one loses."""

from __future__ import annotations

from typing import Literal

from robustops.learn.case_source import CaseSource


def test_passes_are_shuffled_by_seed_flow_and_number() -> None:
    def draws(flow: Literal["clean", "fault"], seed: int) -> list[str | None]:
        source = CaseSource(flow, "abcdefghij", seed=seed, is_shuffled=True)
        return [source.fresh(()) for _ in range(20)]

    found = draws("clean", 0)
    assert found == draws("clean", 0)
    assert sorted(found[:10], key=str) == sorted(found[10:], key=str) == list("abcdefghij")
    assert found[:10] != found[10:]
    assert found != draws("clean", 1)
    assert found != draws("fault", 0)


def test_barred_case_keeps_its_place_in_the_pass() -> None:
    source = CaseSource("clean", "abc", seed=0, is_shuffled=False)
    assert [source.fresh("a"), source.fresh(""), source.fresh("")] == ["b", "a", "c"]
