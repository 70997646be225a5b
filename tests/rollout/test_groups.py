"""Groups for training: members share one start and nothing else; fault groups share one post-fault state."""

import json
from typing import Any

import pytest
from desk_agent import DeskPolicy, call_text, careful, careless
from desk_groups import TASKS, DeskSlot, collect, collector_for, names, one_group
from desk_gym import DeskGym, desk_verify

from robustops.agent.policy import Prompt
from robustops.core.episode import Episode, EpisodeGroup
from robustops.faults.catalogue import CapRange
from robustops.rollout.groups import Rejection
from robustops.rollout.rows import RunIdentity, row_of
from robustops.rollout.score import score


async def test_a_clean_group_is_one_start_played_four_times() -> None:
    gym = DeskGym()
    group = await one_group(DeskPolicy(careful), "clean", gym=gym)
    assert (group.condition, len(group.episodes), group.boundary) == ("clean", 4, None)
    assert len({episode.case.case_id for episode in group.episodes}) == 4
    assert len({episode.turns[0].hash_before for episode in group.episodes}) == 1
    assert len({episode.turns[0].context_ids for episode in group.episodes}) == 1
    assert all(episode.end and episode.end.strict for episode in group.episodes)
    assert all(session.is_closed for session in gym.sessions)


async def test_members_sample_with_different_seeds_and_steps_do_too() -> None:
    policy = DeskPolicy(careful)
    collector = collector_for(policy, ())
    await collect(collector, [DeskSlot("clean")], step=1)
    await collect(collector, [DeskSlot("clean")], step=2)
    seeds = [sampling.seed for sampling in policy.samplings]
    assert len(set(seeds)) == len(seeds) == 2 * 4 * 3


async def test_a_fault_group_continues_from_one_post_fault_state() -> None:
    group = await one_group(DeskPolicy(careful), "fault", "lost_ack")
    assert group.boundary is not None
    assert group.boundary.pending is None
    for episode in group.episodes:
        assert names(episode) == ["find_account", "create_case", "list_cases", None]
        assert [turn.generated for turn in episode.turns] == [False, False, True, True]
        (event,) = episode.faults
        assert (event.subtype, event.call_index, event.remaining_cap) == ("lost_ack", 1, 0)
        assert episode.turns[1].fault == event
        assert episode.turns[1].native is not None
        assert json.loads(episode.turns[1].native.text)["title"] == "case 1"
        # the hidden write already satisfies the check: nothing is left to gain, so P is 0 and S is 1
        found = score(episode)
        assert found is not None
        assert (found.success, found.progress) == (True, 0)


async def test_four_members_start_equal_and_do_not_see_each_others_writes() -> None:
    def decide(prompt: Prompt) -> str:
        """After the fault, member k writes k cases of its own, then lists all."""
        member = int(prompt.case_id.rsplit("|", 1)[1])
        is_continuation = any("timeout" in str(m["content"]) for m in prompt.messages)
        if not is_continuation:
            return careful(prompt)
        num_written = prompt.turn - 2
        if num_written < member:
            return call_text("create_case", account_id=2, title=f"extra {member}.{num_written}")
        return call_text("list_cases") if num_written == member else "Done."

    group = await one_group(DeskPolicy(decide), "fault", "lost_ack")
    starts = {next(turn for turn in e.turns if turn.generated).hash_before for e in group.episodes}
    assert group.boundary is not None
    assert starts == {group.boundary.state_hash}
    for member, episode in enumerate(group.episodes):
        listed = episode.turns[-2].shown
        assert listed is not None
        titles = [row["title"] for row in json.loads(listed.text)]
        assert titles == ["printer", "screen", "mouse", "case 1", *(f"extra {member}.{n}" for n in range(member))]


async def test_an_agent_that_retries_blindly_leaves_a_duplicate_and_fails() -> None:
    group = await one_group(DeskPolicy(careless), "fault", "lost_ack")
    for episode in group.episodes:
        assert names(episode) == ["find_account", "create_case", "create_case", None]
        found = score(episode)
        assert found is not None
        assert not found.success
        assert [bad.reason for bad in found.evidence.bad] == ["duplicate_write"]


async def test_the_cap_goes_on_for_later_matching_calls() -> None:
    caps = {"throttled": CapRange(low=3, high=3)}
    group = await one_group(DeskPolicy(careful), "fault", "throttled", caps=caps)
    for episode in group.episodes:
        hits = [turn for turn in episode.turns if turn.fault]
        assert [turn.generated for turn in hits] == [False, True, True]
        assert [event.remaining_cap for event in episode.faults] == [2, 1, 0]
        assert all(turn.hash_before == turn.hash_after for turn in hits)
        assert episode.end is not None
        assert episode.end.strict
        assert names(episode).count(hits[0].call.name if hits[0].call else "") == 4


async def test_the_checks_at_the_boundary_do_not_count_the_call_that_was_turned_away() -> None:
    seen: list[Any] = []

    async def verify(session: Any, task: Any, *, graph: Any, calls: Any, answer: str) -> Any:
        seen.append([call.name for call in calls])
        return await desk_verify(session, task, graph=graph, calls=calls, answer=answer)

    collector = collector_for(DeskPolicy(careful), ("throttled",), verify=verify)
    (group,) = await collect(collector, [DeskSlot("fault")])
    assert isinstance(group, EpisodeGroup)
    start, clean_end, boundary, *ends = seen
    struck = group.episodes[0].faults[0].call_index
    assert (start, clean_end) == ([], ["find_account", "create_case"])
    assert boundary == ["find_account"][:struck]
    assert ends == [["find_account", "create_case"]] * 4


async def test_equal_calls_are_one_opportunity_and_the_first_one_counts() -> None:
    def decide(prompt: Prompt) -> str:
        return call_text("list_cases") if prompt.turn < 3 else "Done."

    group = await one_group(DeskPolicy(decide), "fault", "partial_list")
    assert group.boundary is not None
    assert len(group.boundary.turns) == 1


async def test_a_row_counts_only_what_its_member_generated() -> None:
    group = await one_group(DeskPolicy(careful), "fault", "lost_ack")
    episode = group.episodes[0]
    identity = RunIdentity(run="r", model="m", stage="RL", split="train", seed=1, policy_mode="sampled")
    row = row_of(episode, TASKS["desk/1"], identity)
    prompts = [len(prompt_ids(episode, number)) for number in (2, 3)]
    assert (row.turns, row.tool_calls, row.prompt_tokens) == (2, 1, sum(prompts))
    assert row.completion_tokens == sum(len(turn.sampled_ids) for turn in episode.turns[2:])
    assert (row.fault_subtype, row.fault_planned, row.fault_hit, row.fault_count) == ("lost_ack", True, True, 1)


def prompt_ids(episode: Episode, number: int) -> tuple[int, ...]:
    ids: tuple[int, ...] = ()
    for turn in episode.turns[:number]:
        ids += turn.context_ids + turn.sampled_ids
    return ids + episode.turns[number].context_ids


async def test_a_case_without_an_eligible_call_gives_no_opportunity() -> None:
    collector = collector_for(DeskPolicy(careful), ("partial_list",))
    assert await collect(collector, [DeskSlot("fault")]) == [
        Rejection(task_id="desk/1", flow="fault", reason="no_opportunity")
    ]


async def test_a_saved_boundary_is_resumed_under_the_current_policy() -> None:
    group = await one_group(DeskPolicy(careful), "fault", "lost_ack")
    later = DeskPolicy(careless, weight_version=8)
    collector = collector_for(later, ("lost_ack",))
    (again,) = await collect(collector, [DeskSlot("fault", boundary=group.boundary)], step=10)
    assert isinstance(again, EpisodeGroup)
    assert again.boundary == group.boundary
    assert (group.is_resumed, again.is_resumed) == (False, True)
    for old, new in zip(group.episodes, again.episodes, strict=True):
        assert new.turns[:2] == old.turns[:2]
        assert new.turns[2].hash_before == old.turns[2].hash_before
        assert [turn.weight_version for turn in new.generated] == [8, 8]
    await collect(collector, [DeskSlot("fault", boundary=group.boundary)], known={0: again})
    assert collector.scheduler.state()["counts"] == {}  # no new injection was decided


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="group_size"):
        collector_for(DeskPolicy(careful), (), group_size=1)
