"""Our side of B9: GRPO steps as a run makes them, a JSON line each. Run in the project's environment.

Weights go to the engine and are proven there, vLLM samples, the sampler judges the groups, credit goes to tokens,
GrpoModule updates once. Only the gym is missing: an episode is one answer, judged by its tokens.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import lightning.pytorch as pl
import torch
from transformers import AutoTokenizer

sys.path.insert(0, str(Path(__file__).resolve().parent))

from grpo_data import (
    GROUP_SIZE,
    KL_COEF,
    LEARNING_RATE,
    MAX_GRAD_NORM,
    NEW_TOKENS,
    NUM_CHECKS,
    NUM_PROMPTS,
    Turns,
    arguments,
    passed_checks,
    prompts,
)

from robustops.agent.engine_policy import EnginePolicy
from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm import vllm_policy
from robustops.agent.vllm_options import VllmOptions
from robustops.core.episode import CheckResult, Episode, EpisodeGroup, Turn, Verdict
from robustops.core.task import Case
from robustops.learn.batch import CreditRules
from robustops.learn.callbacks import RlSettings, RolloutCallback
from robustops.learn.credit import CallTags
from robustops.learn.fit import fit
from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.loss import PolicyLoss
from robustops.learn.model import load_model
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.learn.slot import Slot
from robustops.learn.sync import Probe
from robustops.rollout.concurrency import first_failure
from robustops.rollout.groups import Begin, Journal
from robustops.rollout.score import RewardWeights

MAX_CONTEXT = 512


def verdict(num_passed: int) -> Verdict:
    results = [CheckResult(index=i, name=str(i), passed=i < num_passed) for i in range(NUM_CHECKS)]
    return Verdict(checks=tuple(results), gated=num_passed)


class AnswerCollector:
    """A group is GROUP_SIZE answers to one prompt; all groups of a step run at once, as far as the engine goes."""

    def __init__(self, policy: EnginePolicy, prompt_ids: Mapping[str, tuple[int, ...]]) -> None:
        self._policy, self._prompt_ids = policy, prompt_ids

    @asynccontextmanager
    async def playing(self, *, step: int, journal: Journal) -> AsyncIterator[Begin]:
        numbers = count()
        async with first_failure() as tasks:
            yield lambda slot, known: tasks.create_task(self._group(next(numbers), slot, step, journal))

    async def _group(self, number: int, slot: Slot, step: int, journal: Journal) -> EpisodeGroup:
        members = (self._episode(slot, step, member) for member in range(GROUP_SIZE))
        episodes = tuple(await asyncio.gather(*members))
        group = EpisodeGroup(group_id=slot.slot_id, condition=slot.flow, episodes=episodes)
        journal(number, group)
        return group

    async def _episode(self, slot: Slot, step: int, member: int) -> Episode:
        case, ids = Case(task_id=slot.task_id, attempt=member), self._prompt_ids[slot.task_id]
        prompt = Prompt(case_id=case.case_id, task_id=slot.task_id, turn=0, token_ids=ids, messages=(), tools=())
        sample = await self._policy.act(prompt, Sampling(max_tokens=NEW_TOKENS, seed=step * GROUP_SIZE + member))
        turn = Turn(
            context_ids=ids,
            sampled_ids=sample.token_ids,
            logprobs=sample.logprobs,
            weight_version=sample.weight_version,
            text=sample.text,
        )
        end = verdict(passed_checks(sample.token_ids, member))
        return Episode(case=case, turns=(turn,), boundary=verdict(0), end=end, stop_reason="length")


class Alternate(pl.Callback):
    """Stands before the rollouts at the start of a step, and after everything but the state on disk at its end."""

    def __init__(self) -> None:
        self.rollout: RolloutCallback | None = None
        self._turns = Turns()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._turns.start()

    def note(self, *_: object) -> None:
        assert self.rollout is not None
        metrics = self.rollout.history[-1]
        rollout_s = metrics["time/sync_s"] + metrics["time/rollout_s"]
        self._turns.end(rollout_s=rollout_s, num_tokens=int(metrics["rollout/sampled_tokens"]))


def rollout_callback(
    policy: EnginePolicy, prompt_ids: Mapping[str, tuple[int, ...]], folder: Path, steps: int, alternate: Alternate
) -> RolloutCallback:
    settings = SamplerSettings(clean_groups=NUM_PROMPTS, fault_groups=0, group_size=GROUP_SIZE)
    names = list(prompt_ids)
    return RolloutCallback(
        policy=policy,
        sampler=Sampler({"clean": names, "fault": names}, settings, weights=RewardWeights(), norm="component"),
        collector=AnswerCollector(policy, prompt_ids),
        rules=CreditRules(),
        tags=CallTags(open_id=-1, close_id=-2),  # answers hold no calls
        probe=Probe(prompts=tuple(prompt_ids[name] for name in names[:2]), max_diff_nats=1e-3),
        folder=folder,
        settings=RlSettings(steps=steps, save_every_steps=steps),
        report=alternate.note,
    )


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    prompt_ids = {
        f"task-{number}": tuple(tokenizer(text)["input_ids"]) for number, text in enumerate(prompts(options.words))
    }
    engine = VllmOptions(
        dtype="float32",
        max_model_len=MAX_CONTEXT,
        kv_cache_memory_bytes=64 * 2**20,
        max_num_seqs=NUM_PROMPTS * GROUP_SIZE,
    )
    policy = vllm_policy(options.model, stop_ids=(), decode=tokenizer.decode, options=engine)
    settings = GrpoSettings(lr=LEARNING_RATE, loss=PolicyLoss(kl_coef=KL_COEF), max_grad_norm=MAX_GRAD_NORM)
    module = GrpoModule(load_model(options.model), load_model(options.model), settings)
    alternate = Alternate()
    with tempfile.TemporaryDirectory() as folder:
        callback = rollout_callback(policy, prompt_ids, Path(folder), options.steps, alternate)
        alternate.rollout = callback
        fit(module, callback.buffer.loader(), max_epochs=options.steps, callbacks=[alternate, callback])
    asyncio.run(policy.close())


if __name__ == "__main__":
    main()
