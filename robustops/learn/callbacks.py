"""The RL loop around the GRPO module: before each update roll out, after it save. The trainer's one bridge to asyncio.

At the start of a step: load the weights into the engine, prove it, collect groups, give credit, put the batch into the
buffer. At its end: state to disk, then the journals that nothing can come back to go. A run that is killed anywhere
goes on from the last state and the groups in the journal. All randomness follows from (seed, step), so no generator is
part of the state.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import lightning.pytorch as pl
from torch.utils.data import DataLoader, Dataset

from robustops.core.episode import EpisodeGroup
from robustops.core.errors import ConfigError
from robustops.learn.batch import CreditRules, training_batch
from robustops.learn.checkpoint import NUM_KEPT, SavedState, save_state
from robustops.learn.collection import Collected, Collector, Record, StepRules, collect_step
from robustops.learn.credit import CallTags
from robustops.learn.grpo import GrpoModule, StepBatch
from robustops.learn.journal import GroupJournal, drop_journals
from robustops.learn.sampler import Sampler
from robustops.learn.sync import Probe, SyncReport, TrainablePolicy, synchronise, weights_fingerprint

Report = Callable[[int, int, str], None]  # step, steps in all, note
log = logging.getLogger(__name__)


class Stateful(Protocol):
    """What a fault scheduler is to a checkpoint."""

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class StepBuffer(Dataset[StepBatch]):
    """One batch, the current step's. Of length 1: Lightning prefetches from loaders that do not know their length."""

    def __init__(self) -> None:
        self._batch: StepBatch | None = None

    def __len__(self) -> int:
        return 1

    def put(self, batch: StepBatch) -> None:
        if self._batch is not None:
            raise ValueError(f"step {self._batch.step} was never trained on")
        self._batch = batch

    def __getitem__(self, index: int) -> StepBatch:
        if self._batch is None:
            raise ValueError("the batch was fetched before the rollouts of its step")
        batch, self._batch = self._batch, None
        return batch

    def loader(self) -> DataLoader[StepBatch]:
        return DataLoader(self, batch_size=None, num_workers=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RlSettings:
    steps: int
    save_every_steps: int = 1


@dataclass(slots=True)
class _Timing:
    rollout_s: float = 0.0
    started: float = 0.0


class RolloutCallback(pl.Callback):
    """`folder` holds states and journals. `scheduler`: the fault scheduler, whose counts are part of the state.

    Lightning's epoch is one RL step. `record` sees each slot, after a kill perhaps twice; `report` each finished step.
    """

    def __init__(
        self,
        *,
        policy: TrainablePolicy,
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
    ) -> None:
        self.buffer = StepBuffer()
        self.first_step = 0
        self.history: list[dict[str, float]] = []
        self._policy, self._sampler, self._collector = policy, sampler, collector
        self._rules, self._tags, self._probe = rules, tags, probe
        self._folder, self._settings, self._scheduler = folder, settings, scheduler
        self._record, self._report = record, report or (lambda done, total, note: None)
        self._kept: Mapping[str, EpisodeGroup] = {}
        self._saved: SavedState | None = None
        self._runner = asyncio.Runner()
        self._metrics: dict[str, float] = {}
        self._summary = ""
        self._timing = _Timing()

    def resume(self, module: GrpoModule, saved: SavedState) -> None:
        """Go on after `saved.step` RL steps. Call before fit; the optimiser's part is loaded when training starts."""
        state = saved.state
        module.model.load_state_dict(state["model"])
        module.num_updates = state["num_updates"]
        self._sampler.load_state_dict(state["sampler"])
        if self._scheduler is not None:
            self._scheduler.load_state(state["scheduler"])
        self._kept = _unpacked(state["kept"])
        self.first_step, self._saved = saved.step, saved
        log.info("going on after step %d of %d", saved.step, self._settings.steps)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.world_size > 1:
            raise ConfigError("algorithm=grpo collects rollouts in one process; use hardware.gpus=1")
        if self._saved is not None:
            trainer.optimizers[0].load_state_dict(self._saved.state["optimiser"])
            self._saved = None

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, GrpoModule)
        step = self.first_step + trainer.current_epoch
        self._timing = _Timing(started=time.monotonic())
        report, collected = self._runner.run(self._roll_out(pl_module, step))
        self._timing.rollout_s = time.monotonic() - self._timing.started
        self._kept = collected.kept
        batch = training_batch(collected.groups, self._rules, self._tags) if collected.groups else None
        if batch is not None and not batch.trajectories:
            log.warning("step %d: no accepted episode has a generated token; no update", step)
            batch = None
        self._metrics = _metrics(report, collected) | self._sampler.metrics(step)
        self._summary = _summary(report, collected)
        self.buffer.put(StepBatch(step=step, batch=batch))

    async def _roll_out(self, module: GrpoModule, step: int) -> tuple[SyncReport, Collected]:
        model, version = module.model, module.num_updates
        report = await synchronise(self._policy, model, self._probe, version=version, compute=module.settings.compute)
        journal = GroupJournal(self._folder, step, weights_fingerprint(model))
        if journal.found:
            log.info("step %d: %d groups were collected before the interruption", step, len(journal.found))
        collected = await collect_step(
            self._sampler,
            self._collector,
            step,
            rules=StepRules(weights=self._rules.weights, progress=self._rules.progress),
            journal=journal,
            kept=self._kept,
            record=self._record,
        )
        return report, collected

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, GrpoModule)
        done, update = self.first_step + trainer.current_epoch + 1, pl_module.last_report
        train_s = time.monotonic() - self._timing.started - self._timing.rollout_s
        metrics = self._metrics | {"time/rollout_s": self._timing.rollout_s, "time/train_s": train_s}
        if update is not None:
            metrics |= update.metrics()
        metrics["train/weight_version"] = pl_module.num_updates
        self.history.append(metrics)
        if pl_module.logger is not None:
            pl_module.logger.log_metrics(metrics, step=done)
        learned = "no update" if update is None else f"loss {update.loss:.4f}, gradient {update.grad_norm:.3g}"
        note = f"{self._summary}, {learned}, weights {pl_module.num_updates}"
        self._report(done, self._settings.steps, note)
        if done % self._settings.save_every_steps == 0 or done == self._settings.steps:
            save_state(self._folder, done, self._state(trainer, pl_module))
            drop_journals(self._folder, before=done - (NUM_KEPT - 1) * self._settings.save_every_steps)

    def _state(self, trainer: pl.Trainer, module: GrpoModule) -> dict[str, Any]:
        return {
            "model": module.model.state_dict(),
            "optimiser": trainer.optimizers[0].state_dict(),
            "num_updates": module.num_updates,
            "sampler": self._sampler.state_dict(),
            "scheduler": None if self._scheduler is None else self._scheduler.state(),
            "kept": _packed(self._kept),
        }

    def teardown(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        self._runner.close()

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        self._runner.close()  # Lightning calls no teardown then


def _packed(groups: Mapping[str, EpisodeGroup]) -> str:
    # wrapped as text, so that the state holds plain values and loads "weights only"
    return base64.b64encode(pickle.dumps(dict(groups))).decode()


def _unpacked(text: str) -> dict[str, EpisodeGroup]:
    found: dict[str, EpisodeGroup] = pickle.loads(base64.b64decode(text))
    return found


def _metrics(report: SyncReport, collected: Collected) -> dict[str, float]:
    metrics = {
        "sync/probe_max_nats": report.max_diff_nats,
        "sync/weight_version": float(report.version),
        "rollout/groups_played": float(collected.num_played),
        "rollout/groups_reused": float(collected.num_reused),
        "rollout/groups_trained": float(len(collected.groups)),
    }
    metrics |= {f"rollout/{name}_groups": float(count) for name, count in collected.selected.counts.items()}
    metrics |= {f"rollout/{flow}_missing_groups": float(n) for flow, n in collected.selected.missing.items()}
    if collected.mean_reward is not None and collected.mean_success is not None:
        metrics |= {"reward/mean": collected.mean_reward, "reward/success_share": collected.mean_success}
    return metrics


def _summary(report: SyncReport, collected: Collected) -> str:
    counts = collected.selected.counts
    accepted = " + ".join(f"{counts.get(f'{flow}/accepted', 0)} {flow}" for flow in ("clean", "fault"))
    reward = "-" if collected.mean_reward is None else f"{collected.mean_reward:.3f}"
    success = "-" if collected.mean_success is None else f"{collected.mean_success:.2f}"
    return (
        f"accepted {accepted} of {collected.num_played + collected.num_reused} groups, reward {reward}, "
        f"success {success}, probe {report.max_diff_nats:.1g}"
    )
