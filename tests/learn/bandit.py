"""A world to learn in seconds: one sampled answer per episode, judged by its tokens. And a policy for it."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

import torch
from tiny_qwen3 import IM_END, tiny_model

from robustops.agent.policy import Prompt, Request, Sample, SampleStore, Sampling
from robustops.core.episode import Checkpoint, CheckResult, Episode, EpisodeGroup, ToolCall, Turn, Verdict
from robustops.core.task import Case
from robustops.learn.slot import Slot
from robustops.rollout.concurrency import first_failure
from robustops.rollout.groups import Begin, Journal, Outcome

ANSWER_TOKENS = 3


class MirrorPolicy:
    """Samples by plain forward passes from a copy of the trainer's weights. `asked`: case and seed of each sample.

    `on_sample` runs after a sample is handed to the store; it is where tests kill the process.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.on_sample: Callable[[], None] = lambda: None
        self.store: SampleStore | None = None
        self.model = tiny_model(0, spread=0.02)
        self.weight_version = 0
        self.loaded: list[int] = []

    async def load_weights(self, named_tensors: Iterable[tuple[str, torch.Tensor]], version: int) -> None:
        parameters = dict(self.model.named_parameters())
        with torch.no_grad():
            for name, tensor in named_tensors:
                parameters[name].copy_(tensor)
        self.weight_version = version
        self.loaded.append(version)

    def sleep(self) -> None:
        pass

    def wake_up(self) -> None:
        pass

    def remember(self, store: SampleStore | None) -> None:
        self.store = store

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        requests = [Request(prompt=prompt, sampling=sampling)]
        if self.store is not None and (found := self.store.find(requests)) is not None:
            return found[0]
        with torch.no_grad():
            sample = self.sample(prompt, sampling)
        if self.store is not None:
            self.asked.append(f"{prompt.case_id} {sampling.seed}")
            self.store.keep(requests, [sample])
            self.on_sample()
        return sample

    def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        generator = torch.Generator().manual_seed(sampling.seed or 0)
        ids, logprobs = list(prompt.token_ids), []
        for _ in range(sampling.max_tokens):
            logp_V = (self.model(torch.tensor([ids])).logits[0, -1] / sampling.temperature).log_softmax(-1)
            token = int(torch.multinomial(logp_V.exp(), 1, generator=generator))
            ids.append(token)
            logprobs.append(float(logp_V[token]))
        sampled = tuple(ids[len(prompt.token_ids) :])
        return Sample(
            token_ids=sampled, logprobs=tuple(logprobs), text="", finish="length", weight_version=self.weight_version
        )

    async def close(self) -> None:
        pass


def verdict(passed: Sequence[bool]) -> Verdict:
    checks = tuple(CheckResult(index=i, name=f"check {i}", passed=ok) for i, ok in enumerate(passed))
    return Verdict(checks=checks, gated=sum(passed))


class BanditCollector:
    """One check per answer token: its id is below `bar`. Seeds follow from (task, step, member) alone.

    `on_group` runs after a group is handed to the journal; it is where tests kill the process.
    """

    def __init__(
        self,
        policy: MirrorPolicy,
        *,
        bar: int = 128,
        on_group: Callable[[Slot], None] = lambda slot: None,
        group_size: int = 4,
    ) -> None:
        self.policy, self.bar, self.on_group, self.group_size = policy, bar, on_group, group_size
        self.played: list[str] = []
        self.counted: list[str] = []

    @asynccontextmanager
    async def playing(self, *, step: int, journal: Journal) -> AsyncIterator[Begin]:
        """One slot after the other, in the order of their beginning."""
        numbers, turn = itertools.count(), asyncio.Lock()

        async def play(slot: Slot, number: int, known: Outcome | None) -> Outcome:
            async with turn:
                if known is not None:
                    self.counted.append(slot.slot_id)
                    return known
                outcome = await self.outcome(slot, step)
                self.played.append(slot.slot_id)
                journal(number, outcome)
                self.on_group(slot)
                return outcome

        async with first_failure() as tasks:
            yield lambda slot, known: tasks.create_task(play(slot, next(numbers), known))

    async def outcome(self, slot: Slot, step: int) -> Outcome:
        members = [self.episode(slot, step, member) for member in range(self.group_size)]
        episodes = await asyncio.gather(*members)
        start = Checkpoint(turns=(), database=b"", pending=ToolCall(name="read", arguments={}))
        return EpisodeGroup(
            group_id=slot.slot_id,
            condition=slot.flow,
            episodes=tuple(episodes),
            boundary=start if slot.flow == "fault" else None,
        )

    async def episode(self, slot: Slot, step: int, member: int) -> Episode:
        case = Case(task_id=slot.task_id, condition=slot.flow, attempt=member)
        prompt_ids = tuple(random.Random(slot.task_id).choices(range(200), k=6))
        prompt = Prompt(case_id=case.case_id, task_id=slot.task_id, turn=0, token_ids=prompt_ids, messages=(), tools=())
        seed = random.Random(f"{case.case_id}|{step}").getrandbits(31)
        sample = await self.policy.act(prompt, Sampling(max_tokens=ANSWER_TOKENS, seed=seed))
        turn = Turn(
            context_ids=prompt_ids,
            sampled_ids=sample.token_ids,
            logprobs=sample.logprobs,
            weight_version=sample.weight_version,
            text="",
        )
        passed = [token < self.bar for token in sample.token_ids]
        return Episode(
            case=case,
            turns=(turn,),
            boundary=verdict([False] * ANSWER_TOKENS),
            end=verdict(passed),
            stop_reason="length",
        )


PROBE_PROMPT = tuple(range(40))
PAD = IM_END
