"""Paired tests against published tables (Fagerland et al. 2014; statistics.md), SciPy and statsmodels."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar

from analysis.paired import (
    Discordant,
    PairedTable,
    compare,
    equivalence,
    mcnemar,
    mcnemar_chi2_p,
    min_discordants,
    tango_interval,
    tango_statistic,
)

BENTUR = PairedTable(both=1, only_a=1, only_b=7, neither=12)
CAVO = PairedTable(both=59, only_a=6, only_b=16, neither=80)


def pairs(b: int, c: int, n: int) -> Discordant:
    return Discordant(only_a=b, only_b=c, n=n)


@st.composite
def discordants(draw: st.DrawFn) -> Discordant:
    n = draw(st.integers(1, 300))
    b = draw(st.integers(0, n))
    return pairs(b, draw(st.integers(0, n - b)), n)


def test_bentur_airway_table_as_published() -> None:
    result = mcnemar(BENTUR.discordant)
    assert result.p == pytest.approx(0.0703, abs=5e-5)
    assert result.mid_p == pytest.approx(0.0391, abs=5e-5)
    assert mcnemar_chi2_p(BENTUR.discordant, corrected=False) == pytest.approx(0.0339, abs=5e-5)
    assert (result.interval.low, result.interval.high) == pytest.approx((-0.517, -0.026), abs=5e-4)


def test_cavo_response_table_as_published() -> None:
    result = mcnemar(CAVO.discordant)
    assert result.p == pytest.approx(0.0525, abs=5e-5)
    assert result.mid_p == pytest.approx(0.0347, abs=5e-5)
    assert (result.interval.low, result.interval.high) == pytest.approx((-0.124, -0.005), abs=5e-4)


def test_tango_interval_of_forty_twenty_of_160_as_published() -> None:
    interval = tango_interval(pairs(40, 20, 160))
    assert (interval.low, interval.high) == pytest.approx((0.0309, 0.2181), abs=5e-5)


def test_approval_table_is_decisive_and_agrees_with_statsmodels() -> None:
    table = PairedTable(both=794, only_a=86, only_b=150, neither=570)
    assert mcnemar_chi2_p(table.discordant, corrected=True) < 1e-4
    reference = sm_mcnemar([[794, 86], [150, 570]], exact=True).pvalue
    assert mcnemar(table.discordant).p == pytest.approx(reference, rel=1e-9)


def test_a_sign_test_of_112_to_106_is_no_evidence() -> None:
    assert mcnemar(pairs(112, 106, 218)).p == pytest.approx(0.7350, abs=5e-5)


def test_nine_to_seven_of_125_is_equivalent_within_ten_points_but_not_within_five() -> None:
    discordant = pairs(9, 7, 125)
    assert mcnemar(discordant).p == pytest.approx(0.804, abs=5e-4)
    assert equivalence(discordant, margin=0.10).p == pytest.approx(0.0097, abs=5e-5)
    assert equivalence(discordant, margin=0.05).p == pytest.approx(0.152, abs=5e-4)
    assert compare(discordant, margin=0.10).verdict == "equivalent"
    assert compare(discordant, margin=0.05).verdict == "inconclusive"
    assert "Inconclusive" in compare(discordant, margin=0.05).reading()


def test_none_to_three_of_21() -> None:
    assert mcnemar(pairs(0, 3, 21)).p == pytest.approx(0.25)


def test_tost_is_a_score_test_and_not_walds() -> None:
    assert equivalence(pairs(0, 1, 44), margin=0.10).p == pytest.approx(0.0438, abs=5e-5)


@pytest.mark.parametrize(("margin", "n"), [(0.02, 133), (0.05, 52), (0.10, 25)])
def test_without_discordant_pairs_equivalence_needs_this_many(margin: float, n: int) -> None:
    assert equivalence(pairs(0, 0, n), margin=margin).is_equivalent
    assert not equivalence(pairs(0, 0, n - 1), margin=margin).is_equivalent


def test_mid_p_of_an_even_split_is_one_less_half_the_central_term() -> None:
    # b = c = 2: the central term is C(4,2)/16 = 0.375
    assert mcnemar(pairs(2, 2, 10)).mid_p == pytest.approx(1 - 0.375 / 2)


def test_no_discordant_pair_gives_p_one() -> None:
    result = mcnemar(pairs(0, 0, 40))
    assert (result.p, result.mid_p, mcnemar_chi2_p(pairs(0, 0, 40), corrected=True)) == (1.0, 1.0, 1.0)


def test_six_one_way_pairs_are_the_least_that_can_be_significant() -> None:
    assert min_discordants() == 6
    assert mcnemar(pairs(6, 0, 50)).p == pytest.approx(0.03125)
    assert mcnemar(pairs(5, 0, 50)).p == pytest.approx(0.0625)
    assert "at least 6" in mcnemar(pairs(5, 0, 50)).reading()
    assert "at least 6" not in mcnemar(pairs(6, 0, 50)).reading()


def test_a_significant_but_small_difference_is_called_both() -> None:
    assert compare(pairs(30, 10, 1000)).verdict == "different within the margin"
    assert compare(pairs(60, 5, 200)).verdict == "different"


def test_a_p_that_does_not_survive_its_family_is_no_difference() -> None:
    discordant = pairs(8, 1, 16)
    assert compare(discordant).verdict == "different"
    assert compare(discordant, family_p=0.078).verdict == "inconclusive"


def test_paired_table_counts_the_four_cells() -> None:
    table = PairedTable.of([True, True, False, False, True], [True, False, True, False, False])
    assert table == PairedTable(both=1, only_a=2, only_b=1, neither=1)
    assert table.discordant.difference == pytest.approx(0.2)


def test_arms_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="got 1 and 2"):
        PairedTable.of([True], [True, False])


@pytest.mark.parametrize(("b", "c", "n"), [(-1, 0, 5), (3, 3, 5), (0, 0, 0)])
def test_impossible_counts_are_refused(b: int, c: int, n: int) -> None:
    with pytest.raises(ValueError, match="discordant"):
        pairs(b, c, n)


@given(discordants())
def test_exact_p_is_the_sign_test(discordant: Discordant) -> None:
    b, c = discordant.only_a, discordant.only_b
    reference = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar(discordant).p == pytest.approx(reference, abs=1e-9)


@given(discordants())
def test_swapping_the_arms_mirrors_every_number(discordant: Discordant) -> None:
    swapped = pairs(discordant.only_b, discordant.only_a, discordant.n)
    one, other = compare(discordant), compare(swapped)
    assert one.mcnemar.p == pytest.approx(other.mcnemar.p)
    assert one.mcnemar.mid_p == pytest.approx(other.mcnemar.mid_p)
    assert one.mcnemar.estimate == pytest.approx(-other.mcnemar.estimate)
    assert one.mcnemar.interval.low == pytest.approx(-other.mcnemar.interval.high, abs=1e-7)
    assert one.equivalence.p == pytest.approx(other.equivalence.p, abs=1e-9)
    assert one.verdict == other.verdict


@given(discordants())
def test_interval_holds_the_estimate_and_stays_within_one(discordant: Discordant) -> None:
    interval = tango_interval(discordant)
    assert -1 <= interval.low <= discordant.difference <= interval.high <= 1
    assert interval.low < interval.high


@given(discordants(), st.sampled_from([0.02, 0.05, 0.10, 0.25]))
def test_tost_p_decides_as_the_ninety_percent_interval_does(discordant: Discordant, margin: float) -> None:
    result = equivalence(discordant, margin=margin)
    assume(abs(result.p - 0.05) > 1e-6)
    assert result.is_equivalent == (result.p < 0.05)


@given(discordants(), st.floats(-0.9, 0.9))
def test_score_statistic_uses_the_restricted_maximum_of_the_likelihood(discordant: Discordant, delta: float) -> None:
    """The closed form against a numerical maximum of the trinomial likelihood under p_only_a - p_only_b = delta."""
    b, c, n = discordant.only_a, discordant.only_b, discordant.n
    assume(b > 0 and c > 0 and b + c < n)

    def negative_log_likelihood(p_only_b: float) -> float:
        p_only_a = p_only_b + delta
        return -(b * np.log(p_only_a) + c * np.log(p_only_b) + (n - b - c) * np.log(1 - p_only_a - p_only_b))

    low, high = max(0.0, -delta), (1 - delta) / 2
    best = minimize_scalar(
        negative_log_likelihood, bounds=(low + 1e-12, high - 1e-12), method="bounded", options={"xatol": 1e-11}
    ).x
    reference = (b - c - n * delta) / np.sqrt(n * (2 * best + delta * (1 - delta)))
    assert tango_statistic(discordant, delta) == pytest.approx(reference, rel=1e-3, abs=1e-4)


@given(discordants())
def test_score_statistic_at_zero_is_mcnemars_z(discordant: Discordant) -> None:
    b, c = discordant.only_a, discordant.only_b
    assume(b + c > 0)
    assert tango_statistic(discordant, 0.0) == pytest.approx((b - c) / np.sqrt(b + c))
