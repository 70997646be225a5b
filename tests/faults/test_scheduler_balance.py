"""Balance of what actually happened, at every moment; and what balance can be had where one kind is scarce."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustops.faults.catalogue import KINDS, CapRange, subtypes_of
from robustops.faults.scheduler import Opportunity, Scheduler, Stratum

ALL = subtypes_of("all")
STRATA = [Stratum(domain=domain, tool_mode=mode) for domain in ("csm", "hr") for mode in ("oracle", "plus5")]


def offer(*subtypes: str) -> list[Opportunity]:
    return [Opportunity(position=0, tool="t", signature="t{}", subtypes=subtypes)]


def choose(scheduler: Scheduler, subtypes: Sequence[str], key: str, stratum: Stratum = STRATA[0]) -> str:
    choice = scheduler.choose(offer(*subtypes), case_key=key, stratum=stratum)
    assert choice is not None
    return choice.plan.subtype


@given(
    seed=st.integers(0, 2**32),
    subtypes=st.sets(st.sampled_from(ALL), min_size=1).map(sorted),
    places=st.lists(st.sampled_from(STRATA), max_size=40),
)
@settings(max_examples=100)
def test_counts_never_differ_by_more_than_one_while_everything_is_eligible(
    seed: int, subtypes: list[str], places: list[Stratum]
) -> None:
    scheduler = Scheduler(tuple(subtypes), seed=seed)
    counts = Counter(dict.fromkeys(subtypes, 0))
    for number, stratum in enumerate(places):
        subtype = choose(scheduler, subtypes, str(number), stratum)
        scheduler.record(subtype, stratum)
        counts[subtype] += 1
        assert max(counts.values()) - min(counts.values()) <= 1


@given(seed=st.integers(0, 2**32), num_draws=st.integers(0, 40))
@settings(max_examples=50)
def test_within_one_domain_and_mode_counts_are_as_even(seed: int, num_draws: int) -> None:
    """With one stratum alone, the total and the stratum are the same thing."""
    scheduler = Scheduler(ALL, seed=seed)
    counts = Counter(dict.fromkeys(ALL, 0))
    for number in range(num_draws):
        subtype = choose(scheduler, ALL, str(number))
        scheduler.record(subtype, STRATA[0])
        counts[subtype] += 1
    assert max(counts.values()) - min(counts.values()) <= 1


def most_even(offers: Sequence[Sequence[str]], subtypes: Sequence[str]) -> list[int]:
    """The most even counts any assignment can reach: lexicographically largest when sorted, by trying all states."""
    states = {(0,) * len(subtypes)}
    for offered in offers:
        states = {
            tuple(n + (name == chosen) for n, name in zip(state, subtypes, strict=True))
            for state in states
            for chosen in offered
        }
    return max(sorted(state) for state in states)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("every", [2, 3, 5])
def test_a_scarce_kind_reaches_the_computed_optimum(seed: int, every: int) -> None:
    """`lost_ack` is eligible at every n-th draw only, from the n-th on; the two others always."""
    subtypes = ("throttled", "partial_list", "lost_ack")
    offers = [subtypes if number % every == every - 1 else subtypes[:2] for number in range(30)]
    scheduler = Scheduler(subtypes, seed=seed)
    counts = Counter(dict.fromkeys(subtypes, 0))
    for number, offered in enumerate(offers):
        subtype = choose(scheduler, offered, str(number))
        scheduler.record(subtype, STRATA[0])
        counts[subtype] += 1
    assert sorted(counts.values()) == most_even(offers, subtypes)
    assert counts["lost_ack"] == min(10, 30 // every)


@given(seed=st.integers(0, 2**32), num_before=st.integers(0, 20), num_after=st.integers(0, 20))
@settings(max_examples=50)
def test_a_resumed_scheduler_goes_on_as_if_it_had_never_stopped(seed: int, num_before: int, num_after: int) -> None:
    straight, first = Scheduler(ALL, seed=seed), Scheduler(ALL, seed=seed)

    def play(scheduler: Scheduler, numbers: range) -> list[str]:
        chosen = []
        for number in numbers:
            stratum = STRATA[number % len(STRATA)]
            chosen.append(choose(scheduler, ALL, str(number), stratum))
            scheduler.record(chosen[-1], stratum)
        return chosen

    expected = play(straight, range(num_before + num_after))
    found = play(first, range(num_before))
    second = Scheduler(ALL, seed=seed)
    second.load_state(first.state())
    assert found + play(second, range(num_before, num_before + num_after)) == expected


@pytest.mark.parametrize(("intensity", "cap"), [(0.0, 1), (0.5, 3), (1.0, 5)])
def test_intensity_settles_the_cap_within_its_range(intensity: float, cap: int) -> None:
    scheduler = Scheduler(("throttled",), seed=1, caps={"throttled": CapRange(low=1, high=5)}, intensity=intensity)
    choice = scheduler.choose(offer("throttled"), case_key="k", stratum=STRATA[0])
    assert choice is not None
    assert (choice.plan.cap, choice.plan.intensity) == (cap, intensity)


def test_an_intensity_outside_its_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"got 1\.5, expected 0 to 1"):
        Scheduler(("throttled",), seed=1, intensity=1.5)


@pytest.mark.parametrize("policy", ["train", "heldout", "all", "stress", "none"])
def test_a_policy_yields_its_own_kinds_and_no_others(policy: str) -> None:
    """Every kind is on offer at every draw: only the policy's own are ever planned."""
    scheduler = Scheduler(subtypes_of(policy), seed=3)  # type: ignore[arg-type]
    seen = set()
    for number in range(60):
        choice = scheduler.choose(offer(*KINDS), case_key=str(number), stratum=STRATA[0])
        if choice is not None:
            seen.add(choice.plan.subtype)
            scheduler.record(choice.plan.subtype, STRATA[0])
    assert seen == set(subtypes_of(policy))  # type: ignore[arg-type]
