"""Rates, repeated runs, hit sets, multiplicity and power against published figures, SciPy and enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, bootstrap, ttest_1samp

from analysis.hits import common_hits
from analysis.multiplicity import benjamini_hochberg, holm
from analysis.paired import Discordant, mcnemar
from analysis.passk import Attempts, mean_at_k, pass_at_k, pass_hat_k, repeated_rate
from analysis.power import mcnemar_power, min_pairs_for_difference, min_pairs_for_equivalence
from analysis.rates import wilson
from analysis.repeats import Repeats, flip_excess, macro_difference, paired_difference


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def runs(num_solved: int, num_runs: int) -> Attempts:
    return Attempts(num_runs=num_runs, num_solved=num_solved)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval_agrees_with_scipy(counts: tuple[int, int]) -> None:
    rate = wilson(*counts)
    reference = binomtest(*counts).proportion_ci(0.95, method="wilson")
    assert (rate.interval.low, rate.interval.high) == pytest.approx((reference.low, reference.high), abs=1e-9)
    assert rate.interval.low <= rate.estimate <= rate.interval.high


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 2), (0, 0)])
def test_an_impossible_rate_is_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="rate needs"):
        wilson(successes, n)


def test_pass_at_five_of_ten_runs_with_three_successes() -> None:
    assert pass_at_k(runs(3, 10), 5) == pytest.approx(0.91667, abs=5e-6)


def test_pass_hat_two_of_ten_runs_with_three_successes() -> None:
    assert pass_hat_k(runs(3, 10), 2) == pytest.approx(0.06667, abs=5e-6)


def test_published_airline_figures_follow_from_fifty_tasks_run_four_times() -> None:
    # The only histogram of successes over 50 tasks x 4 runs with pass^1..4 = .420 .273 .220 .200
    tasks = [runs(c, 4) for c, count in {4: 10, 3: 4, 2: 10, 1: 12, 0: 14}.items() for _ in range(count)]
    estimates = [repeated_rate(tasks, k, "pass^k", rng=rng()).estimate for k in (1, 2, 3, 4)]
    assert estimates == pytest.approx([0.420, 0.273, 0.220, 0.200], abs=5e-4)
    assert estimates == sorted(estimates, reverse=True)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_pass_at_k_and_pass_hat_k_are_shares_of_all_subsets(drawn: tuple[int, int, int]) -> None:
    c, n, k = drawn
    subsets = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(runs(c, n), k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert pass_hat_k(runs(c, n), k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@pytest.mark.parametrize("statistic", [pass_at_k, pass_hat_k, mean_at_k])
def test_fewer_runs_than_k_is_an_error_and_never_a_skip(statistic) -> None:
    with pytest.raises(ValueError, match="k = 4 needs at least 4 runs"):
        statistic(runs(3, 3), 4)


def test_one_short_task_fails_the_whole_table() -> None:
    with pytest.raises(ValueError, match="got 2"):
        repeated_rate([runs(4, 4), runs(2, 2)], 4, "pass^k", rng=rng())


def test_mean_at_k_interval_agrees_with_scipy_bootstrap() -> None:
    tasks = [runs(c, 4) for c in [0, 1, 2, 3, 4, 4, 2, 1, 0, 3] * 5]
    rate = repeated_rate(tasks, 4, "mean@k", rng=rng())
    values = np.array([task.num_solved / 4 for task in tasks])
    reference = bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=rng()).confidence_interval
    assert rate.estimate == pytest.approx(0.5)
    assert (rate.interval.low, rate.interval.high) == pytest.approx((reference.low, reference.high), abs=0.02)


def test_a_single_task_has_no_interval() -> None:
    assert repeated_rate([runs(1, 2)], 2, "mean@k", rng=rng()).interval is None


def test_sign_flip_p_is_the_share_of_all_sign_patterns() -> None:
    a, b = [1.0, 0.75, 0.5, 1.0, 0.25, 0.75], [0.5, 0.5, 0.75, 0.25, 0.0, 0.25]
    differences = np.subtract(a, b)
    totals = [np.dot(signs, differences) for signs in itertools.product([1, -1], repeat=6)]
    share = sum(abs(total) >= differences.sum() - 1e-9 for total in totals) / len(totals)
    result = paired_difference(a, b, rng=rng())
    assert result.p == pytest.approx(share)
    assert result.estimate == pytest.approx(differences.mean())


def test_sign_flip_p_of_many_tasks_is_near_the_t_test() -> None:
    draw = np.random.default_rng(3)
    a = draw.integers(0, 5, 80) / 4
    b = np.clip(a - draw.integers(-1, 2, 80) / 4 - 0.04, 0, 1)
    result = paired_difference(list(a), list(b), rng=rng())
    assert result.p == pytest.approx(ttest_1samp(a - b, 0).pvalue, abs=0.03)


def test_equal_arms_show_no_difference() -> None:
    result = paired_difference([0.5, 1.0, 0.0], [0.5, 1.0, 0.0], rng=rng())
    assert (result.estimate, result.p) == (0.0, 1.0)


def test_macro_difference_weighs_domains_and_not_tasks() -> None:
    domains = {"csm": ([1.0] * 8, [0.0] * 8), "hr": ([0.0, 0.0], [0.0, 1.0])}
    result = macro_difference(domains, rng=rng())
    assert result.estimate == pytest.approx((1.0 - 0.5) / 2)
    assert result.n == 10
    # csm never varies; hr redraws two tasks of 0 and -1: -1, -.5 or 0
    assert (result.interval.low, result.interval.high) == pytest.approx((0.0, 0.5))


def test_macro_difference_uses_the_same_draw_for_both_arms() -> None:
    noisy = [0.0, 1.0] * 20
    result = macro_difference({"csm": (noisy, noisy)}, rng=rng())
    assert (result.interval.low, result.interval.high) == (0.0, 0.0)


@pytest.mark.parametrize(("a", "b", "excess"), [(5, 0, 1.0), (3, 3, -0.12), (4, 1, 0.28)])
def test_flip_excess_of_one_task(a: int, b: int, excess: float) -> None:
    result = flip_excess([Repeats(solved_a=a, solved_b=b, k=5)], rng=rng())
    assert result.estimate == pytest.approx(excess)


def test_flip_excess_p_is_the_share_of_label_permutations() -> None:
    # 5 successes among 10 labels: 2 of C(10,5) = 252 assignments are as extreme as (5, 0)
    result = flip_excess([Repeats(solved_a=5, solved_b=0, k=5)], rng=rng(), num_draws=40_000)
    assert result.p == pytest.approx(2 / math.comb(10, 5), abs=0.002)


def test_flip_excess_p_can_never_be_zero() -> None:
    tasks = [Repeats(solved_a=4, solved_b=0, k=4)] * 20
    assert flip_excess(tasks, rng=rng(), num_draws=99).p == pytest.approx(1 / 100)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
def test_flip_excess_ignores_which_arm_is_called_a(counts: list[tuple[int, int]]) -> None:
    one = flip_excess([Repeats(solved_a=a, solved_b=b, k=4) for a, b in counts], rng=rng(), num_draws=9)
    other = flip_excess([Repeats(solved_a=b, solved_b=a, k=4) for a, b in counts], rng=rng(), num_draws=9)
    assert one.estimate == pytest.approx(other.estimate)


def test_a_single_repeat_has_no_flip_rate() -> None:
    with pytest.raises(ValueError, match="k >= 2"):
        Repeats(solved_a=1, solved_b=0, k=1)


def test_common_hits_are_the_intersection_and_carry_their_coverage() -> None:
    result = common_hits({"base": {"t1", "t2"}, "sft": {"t2", "t3"}}, {"t1", "t2", "t3", "t4"})
    assert result.cases == {"t2"}
    assert (result.estimate, result.n, result.num_hits) == (0.25, 4, {"base": 2, "sft": 2})


def test_a_hit_that_was_never_assigned_is_refused() -> None:
    with pytest.raises(ValueError, match="sft: 1 hits outside"):
        common_hits({"sft": {"t9"}}, {"t1"})


def test_holm_and_benjamini_hochberg_of_four_p_values() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]).p == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).p == pytest.approx((0.02, 0.04, 0.04, 0.02))
    assert holm([]).p == ()


@settings(max_examples=20)  # statsmodels takes a tenth of a second for Holm
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_adjusted_p_values_never_shrink_and_holm_is_the_stricter(p_values: list[float]) -> None:
    strict, lenient = holm(p_values).p, benjamini_hochberg(p_values).p
    for raw, family, discovery in zip(p_values, strict, lenient, strict=True):
        assert raw - 1e-12 <= discovery <= family + 1e-12 <= 1 + 1e-9


@pytest.mark.parametrize(("margin", "n"), [(0.02, 133), (0.05, 52), (0.10, 25)])
def test_equivalence_without_discordant_pairs_needs_at_least(margin: float, n: int) -> None:
    assert min_pairs_for_equivalence(margin) == n


@pytest.mark.parametrize(
    ("p_only_a", "p_only_b", "n"), [(0.3, 0.05, 30), (0.5, 0.5, 20), (0.4, 0.0, 12), (0.1, 0.2, 5)]
)
def test_power_is_the_rejected_mass_over_every_possible_table(p_only_a: float, p_only_b: float, n: int) -> None:
    mass = 0.0
    for total in range(n + 1):
        for b in range(total + 1):
            if mcnemar(Discordant(only_a=b, only_b=total - b, n=n)).p < 0.05:
                share = p_only_a / (p_only_a + p_only_b)
                mass += binom.pmf(total, n, p_only_a + p_only_b) * binom.pmf(b, total, share)
    assert mcnemar_power(p_only_a=p_only_a, p_only_b=p_only_b, n=n) == pytest.approx(mass, abs=1e-9)


def test_least_n_for_a_difference_reaches_the_asked_power() -> None:
    n = min_pairs_for_difference(p_only_a=0.25, p_only_b=0.10, power=0.8)
    assert mcnemar_power(p_only_a=0.25, p_only_b=0.10, n=n) >= 0.8
    assert mcnemar_power(p_only_a=0.25, p_only_b=0.10, n=n - 1) < 0.8


def test_every_result_reads_as_one_sentence_with_its_n() -> None:
    results = [
        wilson(8, 10),
        mcnemar(Discordant(only_a=8, only_b=1, n=10)),
        repeated_rate([runs(1, 4)] * 10, 4, "pass^k", rng=rng()),
        paired_difference([0.5] * 10, [0.25] * 10, rng=rng()),
        flip_excess([Repeats(solved_a=1, solved_b=0, k=4)] * 10, rng=rng(), num_draws=9),
        common_hits({"base": {1}}, set(range(10))),
    ]
    for result in results:
        assert result.n == 10
        assert result.method
        assert "10" in result.reading()
        assert result.reading().endswith(".")
