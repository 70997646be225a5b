"""What docs/statistics.md shows is what the functions return."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.paired import Discordant, compare, equivalence
from analysis.power import mcnemar_power, min_pairs_for_difference, min_pairs_for_equivalence
from analysis.rates import wilson
from analysis.result import percent_interval

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "statistics.md").read_text()


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_every_example_of_the_page_runs(block: str) -> None:
    exec(compile(block, "docs/statistics.md", "exec"), {})


def test_figures_of_the_page_are_the_functions_own() -> None:
    assert percent_interval(wilson(12, 16).interval) == "50.5% to 89.8%"
    assert f"{equivalence(Discordant(only_a=0, only_b=1, n=44)).p:.4f}" == "0.0438"
    assert min_pairs_for_difference(p_only_a=0.20, p_only_b=0.10) == 249
    assert min_pairs_for_equivalence(0.10) == 25
    assert round(mcnemar_power(p_only_a=0.20, p_only_b=0.10, n=200), 2) == 0.70
    for figure in ("50.5% to 89.8%", ".0438", "# 249 cases", "# 25,", "# 0.70"):
        assert figure in PAGE


def test_verdicts_of_the_page_are_all_verdicts() -> None:
    listed = set(re.findall(r"^\| ([a-z ]+) \| (?:yes|no) \| (?:yes|no) \|$", PAGE, re.MULTILINE))
    shown = {
        compare(Discordant(only_a=b, only_b=c, n=n)).verdict
        for b, c, n in [(60, 5, 200), (9, 7, 125), (30, 10, 1000), (3, 0, 21)]
    }
    assert listed == shown
