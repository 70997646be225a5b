"""The split manifest refuses cases of another part; a limit is a stratified sample."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.core.errors import SplitError, TaskError
from robustops.core.listing import write_listing
from robustops.core.task import Task
from robustops.data.splits import SplitEntry, SplitManifest, largest_remainder, task_sha256
from robustops.data.tool_modes import with_distractors


def entry(task_id: str, part: str = "train", domain: str = "csm", *, runnable: bool = True) -> SplitEntry:
    reason = "" if runnable else "two of its tools are advertised by no server"
    return SplitEntry(
        task_id=task_id,
        domain=domain,
        part=part,
        runnable=runnable,
        reason=reason,
        rule="by hash",
        template="t",
        held_out=False,
        sha256="0" * 64,
    )


ENTRIES = [entry("a"), entry("b", "val"), entry("c", "test"), entry("d", runnable=False)]


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "fixed.jsonl"
    write_listing(path, [asdict(item) for item in ENTRIES], kind="split", split="x", source="test")
    return SplitManifest.load(path)


def test_a_manifest_survives_its_file(manifest):
    assert list(manifest.entries.values()) == ENTRIES
    assert [manifest.part_of(name) for name in "abcd"] == ["train", "val", "test", "train"]


def test_a_case_of_another_part_is_refused_with_both_parts_named(manifest):
    manifest.require(["a|oracle|clean|0", "a|plus5|fault|3"], part="train")
    with pytest.raises(SplitError, match=r"case 'c\|oracle\|clean\|0' is in part 'test', but only 'train' may be used"):
        manifest.require(["a|oracle|clean|0", "c|oracle|clean|0"], part="train")
    with pytest.raises(SplitError, match=r"case 'b' is in part 'val', but only 'test'"):
        manifest.require(["b"], part="test")


def test_an_unknown_task_and_one_that_cannot_be_run_are_refused(manifest):
    with pytest.raises(SplitError, match=r"fixed\.jsonl: task 'zz' is not in this split \(4 ids\)"):
        manifest.require(["zz|oracle|clean|0"], part="train")
    with pytest.raises(SplitError, match="case 'd' cannot be run: two of its tools"):
        manifest.require(["d"], part="train")


def test_selection_leaves_out_what_cannot_be_run(manifest):
    assert manifest.select("train") == ("a",)
    assert manifest.select("val", limit=5) == ("b",)


def test_an_empty_part_is_refused():
    with pytest.raises(SplitError, match="no runnable task in part 'test'"):
        SplitManifest(name="m", entries={"a": entry("a")}).select("test")


def many(sizes: dict[str, int]) -> SplitManifest:
    entries = [entry(f"{name}-{index}", domain=name) for name, size in sizes.items() for index in range(size)]
    return SplitManifest(name="m", entries={item.task_id: item for item in entries})


def test_a_limit_is_a_seeded_sample_in_proportion_to_the_domains_and_not_the_first_n():
    manifest = many({"csm": 60, "itsm": 30, "hr": 10})
    chosen = manifest.select("train", limit=20, seed=1)
    assert Counter(name.split("-")[0] for name in chosen) == {"csm": 12, "itsm": 6, "hr": 2}
    assert chosen == manifest.select("train", limit=20, seed=1)
    assert chosen != manifest.select("train", limit=20, seed=2)
    assert set(chosen) != set(list(manifest.entries)[:20])
    assert [name for name in manifest.entries if name in set(chosen)] == list(chosen)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1), st.integers(1, 300))
def test_shares_add_up_and_are_off_by_less_than_one(sizes, total):
    shares = largest_remainder(sizes, total)
    assert sum(shares.values()) == total
    whole = sum(sizes.values())
    assert all(abs(shares[name] - total * size / whole) < 1 for name, size in sizes.items())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"part": "dev"}, r"fixed\.jsonl:2: part: got 'dev', expected one of train, val, test"),
        ({"runnable": "yes"}, r"fixed\.jsonl:2: runnable: got 'yes', expected true or false"),
        ({"extra": 1}, r"fixed\.jsonl:2: missing or unknown fields extra"),
    ],
)
def test_a_broken_row_is_named(tmp_path, change, message):
    path = tmp_path / "fixed.jsonl"
    write_listing(path, [asdict(entry("a")) | change], kind="split", split="x", source="test")
    with pytest.raises(SplitError, match=message):
        SplitManifest.load(path)


def test_a_task_listed_twice_and_a_list_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "fixed.jsonl"
    write_listing(path, [asdict(entry("a"))] * 2, kind="split", split="x", source="test")
    with pytest.raises(SplitError, match="task 'a' is listed twice"):
        SplitManifest.load(path)
    write_listing(path, [], kind="graphs", split="x", source="test")
    with pytest.raises(SplitError, match="holds 'graphs', expected 'split'"):
        SplitManifest.load(path)


def test_the_content_hash_sees_task_and_database_but_not_key_order():
    assert task_sha256({"a": 1, "b": 2}, ["x"]) == task_sha256({"b": 2, "a": 1}, ["x"])
    assert task_sha256({"a": 1}, ["x"]) != task_sha256({"a": 1}, ["y"])
    assert task_sha256({"a": 1}, ["x"]) != task_sha256({"a": 2}, ["x"])


CATALOGUE = [f"tool_{number:02d}" for number in range(25)]


def task(task_id: str) -> Task:
    return Task(
        task_id=task_id, domain="csm", policy="", request="", tools=("tool_03", "tool_07"), servers=(), checks=()
    )


def test_distractors_are_unselected_seeded_by_task_and_a_wider_mode_contains_the_narrower():
    narrow, wide = with_distractors(task("a"), "plus5", CATALOGUE), with_distractors(task("a"), "plus15", CATALOGUE)
    assert (len(narrow.tools), len(wide.tools)) == (7, 17)
    assert len(set(wide.tools)) == 17
    assert {"tool_03", "tool_07"} < set(narrow.tools) < set(wide.tools) <= set(CATALOGUE)
    assert (narrow.tool_mode, wide.tool_mode) == ("plus5", "plus15")
    assert with_distractors(task("a"), "plus5", CATALOGUE[::-1]) == narrow
    assert with_distractors(task("b"), "plus5", CATALOGUE).tools != narrow.tools
    assert with_distractors(task("a"), "oracle", CATALOGUE).tools == ("tool_03", "tool_07")


def test_too_small_a_catalogue_is_refused():
    with pytest.raises(TaskError, match="task a: tool_mode: plus15 needs 15 unselected tools, found 8"):
        with_distractors(task("a"), "plus15", CATALOGUE[:10])
