"""The RL loop around the GRPO module: before each update roll out, after it save. The trainer's one bridge to asyncio.

At the start of a step: load the weights into the engine, prove it, collect groups, give credit, put the batch into the
buffer. Engines on a GPU sleep while the trainer works. At its end: state to disk, then the journals that nothing can
come back to go. A run that is killed anywhere goes on from the last state and the turns in the journal.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import lightning.pytorch as pl

from robustops.agent.policy import Sample
from robustops.core.episode import EpisodeGroup
from robustops.learn import ranks
from robustops.learn.batch import CreditRules, TrainingBatch, training_batch
from robustops.learn.checkpoint import NUM_KEPT, SavedState
from robustops.learn.collection import Collected, Collector, Played, Record, collect_step
from robustops.learn.credit import CallTags
from robustops.learn.grpo import GrpoModule, StepBatch
from robustops.learn.journal import StepJournal, drop_journals
from robustops.learn.lora import merged_weights
from robustops.learn.memory import peak_memory_mib
from robustops.learn.rl_state import RlState, Stateful
from robustops.learn.sampler import Sampler
from robustops.learn.step_buffer import StepBuffer
from robustops.learn.step_metrics import (
    TRAILING_STEPS,
    collection_metrics,
    sampled_metrics,
    summary,
    trailing_mean,
    trained_metrics,
)
from robustops.learn.sync import Probe, SyncReport, TrainablePolicy, load_and_sample, prove, weights_fingerprint

Report = Callable[[int, int, str], None]  # step, steps in all, note
Show = Callable[[int, Sequence[Played]], None]  # steps done, what was played in the last one
OnBatch = Callable[[Sequence[EpisodeGroup], TrainingBatch], None]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RlSettings:
    """`is_deterministic`: the engine's batches depend on nothing but their requests, and a resumed run repeats them.

    The groups of a step that was interrupted are then played again from the journal's samples, batch by batch: were
    finished ones left out, the others would be sampled in smaller batches, and the last bits would differ.
    `played_as`: names the settings that groups are played by; a journal of other ones is dropped.
    """

    steps: int
    save_every_steps: int = 1
    is_deterministic: bool = False
    played_as: str = ""


@dataclass(slots=True)
class _Timing:
    sync_s: float = 0.0
    rollout_s: float = 0.0
    started: float = 0.0
    num_new_tokens: int = 0  # on the first rank


@dataclass(frozen=True, slots=True, kw_only=True)
class _RolledOut:
    """What the first rank gives to all of them: the whole batch, so that filters and whitening know no ranks."""

    batch: TrainingBatch | None
    metrics: dict[str, float]


class RolloutCallback(pl.Callback):
    """`folder` holds states and journals. `scheduler`: the fault scheduler, whose counts are part of the state.

    Lightning's epoch is one RL step. `record` sees each slot and `on_batch` what is trained on, after a kill perhaps
    twice; `report` sees each finished step, `show` what was played in it. Of several ranks the first alone rolls out:
    it alone needs a `policy`.
    """

    def __init__(
        self,
        *,
        policy: TrainablePolicy | None,
        sampler: Sampler,
        collector: Collector,
        rules: CreditRules,
        tags: CallTags,
        probe: Probe,
        folder: Path,
        settings: RlSettings,
        scheduler: Stateful | None = None,
        record: Record | None = None,
        report: Report | None = None,
        on_batch: OnBatch | None = None,
        show: Show | None = None,
    ) -> None:
        self.buffer = StepBuffer()
        self.first_step = 0
        self.history: list[dict[str, float]] = []
        self._policy, self._sampler, self._collector = policy, sampler, collector
        self._rules, self._tags, self._probe = rules, tags, probe
        self._folder, self._settings = folder, settings
        self._state = RlState(folder, sampler, scheduler)
        self._record, self._report = record, report or (lambda done, total, note: None)
        self._on_batch = on_batch
        self._show = show or (lambda done, played: None)
        self._runner = asyncio.Runner()
        self._metrics: dict[str, float] = {}
        self._played: Sequence[Played] = ()  # on the first rank
        self._timing = _Timing()

    def resume(self, module: GrpoModule, saved: SavedState) -> None:
        """Go on after `saved.step` RL steps. Call before fit; the optimiser's part is loaded when training starts."""
        self._state.restore(module, saved)
        self.first_step = saved.step
        log.info("going on after step %d of %d", saved.step, self._settings.steps)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._state.restore_optimiser(trainer.optimizers[0])

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, GrpoModule)
        step = self.first_step + trainer.current_epoch
        self._timing = _Timing(started=time.monotonic())
        report = self._synchronise(pl_module)
        self._timing.sync_s = time.monotonic() - self._timing.started
        fingerprint = weights_fingerprint(pl_module.model)
        found = ranks.from_first(lambda: self._runner.run(self._roll_out(step, fingerprint)))
        self._timing.rollout_s = time.monotonic() - self._timing.started - self._timing.sync_s
        self._metrics = found.metrics | {
            "sync/probe_max_nats": report.max_diff_nats,
            "sync/weight_version": float(report.version),
        }
        self.buffer.put(StepBatch(step=step, batch=found.batch))

    def _synchronise(self, module: GrpoModule) -> SyncReport:
        """Give the engine the trainer's weights and prove it."""
        weights, version = merged_weights(module.model), module.num_updates

        def load() -> tuple[Sample, ...]:
            assert self._policy is not None
            self._policy.wake_up()
            return self._runner.run(load_and_sample(self._policy, weights, self._probe, version=version))

        samples = ranks.from_first(load)
        return prove(module.net, self._probe, samples, version=version, compute=module.settings.compute)

    async def _roll_out(self, step: int, fingerprint: str) -> _RolledOut:
        assert self._policy is not None
        sampled_from = f"{fingerprint} {self._settings.played_as}"
        journal = StepJournal(self._folder, step, sampled_from, has_groups=not self._settings.is_deterministic)
        if journal.num_found or journal.found:
            found = (len(journal.found), journal.num_found)
            log.info("step %d: %d groups and %d turns were sampled before the interruption", step, *found)
        self._policy.remember(journal)
        collected = await collect_step(
            self._sampler,
            self._collector,
            step,
            progress=self._rules.progress,
            journal=journal,
            kept=self._state.kept,
            record=self._record,
        )
        self._policy.remember(None)  # probes are for the engine alone
        self._timing.num_new_tokens = journal.num_new_tokens
        self._state.kept, self._played = collected.kept, collected.played
        batch = training_batch(collected.groups, self._rules, self._tags) if collected.groups else None
        if batch is not None and not batch.trajectories:
            log.warning("step %d: no accepted episode has a generated token; no update", step)
            batch = None
        if batch is not None and self._on_batch is not None:
            self._on_batch(collected.groups, batch)
        self._policy.sleep()
        return _RolledOut(batch=batch, metrics=self._rollout_metrics(collected, batch, step))

    def _rollout_metrics(self, collected: Collected, batch: TrainingBatch | None, step: int) -> dict[str, float]:
        metrics = collection_metrics(collected) | sampled_metrics(collected.played, self._rules.weights)
        if "reward/mean" in metrics:
            recent = [*self._state.recent_rewards, metrics["reward/mean"]][-TRAILING_STEPS:]
            self._state.recent_rewards, metrics["reward/mean_10_steps"] = recent, trailing_mean(recent)
        if batch is not None:
            metrics |= trained_metrics(collected, batch, self._rules, self._tags)
        return metrics | self._sampler.metrics(step)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, GrpoModule)
        done, update = self.first_step + trainer.current_epoch + 1, pl_module.last_report
        sync_s, rollout_s = self._timing.sync_s, self._timing.rollout_s
        train_s = time.monotonic() - self._timing.started - sync_s - rollout_s
        metrics = self._metrics | {"time/sync_s": sync_s, "time/rollout_s": rollout_s, "time/train_s": train_s}
        metrics["rollout/tokens_per_s"] = self._timing.num_new_tokens / max(rollout_s, 1e-9)
        if update is not None:
            metrics |= update.metrics()
            num_tokens = update.sums.num_tokens * pl_module.settings.ppo_epochs
            metrics["train/tokens_per_s"] = num_tokens / max(train_s, 1e-9)
        metrics["train/weight_version"] = pl_module.num_updates
        metrics["train/peak_memory_mib"] = peak_memory_mib(pl_module.device)
        self.history.append(metrics)
        if pl_module.logger is not None:
            pl_module.logger.log_metrics(metrics, step=done)
        self._report(done, self._settings.steps, summary(metrics))
        self._show(done, self._played)
        if done % self._settings.save_every_steps == 0 or done == self._settings.steps:
            self._state.save(done, pl_module, trainer.optimizers[0])
            if ranks.is_first():
                drop_journals(self._folder, before=done - (NUM_KEPT - 1) * self._settings.save_every_steps)

    def teardown(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        self._runner.close()

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        self._runner.close()  # Lightning calls no teardown then
