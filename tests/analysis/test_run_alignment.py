"""Loading and aligning runs: what matches, what is refused, and in which words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.align import align, load_run, solved
from robustops.core.episode_row import read_episodes
from robustops.core.errors import TableError
from tests.analysis.run_folders import MakeRun, faulted, outcomes


def test_runs_are_aligned_by_case_and_not_by_row_order(make_run: MakeRun) -> None:
    cases = outcomes("10")
    base, sft = load_run(make_run("base", cases)), load_run(make_run("sft", cases[::-1]))
    alignment = align([base, sft])
    assert [slot.task_id for slot in alignment.slots["clean"]] == ["t000", "t001"]
    assert [solved(alignment.rows(run, "clean")) for run in alignment.runs] == [[True, False]] * 2


def test_cases_that_only_some_runs_have_are_left_out_and_counted(make_run: MakeRun) -> None:
    alignment = align([load_run(make_run("base", outcomes("1111"))), load_run(make_run("sft", outcomes("11")))])
    assert len(alignment.slots["clean"]) == 2
    assert alignment.num_left_out == {"Base": 2, "SFT": 0}


def test_unscored_is_not_solved_and_stays_in_the_denominator(make_run: MakeRun) -> None:
    alignment = align([load_run(make_run("base", outcomes("1?0")))])
    assert solved(alignment.rows(alignment.runs[0], "clean")) == [True, False, False]


def test_supplemented_rows_stay_apart_from_the_original_evaluation(make_run: MakeRun) -> None:
    cases = faulted(outcomes("0"), hit=False)
    run = load_run(make_run("base", [*cases, replace(cases[0], supplemented=True, success=True, hit=True)]))
    assert len(run.rows) == 1
    assert [row.success for row in run.supplemented] == [True]


def test_different_fault_manifests_are_refused_and_both_named(make_run: MakeRun) -> None:
    one = make_run("base", faulted(outcomes("1")))
    other = make_run("sft", [replace(case, manifest="b" * 64) for case in faulted(outcomes("1"))])
    with pytest.raises(TableError, match=r"eval_base and .*eval_sft .*different fault manifests \(aaaa.* and bbbb"):
        align([load_run(one), load_run(other)])


def test_a_run_without_faults_compares_with_one_that_has_them(make_run: MakeRun) -> None:
    one = make_run("base", [replace(case, manifest="") for case in outcomes("11")])
    other = make_run("sft", [*outcomes("11"), *faulted(outcomes("11"))])
    assert align([load_run(one), load_run(other)]).conditions == ("clean",)


def test_a_run_under_two_manifests_is_refused(make_run: MakeRun) -> None:
    cases = faulted(outcomes("11"))
    with pytest.raises(TableError, match="under 2 fault manifests"):
        load_run(make_run("base", [cases[0], replace(cases[1], manifest="b" * 64)]))


def test_a_case_that_appears_twice_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(TableError, match=r"case t000\|oracle\|clean\|0 appears twice"):
        load_run(make_run("base", outcomes("1") * 2))


def test_runs_without_a_common_case_are_refused(make_run: MakeRun) -> None:
    one, other = make_run("base", outcomes("1")), make_run("sft", outcomes("1", prefix="u"))
    with pytest.raises(TableError, match="share no case"):
        align([load_run(one), load_run(other)])


def test_a_missing_folder_is_answered_with_the_nearest_name(make_run: MakeRun, tmp_path: Path) -> None:
    make_run("base", outcomes("1"))
    with pytest.raises(TableError, match=r"eval_bse: no such folder; did you mean .*eval_base\?"):
        load_run(tmp_path / "eval_bse")


def test_a_folder_that_is_no_run_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"not a finished run: run.json and episodes.parquet missing"):
        load_run(tmp_path)


def test_two_runs_of_one_stage_are_told_apart_by_their_folders(make_run: MakeRun) -> None:
    runs = [load_run(make_run("sft", outcomes("1"), folder=name)) for name in ("first", "second")]
    assert [run.name for run in align(runs).runs] == ["SFT (first)", "SFT (second)"]


def test_the_table_that_was_read_is_the_one_that_was_written(make_run: MakeRun) -> None:
    folder = make_run("base", outcomes("10?"))
    assert [row.success for row in read_episodes(folder / "episodes.parquet")] == [True, False, None]
