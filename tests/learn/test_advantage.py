"""Normalisation by the formulas of docs/algorithms.md: numbers worked out by hand, and loops in plain Python."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from robustops.learn import advantage
from robustops.learn.advantage import NormKind, has_signal, normalise
from robustops.rollout.score import Evidence, RewardWeights, Score

WEIGHTS = RewardWeights()
S = [[1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]]
P = [["1", "1/2", "1/2", "0"], ["1/4", "0", "0", "-1/4"], ["1", "1", "1/2", "1/2"]]
Q = [["1", "0", "0", "0"], ["0", "0", "0", "0"], ["1", "1/2", "0", "0"]]
COMPONENT = [1.9652, -0.5358, -0.5358, -0.8937, 0.3579, 0, 0, -0.3579, 1.2239, 1.1221, -1.1730, -1.1730]
AGGREGATE = [1.6486, -0.4650, -0.4650, -0.7186, 1.3540, 0, 0, -1.3540, 0.9961, 0.9180, -0.9570, -0.9570]
LENGTHS = [[40, 10, 10, 10], [10, 10, 10, 10], [40, 40, 10, 10]]
NO_EVIDENCE = Evidence(num_calls=0, bad=(), repeated_turns=())


def member(success: int, progress: str | Fraction = "0", quality: str | Fraction = "0") -> Score:
    return Score(success=bool(success), progress=Fraction(progress), quality=Fraction(quality), evidence=NO_EVIDENCE)


ORACLE = [[member(*raw) for raw in zip(*rows, strict=True)] for rows in zip(S, P, Q, strict=True)]


def loops_z(values: Sequence[float], eps: float) -> list[float]:
    """Z with the standard library's exact sample deviation."""
    mean, std = statistics.fmean(values), statistics.stdev(values)
    return [(x - mean) / (std + eps) for x in values]


def loops(groups: Sequence[Sequence[Score]], kind: NormKind, eps: float = 1e-6) -> list[float]:
    """The two formulas of section 2, one number at a time."""
    combined: list[float] = []
    for group in groups:
        if kind == "aggregate":
            parts = [(1.0, [float(score.reward(WEIGHTS)) for score in group])]
        else:
            columns = [[float(score.raw[k]) for score in group] for k in range(3)]
            parts = list(zip((1.0, 0.3, 0.1), columns, strict=True))
        zs = [[w * z for z in (loops_z(x, eps) if len(set(x)) > 1 else [0.0] * len(x))] for w, x in parts]
        combined += [sum(column) for column in zip(*zs, strict=True)]
    return loops_z(combined, eps) if len(set(combined)) > 1 else [0.0] * len(combined)


@pytest.mark.parametrize(("kind", "expected"), [("component", COMPONENT), ("aggregate", AGGREGATE)])
def test_worked_oracle(kind: NormKind, expected: list[float]) -> None:
    found = normalise(ORACLE, weights=WEIGHTS, kind=kind).total_N
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), atol=5e-5, rtol=0)


def test_whitening_counts_trajectories_not_tokens() -> None:
    """Whitening over tokens, the defect, turns the whole of group 2 negative; the same scores keep their signs here."""
    raw = advantage.raw_scores(ORACLE, weights=WEIGHTS, kind="component")
    combined_N = torch.from_numpy(raw.weight_K @ advantage.z_group(raw))
    lengths_N = torch.tensor(LENGTHS).flatten()
    tokens_T = torch.repeat_interleave(combined_N, lengths_N)
    defect_N = (combined_N - tokens_T.mean()) / (tokens_T.std() + 1e-6)
    assert defect_N[4:8].tolist() == pytest.approx([-0.2465, -0.5885, -0.5885, -0.9305], abs=5e-5)
    ours_N = normalise(ORACLE, weights=WEIGHTS).total_N
    assert ours_N[4:8].tolist() == pytest.approx([0.3579, 0, 0, -0.3579], abs=5e-5)


def test_standard_deviations_are_sample_deviations() -> None:
    """With eps = 0.1, S = [1, 0] has std sqrt(1/2) in the group; then the batch of two has the same shape again."""
    z = 0.5 / (math.sqrt(0.5) + 0.1)
    expected = z / (math.sqrt(2) * z + 0.1)
    only_success = RewardWeights(success=1.0, progress=0.0, quality=0.0)
    found = normalise([[member(1), member(0)]], weights=only_success, eps=0.1).total_N
    assert found.tolist() == pytest.approx([expected, -expected], rel=1e-12)


def test_unequal_groups_use_their_own_size() -> None:
    groups = [[member(1), member(0)], [member(1), member(0), member(0), member(0), member(0)]]
    found = normalise(groups, weights=WEIGHTS).total_N
    first, second = math.sqrt(0.5), 0.8 / math.sqrt(0.2)
    spread = statistics.stdev([first, -first, second, *[-0.2 / math.sqrt(0.2)] * 4])
    assert found[[0, 2]].tolist() == pytest.approx([first / spread, second / spread], rel=1e-5)


def test_group_of_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="group 1 has 1 trajectories"):
        normalise([[member(1), member(0)], [member(1)]], weights=WEIGHTS)


def test_no_group_is_an_error() -> None:
    with pytest.raises(ValueError, match="no group"):
        normalise([], weights=WEIGHTS)


@pytest.mark.parametrize("kind", ["component", "aggregate"])
def test_constant_group_is_exactly_zero_before_whitening_despite_float_noise(kind: NormKind) -> None:
    """np.std([0.1] * 3) is 1.4e-17, which a division by std alone would blow up to order one."""
    constant = [member(0, "1/10")] * 3
    raw = advantage.raw_scores([constant], weights=WEIGHTS, kind=kind)
    assert advantage.z_group(raw, eps=0.0).tolist() == [[0.0] * 3] * len(raw.weight_K)


def test_batch_of_constant_groups_is_exactly_zero() -> None:
    found = normalise([[member(0, "1/3")] * 3, [member(0, "1/7")] * 4], weights=WEIGHTS)
    assert found.total_N.tolist() == [0.0] * 7
    assert found.quality_N.tolist() == [0.0] * 7


def test_two_spellings_of_one_fraction_are_the_same_value() -> None:
    assert not has_signal([member(0, Fraction(1, 3)), member(0, Fraction(2, 6))], weights=WEIGHTS, kind="component")


def test_difference_below_float_resolution_is_still_a_signal() -> None:
    tiny = Fraction(1, 2) + Fraction(1, 2**60)
    assert float(tiny) == 0.5
    assert has_signal([member(0, "1/2"), member(0, tiny)], weights=WEIGHTS, kind="component")


@pytest.mark.parametrize("kind", ["component", "aggregate"])
def test_numbers_that_no_machine_integer_holds_are_compared_exactly(kind: NormKind) -> None:
    third, beside = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 2**100)
    groups = [[member(0, third), member(0, beside)], [member(0, beside)] * 2, [member(0, "0"), member(0, "1")]]
    raw = advantage.raw_scores(groups, weights=WEIGHTS, kind=kind)
    constant_G = raw.is_constant_KG[1 if kind == "component" else 0]
    assert constant_G.tolist() == [False, True, False]
    assert normalise(groups, weights=WEIGHTS, kind=kind).total_N.tolist()[2:4] == [0.0, 0.0]


def test_equal_rewards_of_different_tuples_are_no_signal_for_aggregate_only() -> None:
    """0.3 * 1/3 = 0.1 * 1: different tuples, one reward; in floats the two sums differ in the last bit."""
    group = [member(0, "1/3", "0"), member(0, "0", "1")]
    assert not has_signal(group, weights=WEIGHTS, kind="aggregate")
    assert has_signal(group, weights=WEIGHTS, kind="component")


def test_component_without_weight_gives_no_signal() -> None:
    no_progress = RewardWeights(progress=0.0)
    assert not has_signal([member(0, "1/2"), member(0, "0")], weights=no_progress, kind="component")


def test_success_is_not_lost_when_the_others_of_its_group_are_equal() -> None:
    """Leave-one-out deviation of the other three is 0 there; the one success must still get the largest advantage."""
    found = normalise([[member(1, "1", "1"), member(0), member(0), member(0)], ORACLE[1]], weights=WEIGHTS).total_N
    assert found[0] == found.max()
    assert found[0] > 1


scores_st = st.builds(
    member,
    st.integers(0, 1),
    st.fractions(-1, 1, max_denominator=6),
    st.fractions(0, 1, max_denominator=10),
)
groups_st = st.lists(st.lists(scores_st, min_size=2, max_size=5), min_size=1, max_size=6)


@given(groups_st, st.sampled_from(["component", "aggregate"]), st.sampled_from([1e-6, 0.1]))
def test_vectorised_equals_plain_loops(groups: list[list[Score]], kind: NormKind, eps: float) -> None:
    found = normalise(groups, weights=WEIGHTS, kind=kind, eps=eps).total_N
    assert found.tolist() == pytest.approx(loops(groups, kind, eps), abs=1e-6, rel=1e-6)


@given(groups_st)
def test_a_group_is_constant_in_a_component_where_its_set_of_fractions_has_one_element(
    groups: list[list[Score]],
) -> None:
    found_KG = advantage.raw_scores(groups, weights=WEIGHTS, kind="component").is_constant_KG
    assert found_KG.T.tolist() == [[len({score.raw[k] for score in group}) == 1 for k in range(3)] for group in groups]


@given(groups_st)
def test_batch_is_centred_and_order_of_groups_is_irrelevant(groups: list[list[Score]]) -> None:
    found = normalise(groups, weights=WEIGHTS).total_N
    assert abs(float(found.sum())) < 1e-6
    backwards = normalise(groups[::-1], weights=WEIGHTS).total_N
    split = torch.split(backwards, [len(group) for group in groups[::-1]])
    torch.testing.assert_close(torch.cat(split[::-1]), found, atol=1e-9, rtol=1e-9)


def test_quality_part_is_the_weighted_quality_term_over_the_batch_spread() -> None:
    found = normalise(ORACLE, weights=WEIGHTS)
    without = normalise(ORACLE, weights=RewardWeights(quality=0.0))
    assert found.quality_N[4:8].tolist() == [0.0] * 4
    # Z_group(Q) of the first group is 1.5, -.5, -.5, -.5; the batch deviation is that of the combined scores
    raw = advantage.raw_scores(ORACLE, weights=WEIGHTS, kind="component")
    spread = statistics.stdev((raw.weight_K @ advantage.z_group(raw)).tolist())
    assert found.quality_N[:4].tolist() == pytest.approx([0.15 / spread, *[-0.05 / spread] * 3], rel=1e-5)
    assert without.quality_N.tolist() == [0.0] * 12


@pytest.mark.parametrize("kind", ["component", "aggregate"])
def test_length_term_prefers_the_shorter_of_two_equal_answers_and_zero_weight_changes_nothing(kind: NormKind) -> None:
    group = [member(1, 1, 1), member(1, 1, 1), member(0), member(0)]
    short_first = advantage.LengthTerm(weight=0.1, tokens_G=[[10, 40, 10, 40]])
    found = normalise([group], weights=WEIGHTS, kind=kind, length=short_first).total_N.tolist()
    assert found[0] > found[1] > found[2] > found[3]
    nothing = advantage.LengthTerm(weight=0.0, tokens_G=[[10, 40, 10, 40]])
    plain = normalise([group], weights=WEIGHTS, kind=kind).total_N
    torch.testing.assert_close(normalise([group], weights=WEIGHTS, kind=kind, length=nothing).total_N, plain)


def test_length_term_of_the_sum_by_hand() -> None:
    """R = 1 and 0 less 0.5 x 20/40 and 0.5 x 40/40: a difference of 1.25; two members stand at +-sqrt(1/2) anyway."""
    only_success = RewardWeights(success=1.0, progress=0.0, quality=0.0)
    term = advantage.LengthTerm(weight=0.5, tokens_G=[[20, 40]])
    raw = advantage.raw_scores([[member(1), member(0)]], weights=only_success, kind="aggregate", length=term)
    assert raw.value_KN.tolist() == [[0.75, -0.5]]
