"""Reports of small runs whose outcomes are known: every number is worked out here by other means and read back."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy.stats import binomtest

from analysis.report import main
from tests.analysis.run_folders import MakeRun, Outcome, faulted, markdown_table, outcomes

#        4 retained, 8 gained, 1 lost, 3 never solved
BASE = "1111000000001000"
SFT = "1111111111110000"


def report_of(*runs: Path, extra: tuple[str, ...] = ()) -> str:
    out = runs[-1] / "report"
    assert main([*map(str, runs), "--out", str(out), *extra]) == 0
    return (out / "report.md").read_text()


def clean_and_fault(clean: str, fault: str, *, hit: str | None = None) -> list[Outcome]:
    faults = faulted(outcomes(fault))
    if hit is not None:
        faults = [replace(case, hit=mark == "1") for case, mark in zip(faults, hit, strict=True)]
    return outcomes(clean) + faults


@pytest.fixture
def two_stages(make_run: MakeRun) -> tuple[Path, Path]:
    base = make_run("base", clean_and_fault(BASE, "1" * 2 + "0" * 14))
    return base, make_run("sft", clean_and_fault(SFT, "1" * 6 + "0" * 10))


def test_headline_shows_each_rate_with_its_wilson_interval(two_stages: tuple[Path, Path]) -> None:
    rows = markdown_table(report_of(*two_stages), "Cases solved")
    assert [(row["Model"], row["Clean solved"], row["Fault solved"]) for row in rows] == [
        ("Base", "5 of 16", "2 of 16"),
        ("SFT", "12 of 16", "6 of 16"),
    ]
    interval = binomtest(12, 16).proportion_ci(0.95, method="wilson")
    assert rows[1]["Clean rate"] == "75.0%"
    assert rows[1]["Clean 95%"] == f"{100 * interval.low:.1f}% to {100 * interval.high:.1f}%"


def test_gain_over_the_preceding_stage_is_paired_case_by_case(two_stages: tuple[Path, Path]) -> None:
    clean, fault = markdown_table(report_of(*two_stages), "Gains, paired case by case")
    assert (clean["Comparison"], clean["Condition"], clean["n"]) == ("SFT over Base", "clean", "16")
    assert (clean["Gained"], clean["Lost"], clean["Gain (pp)"]) == ("8", "1", "+43.8")
    exact = binomtest(1, 9).pvalue  # .0390625
    central = 9 / 2**9  # chance of exactly one of nine
    assert clean["McNemar exact p"] == f"{exact:.4f}".removeprefix("0")
    assert clean["mid-p"] == f"{exact - central:.4f}".removeprefix("0")
    # Holm over two tests: the smaller p doubles. Fault: 4 gained, none lost, exact p = 2/16
    assert clean["Holm p"] == f"{2 * exact:.4f}".removeprefix("0")
    assert (fault["Gained"], fault["Lost"], fault["McNemar exact p"]) == ("4", "0", ".1250")
    assert fault["Holm p"] == ".1250"
    assert (clean["Verdict"], fault["Verdict"]) == ("inconclusive", "inconclusive")


def test_retained_gained_and_lost_for_every_pair_of_models(make_run: MakeRun) -> None:
    runs = [make_run(stage, outcomes(marks)) for stage, marks in [("base", "1100"), ("sft", "1010"), ("rl", "0111")]]
    rows = markdown_table(report_of(*runs), "Cases by pair of models")
    counts = {row["Models"]: tuple(row[c] for c in ("Retained", "Gained", "Lost", "Never solved")) for row in rows}
    assert counts == {
        "Base → SFT": ("1", "1", "1", "1"),
        "Base → RL": ("1", "2", "1", "0"),
        "SFT → RL": ("1", "2", "1", "0"),
    }


def test_clean_against_fault_is_paired_within_each_model(make_run: MakeRun) -> None:
    run = make_run("sft", clean_and_fault("1111111100", "1100000010"))
    (row,) = markdown_table(report_of(run), "The price of a fault")
    assert (row["n"], row["Solved in both"], row["Only clean"], row["Only fault"]) == ("10", "2", "6", "1")
    assert row["Fault minus clean (pp)"] == "-50.0"
    assert row["McNemar exact p"] == f"{binomtest(1, 7).pvalue:.4f}".removeprefix("0")


def test_common_hits_stand_beside_all_assigned_cases(make_run: MakeRun) -> None:
    base = make_run("base", clean_and_fault("0" * 8, "10000000", hit="11110000"))
    sft = make_run("sft", clean_and_fault("0" * 8, "11100111", hit="00111100"))
    text = report_of(base, sft)
    rows = markdown_table(text, "Fault success where a fault was assigned, and where it hit every model")
    assert [(r["Hit"], r["Solved, all assigned"], r["Solved, common hit"]) for r in rows] == [
        ("4 (50.0%)", "1 of 8", "0 of 2"),
        ("4 (50.0%)", "6 of 8", "1 of 2"),
    ]
    assert "2 of 8 assigned cases (coverage 25.0%" in text


def test_supplemented_results_stand_beside_the_original_ones(make_run: MakeRun) -> None:
    cases = clean_and_fault("1111", "1000", hit="1100")
    extra = [replace(cases[6], hit=True, success=True, supplemented=True)]
    text = report_of(make_run("rl", cases + extra))
    (row,) = markdown_table(text, "Original evaluation beside the supplemented one")
    assert (row["Hit, original"], row["Hit, supplemented"]) == ("2", "3")
    assert (row["Solved, original"], row["Solved, supplemented"]) == ("1 of 4", "2 of 4")
    assert markdown_table(text, "Cases solved")[0]["Fault solved"] == "1 of 4"


def test_cost_is_a_percentage_of_the_preceding_stage(make_run: MakeRun) -> None:
    # two calls: three turns, prompts of p, p+1, p+2 and three sampled tokens: 3p + 6
    base = make_run("base", [replace(case, opening_tokens=98) for case in outcomes("1111")])  # 300
    sft = make_run("sft", [replace(case, opening_tokens=73) for case in outcomes("1111")])  # 225
    rows = {(r["Model"], r["Amount"]): r for r in markdown_table(report_of(base, sft), "Tokens and tool calls")}
    assert (rows["Base", "Tokens"]["Per case"], rows["Base", "Tokens"]["Change"]) == ("300.0", "")
    assert (rows["SFT", "Tokens"]["Per case"], rows["SFT", "Tokens"]["Change"]) == ("225.0", "-25.0%")
    assert rows["SFT", "Tokens"]["95% interval"] == "-25.0% to -25.0%"
    assert rows["SFT", "Tool calls"]["Change"] == "+0.0%"


def test_infrastructure_failures_stay_in_the_denominator_and_are_counted(make_run: MakeRun) -> None:
    cases = outcomes("11?0")
    cases[2] = replace(cases[2], stop_reason="infrastructure")
    text = report_of(make_run("sft", cases))
    (ending,) = markdown_table(text, "Endings")
    assert (ending["n"], ending["Solved"], ending["Unscored"], ending["Infrastructure"]) == ("4", "2", "1", "1")
    assert markdown_table(text, "Cases solved")[0]["Clean solved"] == "2 of 4"
    assert "infrastructure count as not solved: SFT 1" in text


def test_held_out_templates_are_in_no_other_table(make_run: MakeRun) -> None:
    templates = {"t000": "close", "t001": "close", "t002": "assign", "t003": "rare", "t004": "rare"}
    text = report_of(make_run("sft", outcomes("11001"), templates=templates, held_out=["t003", "t004"]))
    assert markdown_table(text, "Cases solved")[0]["Clean solved"] == "2 of 3"
    assert markdown_table(text, "Held-out cases solved")[0]["Solved"] == "1 of 2"
    groups = {row["Group"]: (row["n"], row["SFT"]) for row in markdown_table(text, "Clean")}
    assert groups == {"assign": ("1", "0.0%"), "close": ("2", "100.0%")}


def test_one_case_is_called_one_case(make_run: MakeRun) -> None:
    cases = [case for pattern in ("11", "01") for case in outcomes(pattern)]
    cases = [*cases[:2], *faulted(cases[2:])]
    summary = report_of(make_run("sft", cases, held_out=["t001"])).split("##", 1)[0]
    assert "SFT solves 100.0% of 1 clean case." in summary
    assert "SFT solves 0.0% of 1 case with a fault." in summary
    assert "On 1 clean case of held-out templates, counted apart: SFT 100.0%" in summary
    assert "On 1 case with a fault of held-out templates" in summary


def test_domains_and_kinds_of_fault_are_broken_down_and_domains_averaged(make_run: MakeRun) -> None:
    def cases(csm: str, hr: str) -> list[Outcome]:
        first = faulted(outcomes(csm), subtype="throttled")
        second = [replace(case, domain="hr") for case in faulted(outcomes(hr, prefix="u"), subtype="lost_ack")]
        return first + second

    base, sft = make_run("base", cases("00000000", "10")), make_run("sft", cases("11110000", "11"))
    text = report_of(base, sft)
    by_kind = text.split("## By kind of fault", 1)[1]
    assert {r["Group"]: (r["n"], r["SFT"], r["SFT over Base (pp)"]) for r in markdown_table(by_kind, "Fault")} == {
        "lost_ack": ("2", "100.0%", "+50.0"),
        "throttled": ("8", "50.0%", "+50.0"),
    }
    (macro,) = markdown_table(text, "Macro gains")
    assert (macro["Domains"], macro["n"], macro["Gain (pp)"]) == ("2", "10", "+50.0")


def test_repeated_runs_give_pass_at_k_and_never_feed_mcnemar(make_run: MakeRun) -> None:
    def repeated(*patterns: str) -> list[Outcome]:
        return [
            replace(case, attempt=attempt) for attempt, marks in enumerate(patterns) for case in outcomes(marks)
        ]  # fmt: skip

    base = make_run("base", repeated("1000", "1100", "1000", "1000"))  # solved 4, 1, 0, 0 of 4
    sft = make_run("sft", repeated("1110", "1110", "1100", "1010"))  # solved 4, 3, 3, 0 of 4
    text = report_of(base, sft)
    values = {(r["Model"], r["Statistic"]): r["Value"] for r in markdown_table(text, "Per model")}
    assert (values["Base", "mean@4"], values["SFT", "mean@4"]) == ("31.2%", "62.5%")
    assert (values["Base", "pass@4"], values["SFT", "pass@4"]) == ("50.0%", "75.0%")
    assert (values["Base", "pass^4"], values["SFT", "pass^4"]) == ("25.0%", "25.0%")
    # pass^2 of SFT: tasks 1, C(3,2)/C(4,2) = .5 twice, 0
    assert values["SFT", "pass^2"] == "50.0%"
    assert "SFT solves 62.5% of 4 clean tasks in one run (Pass@1) and 75.0% in at least one of 4 (Pass@4)." in text, (
        "what several runs are made for stands in the summary, which the terminal shows"
    )
    (gain,) = markdown_table(text, "Gains, paired case by case")
    assert gain["n"] == "4"  # four tasks, not sixteen runs
    (difference,) = markdown_table(text, "Difference of mean@k, paired by task")
    assert (difference["Tasks"], difference["Difference (pp)"]) == ("4", "+31.2")


def test_tool_modes_have_their_own_tables(make_run: MakeRun) -> None:
    cases = outcomes("11") + [replace(case, tool_mode="plus5") for case in outcomes("10")]
    text = report_of(make_run("sft", cases))
    parts = re.split(r"## Success \((\w+)\)", text)[1:]
    assert parts[0::2] == ["oracle", "plus5"]
    assert [markdown_table(part, "Cases solved")[0]["Clean solved"] for part in parts[1::2]] == ["2 of 2", "1 of 2"]


def test_training_curve_compares_first_and_last_means(make_run: MakeRun, tmp_path: Path) -> None:
    training = tmp_path / "rl"
    training.mkdir()
    rewards = [0.1, 0.2, 0.3, 0.2, 0.2, 0.9, 0.5, 0.5, 0.6, 0.5, 0.4]
    lines = [f"{step},{reward}" for step, reward in enumerate(rewards)]
    (training / "metrics.csv").write_text("\n".join(["step,reward_mean", *lines, "11,"]) + "\n")
    text = report_of(make_run("rl", outcomes("1")), extra=("--training", str(training)))
    (row,) = markdown_table(text, "First and last means")
    assert (row["Steps"], row["First 5"], row["Last 5"], row["Change"]) == ("11", "0.200", "0.500", "+0.300")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_is_self_contained_and_says_what_the_markdown_says(two_stages: tuple[Path, Path]) -> None:
    markdown = report_of(*two_stages)
    page = _Page()
    page.feed((two_stages[-1] / "report" / "report.html").read_text())
    loaded = [attrs for tag, attrs in page.tags if tag in ("script", "link", "img", "iframe") or "src" in attrs]
    assert loaded == []
    text = " ".join(page.text)
    for row in markdown_table(markdown, "Gains, paired case by case"):
        assert all(cell in text for cell in row.values())
    assert sum(tag == "svg" for tag, _ in page.tags) == 4
    ids = [attrs["id"] for tag, attrs in page.tags if tag == "section"]
    assert {f"#{name}" for name in ids} == {attrs["href"] for tag, attrs in page.tags if tag == "a"}


def test_figures_are_wellformed_and_say_what_they_show(two_stages: tuple[Path, Path]) -> None:
    report_of(*two_stages)
    figures = {path.stem: path for path in (two_stages[-1] / "report" / "figures").iterdir()}
    assert set(figures) == {"success", "gains", "transitions", "recovery"}
    for path in figures.values():
        root = ElementTree.parse(path).getroot()
        assert root.get("aria-label")
        assert root.get("width") is None  # scales with the page
    shown = "".join(ElementTree.parse(figures["success"]).getroot().itertext())
    assert "75.0%" in shown
    assert "n = 16 clean" in shown


def test_the_same_runs_give_the_same_report_byte_for_byte(two_stages: tuple[Path, Path]) -> None:
    report_of(*two_stages)
    page = two_stages[-1] / "report" / "report.html"
    first = page.read_bytes()
    report_of(*two_stages)
    assert page.read_bytes() == first


def test_the_summary_states_the_gain_with_its_interval_and_verdict(two_stages: tuple[Path, Path]) -> None:
    summary = report_of(*two_stages).split("##", 1)[0]
    assert "- Base solves 31.2% of 16 clean cases." in summary
    assert re.search(
        r"SFT solves 75\.0% of 16 clean cases, 43\.8 points more than Base \(95% .*; inconclusive\)\.", summary
    )


def test_hashes_of_the_tables_and_of_the_manifest_are_named(two_stages: tuple[Path, Path]) -> None:
    rows = markdown_table(report_of(*two_stages), "Runs")
    for run, row in zip(two_stages, rows, strict=True):
        digest = hashlib.sha256((run / "episodes.parquet").read_bytes()).hexdigest()
        assert (row["episodes.parquet"], row["Fault manifest"]) == (digest[:16], "a" * 16)


def test_a_task_that_lacks_a_repeat_is_an_error_and_never_a_skip(
    make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    second = [replace(case, attempt=1) for case in outcomes("1")]
    run = make_run("sft", outcomes("11") + second)
    assert main([str(run)]) == 2
    assert "task t001 (oracle, clean) has 1 of 2 attempts" in capsys.readouterr().err


def test_cost_leaves_out_what_infrastructure_broke_in_either_model(make_run: MakeRun) -> None:
    base = make_run("base", [replace(case, opening_tokens=98) for case in outcomes("11")])
    cases = [replace(case, opening_tokens=98) for case in outcomes("11")]
    sft = make_run("sft", [cases[0], replace(cases[1], opening_tokens=1, stop_reason="infrastructure")])
    rows = {(r["Model"], r["Amount"]): r for r in markdown_table(report_of(base, sft), "Tokens and tool calls")}
    assert (rows["SFT", "Tokens"]["Cases"], rows["SFT", "Tokens"]["Per case"]) == ("1", "300.0")
