"""A step interrupted anywhere, with the real collector, pump and injector: nothing twice, nothing left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from desk_agent import END, careful, careless
from desk_groups import TASKS, collector_for

from robustops.agent.policy import Prompt, Request, Sample, Sampling
from robustops.agent.pump import EnginePump, Finished
from robustops.core.episode import EpisodeGroup
from robustops.learn.collection import Collected, collect_step
from robustops.learn.journal import StepJournal
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.rollout.score import RewardWeights

Name = tuple[str, int, int | None]  # case, turn, seed


def name(request: Request) -> Name:
    return request.prompt.case_id, request.prompt.turn, request.sampling.seed


class DeskEngine:
    """Answers after one to five steps; the seed says how long, and whether with care. Knows prompts by their ids.

    Its logprob is the size of the batch that a request began in, as an engine's last bits would be.
    """

    def __init__(self) -> None:
        self.prompts: dict[tuple[int, ...], Prompt] = {}
        self.running: dict[str, tuple[int, Prompt, Sampling]] = {}
        self.logprobs: dict[str, float] = {}

    def add(self, request_id: str, token_ids: Sequence[int], sampling: Sampling) -> None:
        assert sampling.seed is not None
        self.running[request_id] = (1 + sampling.seed % 5, self.prompts[tuple(token_ids)], sampling)

    def abort(self, request_id: str) -> None:
        del self.running[request_id]

    def step(self) -> list[Finished]:
        for key in self.running:
            self.logprobs.setdefault(key, -float(len(self.running)))
        self.running = {key: (left - 1, *rest) for key, (left, *rest) in self.running.items()}
        done = [key for key, (left, *_) in self.running.items() if left == 0]
        return [Finished(request_id=key, sample=self._sample(key, *self.running.pop(key)[1:])) for key in done]

    def has_unfinished(self) -> bool:
        return bool(self.running)

    def _sample(self, key: str, prompt: Prompt, sampling: Sampling) -> Sample:
        text = (careful if (sampling.seed or 0) % 2 else careless)(prompt)
        text += "" if text.endswith("</tool_call>") else END
        ids = tuple(map(ord, text))
        return Sample(token_ids=ids, logprobs=(self.logprobs[key],) * len(ids), text=text, finish="stop")


class DeskPump:
    """A Policy: the pump, which tells the engine token ids alone."""

    def __init__(self, *, is_deterministic: bool) -> None:
        self.engine = DeskEngine()
        self.pump = EnginePump(self.engine, deterministic=is_deterministic)

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        self.engine.prompts[prompt.token_ids] = prompt
        return await self.pump.act(prompt, sampling)

    async def close(self) -> None:
        await self.pump.close()


class Witness(StepJournal):
    """Notes what was sampled, and calls `on_kept` with their number."""

    def __init__(self, folder: Path, on_kept: Callable[[int], None], *, has_groups: bool) -> None:
        super().__init__(folder, 0, "weights", has_groups=has_groups)
        self.kept: list[Name] = []
        self.on_kept = on_kept

    def keep(self, requests: Sequence[Request], samples: Sequence[Sample]) -> None:
        super().keep(requests, samples)
        self.kept += map(name, requests)
        self.on_kept(len(self.kept))


async def process(
    folder: Path, *, is_deterministic: bool, kill_after: int = 0, concurrency: int = 3
) -> tuple[list[Name], Collected | None]:
    """What one process sampled, and the batch, which a killed one does not have."""
    task: asyncio.Task[Collected] | None = None

    def on_kept(number: int) -> None:
        if kill_after and number >= kill_after and task is not None:
            task.cancel()

    journal = Witness(folder, on_kept, has_groups=not is_deterministic)
    policy = DeskPump(is_deterministic=is_deterministic)
    policy.pump.remember(journal)
    settings = SamplerSettings(clean_groups=2, fault_groups=2, max_attempts=2, seed=1)
    sampler = Sampler({"clean": list(TASKS), "fault": list(TASKS)}, settings, weights=RewardWeights())
    collector = collector_for(policy, ("throttled", "lost_ack"), concurrency=concurrency)  # type: ignore[arg-type]
    task = asyncio.create_task(collect_step(sampler, collector, 0, journal=journal, kept={}))
    try:
        collected = await task
    except asyncio.CancelledError:
        return journal.kept, None
    finally:
        await policy.close()
    return journal.kept, collected


def timeless(group: EpisodeGroup) -> Any:
    episodes = [
        replace(e, wall_s=0.0, turns=tuple(replace(turn, policy_s=0.0) for turn in e.turns)) for e in group.episodes
    ]
    return group.group_id, group.condition, episodes, group.boundary and group.boundary.plan


def without_logprobs(group: EpisodeGroup) -> Any:
    episodes = [replace(e, turns=tuple(replace(turn, logprobs=()) for turn in e.turns)) for e in group.episodes]
    return timeless(replace(group, episodes=tuple(episodes)))


async def test_cases_and_faults_do_not_depend_on_how_many_groups_are_played_at_a_time(tmp_path):
    """Nor, then, on who finishes first: places are refilled in the order of dispatch."""
    found = [
        (await process(tmp_path / str(number), is_deterministic=False, concurrency=number))[1] for number in (1, 2, 9)
    ]
    assert None not in found
    first, *others = [(one.selected, [without_logprobs(played.group) for played in one.played]) for one in found if one]
    assert len(first[1]) > 4, "the test needs places that are refilled"
    assert others == [first, first]


@pytest.mark.parametrize("kill_after", [1, 6, 17, 40])
async def test_no_turn_is_sampled_twice_and_no_case_repeated_or_skipped(tmp_path, kill_after):
    sampled, whole = await process(tmp_path / "whole", is_deterministic=False)
    assert whole is not None
    assert len(set(sampled)) == len(sampled) > 40
    before, nothing = await process(tmp_path / "killed", is_deterministic=False, kill_after=kill_after)
    assert nothing is None
    assert kill_after <= len(before) < len(sampled)
    after, resumed = await process(tmp_path / "killed", is_deterministic=False)
    assert resumed is not None
    assert sorted(before + after) == sorted(sampled)
    assert resumed.selected == whole.selected
    assert [without_logprobs(played.group) for played in resumed.played] == [
        without_logprobs(played.group) for played in whole.played
    ]


async def test_two_kills_in_one_step_cost_no_turn_either(tmp_path):
    sampled, whole = await process(tmp_path / "whole", is_deterministic=False)
    parts = [await process(tmp_path / "killed", is_deterministic=False, kill_after=12) for _ in range(2)]
    last, resumed = await process(tmp_path / "killed", is_deterministic=False)
    assert sorted([*parts[0][0], *parts[1][0], *last]) == sorted(sampled)
    assert whole is not None
    assert resumed is not None
    assert resumed.selected == whole.selected


@pytest.mark.parametrize("kill_after", [6, 28, 30, 34, 82])
async def test_a_deterministic_engine_meets_its_batches_again_to_the_last_bit(tmp_path, kill_after):
    """Its samples depend on the whole batch, so groups that had finished must not be missing from it."""
    sampled, whole = await process(tmp_path / "whole", is_deterministic=True)
    before, nothing = await process(tmp_path / "killed", is_deterministic=True, kill_after=kill_after)
    assert nothing is None
    after, resumed = await process(tmp_path / "killed", is_deterministic=True)
    assert before + after == sampled, "whole batches are kept, in their order"
    assert whole is not None
    assert resumed is not None
    assert [timeless(played.group) for played in resumed.played] == [timeless(played.group) for played in whole.played]
