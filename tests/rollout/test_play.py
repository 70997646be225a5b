"""One episode: what ends it, what it records, and what becomes of everybody's mistakes."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from desk_agent import DeskCodec, DeskPolicy, call_text, careful, replies
from desk_gym import DeskSession, desk_task, desk_verify

from robustops.agent.policy import Prompt, Sample, Sampling
from robustops.core.episode import Episode, FaultPlan, ToolResult
from robustops.core.errors import GymError, GymUnavailable, PolicyError, SnapshotUnsupported, TaskError
from robustops.core.signature import call_signature
from robustops.core.task import Case
from robustops.faults.injector import Injector
from robustops.rollout.boundary import Breaker
from robustops.rollout.play import Limits, play, request_seed
from robustops.rollout.score import score

ROOMY = Limits(max_context_tokens=20_000, reserve_tokens=200, max_turns=12, max_tokens_per_turn=400)
CASE = Case(task_id="desk/1")


async def episode_of(
    decide: Callable[[Prompt], str] | DeskPolicy,
    *,
    session: Any = None,
    limits: Limits = ROOMY,
    verify: Any = desk_verify,
    **options: Any,
) -> Episode:
    policy = decide if isinstance(decide, DeskPolicy) else DeskPolicy(decide)
    return await play(
        session or DeskSession(),
        policy,
        DeskCodec(),
        desk_task(),
        CASE,
        limits=limits,
        sampling=Sampling(),
        verify=verify,
        **options,
    )


async def test_a_solved_task_is_recorded_call_by_call() -> None:
    episode = await episode_of(careful)
    assert episode.stop_reason == "stop"
    assert episode.answer == "Done."
    assert [turn.call.name if turn.call else None for turn in episode.turns] == ["find_account", "create_case", None]
    assert episode.boundary is not None
    assert episode.end is not None
    assert (episode.boundary.passed, episode.end.passed, episode.end.strict) == (1, 2, True)
    read, write, _ = episode.turns
    assert read.hash_before == read.hash_after == write.hash_before != write.hash_after
    assert read.native == read.shown
    assert all(turn.generated and turn.weight_version == 7 for turn in episode.turns)
    found = score(episode)
    assert found is not None
    assert found.success
    assert (found.progress, found.quality) == (1 / 2, 1)


async def test_each_prompt_is_the_one_before_plus_sample_plus_reply() -> None:
    policy = DeskPolicy(careful)
    episode = await episode_of(policy)
    ids: tuple[int, ...] = ()
    for turn, prompt in zip(episode.turns, policy.prompts, strict=True):
        ids += turn.context_ids
        assert prompt.token_ids == ids
        assert len(turn.logprobs) == len(turn.sampled_ids)
        ids += turn.sampled_ids
    codec = DeskCodec()
    shown = episode.turns[0].shown
    assert shown is not None
    assert codec.decode(episode.turns[1].context_ids) == f"\n[{shown.text}]\n"


@pytest.mark.parametrize("block", ['{"name": "find_account"', "[1]", '{"name": 5, "arguments": {}}'])
async def test_a_malformed_call_becomes_an_error_observation(block: str) -> None:
    session = DeskSession()

    def decide(prompt: Prompt) -> str:
        return f"<tool_call>\n{block}\n</tool_call>" if prompt.turn == 0 else careful(prompt)

    episode = await episode_of(decide, session=session)
    first = episode.turns[0]
    assert first.malformed
    assert first.call is None
    assert first.shown is not None
    assert first.shown.is_error
    assert json.loads(first.shown.text)["error"].startswith("malformed tool call: ")
    assert session.num_executed == 2
    assert episode.stop_reason == "stop"
    found = score(episode)
    assert found is not None
    assert found.evidence.bad[0].reason == "malformed"


async def test_an_unknown_tool_is_an_error_observation_and_the_episode_goes_on() -> None:
    def decide(prompt: Prompt) -> str:
        return call_text("drop_everything") if prompt.turn == 0 else careful(prompt)

    episode = await episode_of(decide)
    assert episode.turns[0].shown is not None
    assert episode.turns[0].shown.is_error
    assert episode.stop_reason == "stop"
    assert episode.end is not None
    assert episode.end.strict


async def test_the_context_ends_the_episode_before_a_request_and_nothing_is_trimmed() -> None:
    policy = DeskPolicy(careful)
    whole = await episode_of(policy)
    second = len(policy.prompts[1].token_ids)
    assert len(policy.prompts) == len(whole.turns) == 3
    for num_free, num_turns in ((200, 2), (199, 1)):
        limits = Limits(max_context_tokens=second + num_free, reserve_tokens=200)
        short = DeskPolicy(careful)
        episode = await episode_of(short, limits=limits)
        assert episode.stop_reason == "context"
        assert len(episode.turns) == num_turns
        assert [p.token_ids for p in short.prompts] == [p.token_ids for p in policy.prompts[:num_turns]]
        assert episode.end is not None


async def test_a_sample_never_gets_more_than_the_context_has_left() -> None:
    policy = DeskPolicy(careful)
    await episode_of(policy, limits=Limits(max_context_tokens=500, reserve_tokens=50, max_tokens_per_turn=10_000))
    for prompt, sampling in zip(policy.prompts, policy.samplings, strict=True):
        assert len(prompt.token_ids) + sampling.max_tokens == 500


async def test_a_sample_without_a_stop_ends_the_episode_as_length() -> None:
    limits = Limits(max_context_tokens=20_000, reserve_tokens=200, max_tokens_per_turn=30)
    session = DeskSession()
    episode = await episode_of(careful, limits=limits, session=session)
    assert episode.stop_reason == "length"
    assert len(episode.turns) == 1
    assert episode.turns[0].call is None
    assert len(episode.turns[0].sampled_ids) == 30
    assert session.num_executed == 0


async def test_a_call_that_was_cut_off_is_not_run_however_complete_it_looks() -> None:
    class Cut(DeskPolicy):
        async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
            return replace(await super().act(prompt, sampling), finish="length")

    session = DeskSession()
    episode = await episode_of(Cut(careful), session=session)
    assert episode.stop_reason == "length"
    assert episode.turns[0].call is None
    assert session.num_executed == 0


async def test_an_agent_that_never_stops_is_stopped_after_max_turns() -> None:
    episode = await episode_of(lambda prompt: call_text("list_accounts"))
    assert episode.stop_reason == "max_turns"
    assert len(episode.turns) == 12


class StuckSession(DeskSession):
    async def call(self, name: str, arguments: Any) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_call_that_never_returns_is_infrastructure() -> None:
    limits = Limits(max_context_tokens=20_000, reserve_tokens=200, call_timeout_s=0.01, episode_timeout_s=60)
    episode = await episode_of(careful, session=StuckSession(), limits=limits)
    assert (episode.stop_reason, episode.error_kind) == ("infrastructure", "GymTimeout")
    assert episode.end is None
    assert len(episode.turns) == 1
    assert score(episode) is None


async def test_a_policy_that_never_answers_meets_the_episode_deadline() -> None:
    class Stuck(DeskPolicy):
        async def act(self, prompt: Prompt, sampling: Sampling) -> Any:
            await asyncio.Event().wait()

    limits = Limits(max_context_tokens=20_000, reserve_tokens=200, episode_timeout_s=0.01)
    episode = await episode_of(Stuck(careful), limits=limits)
    assert episode.stop_reason == "deadline"
    assert episode.end is not None


async def test_a_failing_engine_is_data_and_keeps_the_turns_so_far() -> None:
    def decide(prompt: Prompt) -> str:
        if prompt.turn == 1:
            raise PolicyError("engine gone") from ConnectionResetError("peer")
        return careful(prompt)

    episode = await episode_of(decide)
    assert (episode.stop_reason, episode.error_kind) == ("infrastructure", "PolicyError")
    assert episode.error == "engine gone <- peer"
    assert len(episode.turns) == 1
    assert episode.boundary is not None


async def test_a_users_mistake_is_not_swallowed() -> None:
    async def verify(*_: Any, **__: Any) -> Any:
        raise TaskError("task file is wrong")

    with pytest.raises(TaskError):
        await episode_of(careful, verify=verify)


async def test_cancelling_is_not_an_episode() -> None:
    limits = Limits(max_context_tokens=20_000, reserve_tokens=200)
    task = asyncio.create_task(episode_of(careful, session=StuckSession(), limits=limits))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_gym_without_hashes_leaves_them_empty() -> None:
    class NoHash(DeskSession):
        async def state_hash(self) -> str:
            raise SnapshotUnsupported("desk: no hash")

    episode = await episode_of(careful, session=NoHash())
    assert episode.stop_reason == "stop"
    assert {turn.hash_before + turn.hash_after for turn in episode.turns} == {""}


async def test_verify_sees_the_executed_calls_and_the_answer() -> None:
    seen: list[Any] = []

    async def verify(session: Any, task: Any, *, graph: Any, calls: Any, answer: str) -> Any:
        seen.append(([call.name for call in calls], answer))
        return await desk_verify(session, task, graph=graph, calls=calls, answer=answer)

    await episode_of(careful, verify=verify)
    assert seen == [([], ""), (["find_account", "create_case"], "Done.")]


async def test_verify_does_not_count_a_call_that_was_turned_away() -> None:
    seen: list[Any] = []

    async def verify(session: Any, task: Any, *, graph: Any, calls: Any, answer: str) -> Any:
        seen.append([call.name for call in calls])
        return await desk_verify(session, task, graph=graph, calls=calls, answer=answer)

    signature = call_signature("find_account", {"name": "Acme"})
    plan = FaultPlan(subtype="throttled", tool="find_account", signature=signature, cap=2, seed=1)
    episode = await episode_of(careful, session=Injector(DeskSession(), plan), verify=verify)
    assert [turn.call.name for turn in episode.turns if turn.call] == ["find_account"] * 3 + ["create_case"]
    assert len(episode.faults) == 2
    assert seen[-1] == ["find_account", "create_case"]


async def test_seeds_come_from_run_case_turn_and_member_alone() -> None:
    runs = {}
    for name, seed, member in (("a", 1, 0), ("same", 1, 0), ("member", 1, 1), ("run", 2, 0)):
        policy = DeskPolicy(careful)
        await episode_of(policy, seed=seed, member=member)
        runs[name] = [sampling.seed for sampling in policy.samplings]
    assert runs["a"] == runs["same"]
    seeds = [seed for name in ("a", "member", "run") for seed in runs[name]]
    assert len(set(seeds)) == len(seeds) == 9
    assert all(seed is not None and 0 <= seed < 2**31 for seed in seeds)
    assert request_seed(1, "x", 0, 0) != request_seed(1, "y", 0, 0)


async def test_the_breaker_stops_after_failures_in_a_row_and_forgets_at_a_success() -> None:
    class Dead(DeskSession):
        async def call(self, name: str, arguments: Any) -> ToolResult:
            raise GymUnavailable("desk: connection refused")

    bad, good = await episode_of(careful, session=Dead()), await episode_of(careful)
    breaker = Breaker(3)
    for episode in (bad, bad, good, bad, bad):
        breaker.see(episode)
    with pytest.raises(GymError, match=r"3 episodes in a row failed.*desk/1.*connection refused"):
        breaker.see(bad)


async def test_the_prompt_shows_the_reply_that_was_shown() -> None:
    policy = DeskPolicy(careful)
    episode = await episode_of(policy)
    assert episode.turns[0].shown is not None
    assert replies(policy.prompts[-1])[0] == episode.turns[0].shown.text


@pytest.mark.parametrize("bad", [{"reserve_tokens": 0}, {"reserve_tokens": 100}, {"max_turns": 0}])
def test_limits_that_cannot_work_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"reserve_tokens|positive"):
        Limits(**{"max_context_tokens": 100, "reserve_tokens": 10, **bad})
