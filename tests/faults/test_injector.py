"""What each mechanism does to a call, and the invariants that hold over any sequence of calls."""

import asyncio
import json
from typing import Any

import pytest
from desk_gym import DeskSession
from fault_laws import Call, plan_for, play_by_the_laws
from hypothesis import given, settings
from hypothesis import strategies as st

from robustops.faults.catalogue import KINDS
from robustops.faults.injector import Injector
from robustops.faults.mechanism import Origin
from tests.conftest import IS_FULL_SIZE

LIST_ACME = ("list_cases", {"account_id": 1})
CREATE = ("create_case", {"account_id": 1, "title": "new"})


def injector_for(subtype: str, call: tuple[str, dict[str, Any]], **kwargs: int) -> tuple[DeskSession, Injector]:
    session = DeskSession()
    return session, Injector(session, plan_for(subtype, call, **kwargs))


@pytest.mark.parametrize("subtype", ["throttled", "unavailable"])
async def test_a_rejected_call_never_reaches_the_tools(subtype: str) -> None:
    session, injector = injector_for(subtype, CREATE)
    before = await session.state_hash()
    shown = await injector.call(*CREATE)
    assert session.num_executed == 0
    assert await session.state_hash() == before
    assert shown.is_error
    assert not shown.executed
    assert json.loads(shown.text)["executed"] is False
    assert json.loads(shown.observation)["isError"] is True
    assert json.loads(shown.observation)["content"][0]["text"] == shown.text
    (event,) = injector.events
    assert (event.native, event.shown, event.call_index, event.remaining_cap) == ("", shown.text, 0, 0)


async def test_a_bounded_retry_after_throttling_succeeds() -> None:
    session, injector = injector_for("throttled", CREATE, cap=2)
    replies = [await injector.call(*CREATE) for _ in range(3)]
    assert [shown.is_error for shown in replies] == [True, True, False]
    assert session.num_executed == 1


async def test_a_call_without_its_required_arguments_is_not_throttled() -> None:
    _, injector = injector_for("throttled", ("create_case", {"title": "x"}))
    shown = await injector.call("create_case", {"title": "x"})
    assert shown.text.startswith("API Error")
    assert injector.events == []
    assert injector.remaining_cap == 1


@pytest.mark.parametrize("seed", range(12))
async def test_a_partial_list_is_a_strict_flagged_subset_in_order(seed: int) -> None:
    _, injector = injector_for("partial_list", LIST_ACME, seed=seed)
    native = json.loads((await DeskSession().call(*LIST_ACME)).text)
    shown = json.loads((await injector.call(*LIST_ACME)).text)
    assert list(shown) == ["incomplete", "returned", "items"]
    assert shown["incomplete"] is True
    assert 1 <= shown["returned"] == len(shown["items"]) < len(native) == 2
    assert shown["items"] == [row for row in native if row in shown["items"]]
    assert json.loads(injector.events[0].native) == native


@pytest.mark.parametrize(
    "call",
    [
        ("list_cases", {"account_id": 2}),  # one row
        ("list_cases", {"account_id": 9}),  # none
        ("find_account", {"name": "Acme"}),  # an object
        CREATE,  # a write
    ],
)
async def test_a_label_alone_makes_no_list_partial(call: tuple[str, dict[str, Any]]) -> None:
    session, injector = injector_for("partial_list", call)
    assert await injector.call(*call) == await DeskSession().call(*call)
    assert injector.events == []
    assert injector.remaining_cap == 1
    assert session.num_executed == 1


async def test_a_lost_ack_hides_a_write_that_is_committed() -> None:
    session, injector = injector_for("lost_ack", CREATE)
    clean = DeskSession()
    native = await clean.call(*CREATE)
    shown = await injector.call(*CREATE)
    assert json.loads(shown.text) == {"error": "timeout: no acknowledgement received; the outcome is unknown"}
    assert shown.is_error
    assert await session.state_hash() == await clean.state_hash()
    (event,) = injector.events
    assert event.native == native.text
    assert event.hash_before != event.hash_after == await clean.state_hash()


async def test_retry_after_lost_ack_creates_a_duplicate() -> None:
    session, injector = injector_for("lost_ack", CREATE)
    await injector.call(*CREATE)
    await injector.call(*CREATE)
    rows = (await session.query("SELECT COUNT(*) AS n FROM support_case WHERE title = 'new'"))["data"]
    assert rows == [{"n": 2}]


@pytest.mark.parametrize("call", [("create_case", {"account_id": 99, "title": "x"}), LIST_ACME, ("no_such_tool", {})])
async def test_only_a_confirmed_write_loses_its_ack(call: tuple[str, dict[str, Any]]) -> None:
    _, injector = injector_for("lost_ack", call)
    assert await injector.call(*call) == await DeskSession().call(*call)
    assert injector.events == []


async def test_the_uncommitted_twin_says_the_same_and_writes_nothing() -> None:
    session, injector = injector_for("timeout_not_committed", CREATE)
    before = await session.snapshot()
    shown = await injector.call(*CREATE)
    _, lost = injector_for("lost_ack", CREATE)
    assert shown.text == (await lost.call(*CREATE)).text
    assert shown.observation == (await injector_for("lost_ack", CREATE)[1].call(*CREATE)).observation
    assert await session.snapshot() == before


async def test_a_truncated_reply_is_a_prefix_that_no_longer_parses() -> None:
    _, injector = injector_for("truncated_reply", LIST_ACME)
    native = (await DeskSession().call(*LIST_ACME)).text
    shown = (await injector.call(*LIST_ACME)).text
    assert native.startswith(shown)
    assert len(native) // 2 <= len(shown) < len(native)
    with pytest.raises(json.JSONDecodeError):
        json.loads(shown)


async def test_a_short_reply_is_not_truncated() -> None:
    call = ("find_account", {"name": "Acme"})
    _, injector = injector_for("truncated_reply", call)
    assert (await injector.call(*call)).text == (await DeskSession().call(*call)).text


async def test_a_swapped_reply_is_another_row_in_the_same_form() -> None:
    call = ("find_account", {"name": "Acme"})
    _, injector = injector_for("swapped_reply", call)
    shown = json.loads((await injector.call(*call)).text)
    assert shown in ({"account_id": 2, "name": "Birch", "active": 1}, {"account_id": 3, "name": "Cedar", "active": 0})


async def test_a_miss_is_not_swapped() -> None:
    call = ("find_account", {"name": "Nobody"})
    _, injector = injector_for("swapped_reply", call)
    assert (await injector.call(*call)).text == "{}"


async def test_a_dropped_filter_widens_the_list_without_a_flag() -> None:
    call = ("list_cases", {"account_id": 1, "state": "open"})
    session, injector = injector_for("dropped_filter", call)
    shown = json.loads((await injector.call(*call)).text)
    ids = [row["case_id"] for row in shown]
    assert ids in ([1, 2], [1, 3])  # without the state, or without the account
    assert injector.events[0].hash_before == injector.events[0].hash_after == await session.state_hash()


async def test_a_filter_that_narrows_nothing_is_not_dropped() -> None:
    call = ("list_accounts", {"name": "Cedar", "active": 0})  # each filter alone selects Cedar too
    _, injector = injector_for("dropped_filter", call)
    await injector.call(*call)
    assert injector.events == []


async def test_another_signature_is_not_hit() -> None:
    _, injector = injector_for("throttled", CREATE)
    assert not (await injector.call("create_case", {"account_id": 1, "title": "other"})).is_error
    assert injector.events == []


async def test_the_shown_envelope_carries_nothing_of_the_native_reply() -> None:
    _, injector = injector_for("lost_ack", ("create_case", {"account_id": 1, "title": "MARK-7"}))
    shown = await injector.call("create_case", {"account_id": 1, "title": "MARK-7"})
    assert "MARK-7" not in shown.observation


CALLS = st.one_of(
    st.tuples(st.just("find_account"), st.fixed_dictionaries({"name": st.sampled_from(["Acme", "Birch", "Zed"])})),
    st.tuples(st.just("list_accounts"), st.fixed_dictionaries({}, optional={"active": st.sampled_from([0, 1])})),
    st.tuples(
        st.just("list_cases"),
        st.fixed_dictionaries(
            {}, optional={"account_id": st.integers(1, 4), "state": st.sampled_from(["open", "closed"])}
        ),
    ),
    st.tuples(
        st.just("create_case"),
        st.fixed_dictionaries({"account_id": st.integers(1, 4), "title": st.sampled_from(["a", "b"])}),
    ),
    st.tuples(
        st.just("update_case"),
        st.fixed_dictionaries({"case_id": st.integers(1, 5), "state": st.sampled_from(["open", "closed"])}),
    ),
    st.tuples(st.just("nonsense"), st.just({})),
)
SEQUENCES = st.lists(CALLS, min_size=1, max_size=8)


@given(calls=SEQUENCES)
@settings(max_examples=60)
def test_without_a_plan_the_wrapped_session_is_byte_identical(calls: list[tuple[str, dict[str, Any]]]) -> None:
    async def scenario() -> None:
        bare, inner = DeskSession(), DeskSession()
        wrapped = Injector(inner, None)
        for name, arguments in calls:
            assert await wrapped.call(name, arguments) == await bare.call(name, arguments)
            assert await wrapped.state_hash() == await bare.state_hash()
        assert await wrapped.snapshot() == await bare.snapshot()
        assert wrapped.tools == bare.tools
        assert (inner.num_executed, wrapped.events) == (bare.num_executed, [])

    asyncio.run(scenario())


@given(
    calls=SEQUENCES,
    target=st.integers(0, 7),
    subtype=st.sampled_from(sorted(KINDS)),
    cap=st.integers(1, 3),
    seed=st.integers(0, 2**31),
    intensity=st.none() | st.floats(0, 1),
)
@settings(max_examples=2000 if IS_FULL_SIZE else 200)
def test_invariants_over_random_calls(
    calls: list[Call], target: int, subtype: str, cap: int, seed: int, intensity: float | None
) -> None:
    plan = plan_for(subtype, calls[target % len(calls)], cap=cap, seed=seed, intensity=intensity)
    asyncio.run(play_by_the_laws(DeskSession(), DeskSession(), plan, calls))


@given(calls=SEQUENCES, subtype=st.sampled_from(sorted(KINDS)), cut=st.integers(0, 8), seed=st.integers(0, 2**31))
@settings(max_examples=60)
def test_an_injector_continued_from_a_checkpoint_shows_the_same(
    calls: list[tuple[str, dict[str, Any]]], subtype: str, cut: int, seed: int
) -> None:
    async def scenario() -> None:
        plan = plan_for(subtype, calls[-1], cap=3, seed=seed)
        whole_session, first_session, second_session = DeskSession(), DeskSession(), DeskSession()
        whole, first = Injector(whole_session, plan), Injector(first_session, plan)
        expected = [await whole.call(*call) for call in calls]
        shown = [await first.call(*call) for call in calls[:cut]]
        await second_session.restore(await first.snapshot())
        second = Injector(
            second_session,
            plan,
            num_calls=len(shown),
            origin=Origin(database=await DeskSession().snapshot(), state_hash=await DeskSession().state_hash()),
            remaining_cap=first.remaining_cap,
            events=first.events,
        )
        shown += [await second.call(*call) for call in calls[cut:]]
        assert shown == expected
        assert second.events == whole.events

    asyncio.run(scenario())


class CountingSession(DeskSession):
    """Counts every question that reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.num_questions = 0

    async def call(self, name: str, arguments: Any) -> Any:
        self.num_questions += 1
        return await super().call(name, arguments)

    async def snapshot(self) -> bytes:
        self.num_questions += 1
        return await super().snapshot()

    async def state_hash(self) -> str:
        self.num_questions += 1
        return await super().state_hash()


@pytest.mark.parametrize("plan", [None, plan_for("throttled", ("find_account", {"name": "Nobody"}))])
async def test_a_call_that_is_not_planned_for_asks_the_session_nothing_more(plan: Any) -> None:
    """What the seam costs a clean call, as a count; in time: `python -m benchmarks faults`."""
    bare, inner = CountingSession(), CountingSession()
    wrapped = Injector(inner, plan)
    for call in (LIST_ACME, CREATE, ("nonsense", {})):
        await bare.call(*call)
        await wrapped.call(*call)
    assert inner.num_questions == bare.num_questions == 3
