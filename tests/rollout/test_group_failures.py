"""Groups that must not be, and groups whose order must not matter: refusals, failures, concurrency, resumption."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from zlib import crc32

import pytest
from desk_agent import DeskPolicy, careful
from desk_groups import TASKS, DeskSlot, collect, collector_for
from desk_gym import DeskGym, DeskSession, reply

from robustops.agent.policy import Prompt
from robustops.core.episode import EpisodeGroup, ToolResult
from robustops.core.errors import GymError, GymUnavailable
from robustops.core.task import Task
from robustops.rollout.groups import Outcome, Rejection


class MoodyGym(DeskGym):
    """Every creation carries another random remark: no replay of it can be equal."""

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[DeskSession]:
        yield Moody()


class Moody(DeskSession):
    num_replies = 0

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = await super().call(name, arguments)
        Moody.num_replies += 1
        value = json.loads(result.text)
        return reply(json.dumps({**value, "remark": Moody.num_replies})) if isinstance(value, dict) else result


async def test_a_replay_that_differs_is_refused_with_the_difference() -> None:
    collector = collector_for(DeskPolicy(careful), ("lost_ack", "throttled"), gym=MoodyGym())
    (outcome,) = await collect(collector, [DeskSlot("fault")])
    assert isinstance(outcome, Rejection)
    assert outcome.reason == "infrastructure"
    assert "native reply differs at character" in outcome.detail
    assert "remark" in outcome.detail
    assert collector.scheduler.state()["counts"] == {}


class ForgetfulGym(DeskGym):
    """Restoring brings back the tables but one row."""

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[DeskSession]:
        yield Forgetful()


class Forgetful(DeskSession):
    async def restore(self, snapshot: bytes) -> None:
        await super().restore(snapshot)
        self._rows("DELETE FROM support_case WHERE case_id = 3")


async def test_a_state_that_does_not_come_back_is_refused() -> None:
    (outcome,) = await collect(
        collector_for(DeskPolicy(careful), ("throttled",), gym=ForgetfulGym()), [DeskSlot("fault")]
    )
    assert isinstance(outcome, Rejection)
    assert "restored state differs" in outcome.detail


async def test_one_failing_member_discards_the_whole_group() -> None:
    def decide(prompt: Prompt) -> str:
        if prompt.case_id.endswith("|2") and prompt.turn == 1:
            raise GymUnavailable("lost")
        return careful(prompt)

    (outcome,) = await collect(collector_for(DeskPolicy(decide), ()), [DeskSlot("clean")])
    assert outcome == Rejection(task_id="desk/1", flow="clean", reason="infrastructure", detail="1 of 4 members: lost")


async def test_a_dead_gym_stops_the_run_with_one_line() -> None:
    collector = collector_for(DeskPolicy(careful), (), gym=DeskGym(failures=10_000), max_failures=3)
    slots = [DeskSlot("clean", task_id) for task_id in TASKS]
    with pytest.raises(GymError, match="3 episodes in a row failed") as failure:
        await collect(collector, slots)
    assert "\n" not in str(failure.value)


SLOTS = [DeskSlot("fault" if number % 2 else "clean", f"desk/{number}") for number in (1, 2, 3, 4, 5, 6, 1, 3, 5)]


def timeless(outcome: Outcome) -> Any:
    """An outcome without its clock readings."""
    if isinstance(outcome, Rejection):
        return outcome
    episodes = [
        replace(e, wall_s=0.0, turns=tuple(replace(turn, policy_s=0.0) for turn in e.turns)) for e in outcome.episodes
    ]
    return (outcome.group_id, outcome.condition, episodes, outcome.boundary and outcome.boundary.plan)


async def test_order_and_plans_do_not_depend_on_who_finishes_first() -> None:
    subtypes = ("throttled", "lost_ack", "unavailable")
    results = []
    for concurrency, slowness in ((1, 0), (3, 1), (9, 7)):
        policy = DeskPolicy(careful, yields=lambda prompt, s=slowness: s * (crc32(prompt.case_id.encode()) % 5))  # type: ignore[misc]
        order: list[int] = []
        outcomes = await collect(
            collector_for(policy, subtypes, concurrency=concurrency),
            SLOTS,
            step=4,
            journal=lambda index, outcome, order=order: order.append(index),  # type: ignore[misc]
        )
        assert sorted(order) == list(range(len(SLOTS)))
        results.append([timeless(outcome) for outcome in outcomes])
    assert results[0] == results[1] == results[2]
    planned = [entry[3].subtype for entry in results[0] if entry[3]]
    assert {subtype: planned.count(subtype) for subtype in subtypes} == {
        "throttled": 2,
        "lost_ack": 2,
        "unavailable": 2,
    }


async def test_a_resumed_process_counts_what_the_earlier_one_injected() -> None:
    first = collector_for(DeskPolicy(careful), ("throttled", "lost_ack"))
    slots = [slot for slot in SLOTS if slot.flow == "fault"]
    groups = await collect(first, slots)
    second = collector_for(DeskPolicy(careful), ("throttled", "lost_ack"))
    assert await collect(second, slots, known=dict(enumerate(groups))) == groups
    assert second.scheduler.state() == first.scheduler.state()
    assert sum(first.scheduler.state()["counts"].values()) == 6


async def test_the_rest_of_an_interrupted_step_chooses_as_it_would_have() -> None:
    """Whichever groups were finished, those before and after them meet the faults of an undisturbed run."""
    subtypes = ("throttled", "lost_ack", "unavailable")
    policy = DeskPolicy(careful, yields=lambda prompt: 3)  # so that finished groups could count before any choice
    whole = await collect(collector_for(policy, subtypes), SLOTS, step=4)
    for finished in ({2}, {4, 6}, {7, 8}, {0, 1, 3, 8}):
        known = {index: whole[index] for index in finished}
        played: list[int] = []
        rest = collector_for(policy, subtypes)
        outcomes = await collect(
            rest,
            SLOTS,
            step=4,
            known=known,
            journal=lambda index, outcome, played=played: played.append(index),  # type: ignore[misc]
        )
        assert [timeless(outcome) for outcome in outcomes] == [timeless(outcome) for outcome in whole]
        assert set(played) == set(range(len(SLOTS))) - finished


async def test_a_fault_that_struck_counts_after_a_resume_even_if_its_group_was_lost() -> None:
    def decide(prompt: Prompt) -> str:
        """The clean pass is well; in the group, the second member's engine fails."""
        if prompt.case_id.endswith("|1"):
            raise GymUnavailable("lost")
        return careful(prompt)

    first = collector_for(DeskPolicy(decide), ("throttled",))
    (outcome,) = await collect(first, [DeskSlot("fault")])
    assert isinstance(outcome, Rejection)
    assert (outcome.reason, outcome.struck) == ("infrastructure", "throttled")
    assert first.scheduler.state()["counts"] == {"throttled": 1}
    second = collector_for(DeskPolicy(careful), ("throttled",))
    await collect(second, [DeskSlot("fault")], known={0: outcome})
    assert second.scheduler.state() == first.scheduler.state()


async def test_a_saved_boundary_whose_group_is_lost_is_no_second_injection() -> None:
    (group,) = await collect(collector_for(DeskPolicy(careful), ("throttled",)), [DeskSlot("fault")])
    assert isinstance(group, EpisodeGroup)

    def decide(prompt: Prompt) -> str:
        raise GymUnavailable("lost")

    collector = collector_for(DeskPolicy(decide), ("throttled",))
    (outcome,) = await collect(collector, [DeskSlot("fault", boundary=group.boundary)])
    assert isinstance(outcome, Rejection)
    await collect(collector, [DeskSlot("fault", boundary=group.boundary)], known={0: outcome})
    assert (outcome.struck, collector.scheduler.state()["counts"]) == ("", {})
