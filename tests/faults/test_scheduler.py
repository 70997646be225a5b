"""The scheduler: balance over what actually happened, caps within range, and equal plans under an equal seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustops.faults.catalogue import KINDS, CapRange, subtypes_of
from robustops.faults.scheduler import Opportunity, Scheduler, Stratum

FIRST_SLICE = ("throttled", "partial_list", "lost_ack")
HERE = Stratum(domain="csm", tool_mode="oracle")


def offer(position: int, *subtypes: str) -> Opportunity:
    return Opportunity(position=position, tool=f"tool{position}", signature=f"tool{position}{{}}", subtypes=subtypes)


EVERYTHING = [offer(0, "throttled", "partial_list"), offer(1, "throttled", "lost_ack"), offer(2, "throttled")]


def test_actual_injections_are_balanced_over_subtypes() -> None:
    scheduler = Scheduler(FIRST_SLICE, seed=1)
    counts: Counter[str] = Counter()
    for number in range(30):
        choice = scheduler.choose(EVERYTHING, case_key=str(number), stratum=HERE)
        assert choice is not None
        scheduler.record(choice.plan.subtype, HERE)
        counts[choice.plan.subtype] += 1
    assert counts == {"throttled": 10, "partial_list": 10, "lost_ack": 10}


def test_a_plan_that_never_struck_does_not_count() -> None:
    scheduler = Scheduler(("throttled", "lost_ack"), seed=1)
    scheduler.record("throttled", HERE)
    for number in range(10):
        choice = scheduler.choose(EVERYTHING, case_key=str(number), stratum=HERE)
        assert choice is not None
        assert choice.plan.subtype == "lost_ack"


def test_equal_totals_prefer_what_is_rarer_in_the_same_domain_and_mode() -> None:
    scheduler = Scheduler(("throttled", "lost_ack"), seed=1)
    scheduler.record("throttled", HERE)
    scheduler.record("lost_ack", Stratum(domain="hr", tool_mode="oracle"))
    for number in range(10):
        choice = scheduler.choose(EVERYTHING, case_key=str(number), stratum=HERE)
        assert choice is not None
        assert choice.plan.subtype == "lost_ack"


def test_the_total_weighs_more_than_the_stratum() -> None:
    scheduler = Scheduler(("throttled", "lost_ack"), seed=1)
    for domain in ("hr", "itsm"):
        scheduler.record("throttled", Stratum(domain=domain, tool_mode="oracle"))
    scheduler.record("lost_ack", HERE)
    for number in range(10):
        choice = scheduler.choose(EVERYTHING, case_key=str(number), stratum=HERE)
        assert choice is not None
        assert choice.plan.subtype == "lost_ack"


def test_without_an_eligible_call_there_is_no_plan() -> None:
    scheduler = Scheduler(("lost_ack",), seed=1)
    assert scheduler.choose([], case_key="a", stratum=HERE) is None
    assert scheduler.choose([offer(0, "throttled")], case_key="a", stratum=HERE) is None


def test_the_plan_names_the_chosen_call() -> None:
    choice = Scheduler(("partial_list",), seed=5).choose(EVERYTHING, case_key="a", stratum=HERE)
    assert choice is not None
    assert choice.opportunity.position == 0
    assert (choice.plan.tool, choice.plan.signature, choice.plan.subtype) == ("tool0", "tool0{}", "partial_list")


@given(seed=st.integers(0, 2**32), low=st.integers(1, 4), extra=st.integers(0, 3), keys=st.lists(st.text(), max_size=8))
def test_the_same_seed_gives_the_same_plans_within_the_cap_range(
    seed: int, low: int, extra: int, keys: list[str]
) -> None:
    caps = {name: CapRange(low=low, high=low + extra) for name in FIRST_SLICE}
    one, two = (Scheduler(FIRST_SLICE, seed=seed, caps=caps) for _ in range(2))
    for key in keys:
        first, second = (s.choose(EVERYTHING, case_key=key, stratum=HERE) for s in (one, two))
        assert first == second
        assert first is not None
        assert low <= first.plan.cap <= low + extra
        for scheduler in (one, two):
            scheduler.record(first.plan.subtype, HERE)


def test_all_caps_of_a_range_are_drawn() -> None:
    scheduler = Scheduler(("throttled",), seed=1, caps={"throttled": CapRange(low=1, high=3)})
    choices = [scheduler.choose(EVERYTHING, case_key=str(n), stratum=HERE) for n in range(60)]
    assert {choice.plan.cap for choice in choices if choice} == {1, 2, 3}


def test_state_survives_a_checkpoint() -> None:
    scheduler = Scheduler(FIRST_SLICE, seed=1)
    for subtype in ("throttled", "throttled", "lost_ack"):
        scheduler.record(subtype, HERE)
    resumed = Scheduler(FIRST_SLICE, seed=1)
    resumed.load_state(scheduler.state())
    assert resumed.state() == scheduler.state()
    assert resumed.choose(EVERYTHING, case_key="k", stratum=HERE) == scheduler.choose(
        EVERYTHING, case_key="k", stratum=HERE
    )


def test_policies_split_the_families_as_documented() -> None:
    assert subtypes_of("none") == ()
    assert subtypes_of("heldout") == ("dropped_filter",)
    assert set(subtypes_of("train")) == {
        "throttled",
        "unavailable",
        "partial_list",
        "truncated_reply",
        "swapped_reply",
        "lost_ack",
    }
    assert set(subtypes_of("all")) == {*subtypes_of("train"), "dropped_filter"}
    assert set(subtypes_of("stress")) == {"stale_read", "silent_noop", "permanent_outage", "schema_drift"}
    assert set(KINDS) - set(subtypes_of("all")) - set(subtypes_of("stress")) == {"timeout_not_committed"}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown fault subtype 'throtled'"):
        Scheduler(("throtled",), seed=1)
    with pytest.raises(ValueError, match="unknown fault policy 'trian'"):
        subtypes_of("trian")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cap range"):
        CapRange(low=0, high=2)
