"""A whole tiny RL run as a process of its own: `rl_process.py FOLDER STEPS [KILL_AT [STRATEGY]]`. It may kill itself.

STRATEGY: ddp or fsdp, with two processes. KILL_AT may be a number: of the event (a group in the journal, an optimiser
step, a state half written, a state written) at which the process ends.

KILL_AT: group (after the second group of step 1 is in the journal), update (inside the optimiser step of step 1),
checkpoint (half of step 2's state written). Prints one JSON line at its end; `trained.txt` grows by a line per update.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import sys
from pathlib import Path

import torch
from bandit import PAD, PROBE_PROMPT, BanditCollector, MirrorPolicy
from tiny_qwen3 import tiny_model

from robustops.learn import checkpoint, ranks
from robustops.learn.batch import CreditRules
from robustops.learn.callbacks import RlSettings, RolloutCallback
from robustops.learn.credit import CallTags
from robustops.learn.fit import Devices
from robustops.learn.grpo import GrpoModule, GrpoSettings
from robustops.learn.lora import LoraSettings, attach, merged_weights
from robustops.learn.metrics_table import MetricsTable
from robustops.learn.model import named_weights
from robustops.learn.rl_run import run_grpo
from robustops.learn.sampler import Sampler, SamplerSettings
from robustops.learn.sync import Probe
from robustops.rollout.score import RewardWeights


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Countdown:
    """Kills the process at the event with a given number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def event(self) -> None:
        self.left -= 1
        if self.left == 0:
            kill()


class KilledModule(GrpoModule):
    kill_at_step = -1
    on_step = staticmethod(lambda: None)

    def configure_optimizers(self):
        optimiser = super().configure_optimizers()
        optimiser.register_step_pre_hook(lambda *_: kill() if self.num_updates == self.kill_at_step else None)
        optimiser.register_step_pre_hook(lambda *_: self.on_step())
        return optimiser

    def training_step(self, batch, batch_idx):
        super().training_step(batch, batch_idx)
        cases = " ".join(row.case_id for row in batch.batch.trajectories) if batch.batch else "-"
        with (self.folder / "trained.txt").open("a") as file:
            file.write(f"{batch.step} {cases}\n")


def torn_save(state, file) -> None:
    whole = io.BytesIO()
    REAL_SAVE(state, whole)
    file.write(whole.getvalue()[: len(whole.getvalue()) // 2])
    file.flush()
    kill()


def counted_save(state, file, countdown: Countdown) -> None:
    whole = io.BytesIO()
    REAL_SAVE(state, whole)
    file.write(whole.getvalue()[: len(whole.getvalue()) // 2])
    file.flush()
    countdown.event()
    file.write(whole.getvalue()[len(whole.getvalue()) // 2 :])
    file.flush()
    countdown.event()


REAL_SAVE = torch.save


def build_callback(policy: MirrorPolicy, collector: BanditCollector, folder: Path, steps: int) -> RolloutCallback:
    weights = RewardWeights()
    settings = SamplerSettings(clean_groups=2, fault_groups=2, delay_steps=2, seed=5)
    sampler = Sampler(
        {flow: [f"{flow}-{i}" for i in range(9)] for flow in ("clean", "fault")}, settings, weights=weights
    )
    return RolloutCallback(
        policy=policy if ranks.is_first() else None,
        sampler=sampler,
        collector=collector,
        rules=CreditRules(weights=weights),
        tags=CallTags(open_id=258, close_id=259),
        probe=Probe(prompts=(PROBE_PROMPT,), max_diff_nats=1e-4, max_tokens=4),
        folder=folder / "checkpoints",
        settings=RlSettings(steps=steps),
    )


def arm(module: KilledModule, kill_at: str, countdown: Countdown) -> None:
    """Make the training end where `kill_at` says, unless that is in the rollout."""
    module.on_step = countdown.event
    if kill_at.isdigit():
        checkpoint.torch.save = lambda state, file: counted_save(state, file, countdown)
    module.kill_at_step = 1 if kill_at == "update" else -1
    if kill_at == "checkpoint":
        checkpoint.torch.save = lambda state, file: (torn_save if module.num_updates == 2 else REAL_SAVE)(state, file)


def main(folder: Path, steps: int, kill_at: str, strategy: str, lora_rank: int = 0) -> None:
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    policy = MirrorPolicy()
    num_groups = 0
    countdown = Countdown(int(kill_at) if kill_at.isdigit() else -1)

    def on_group(slot) -> None:
        nonlocal num_groups
        countdown.event()
        num_groups += slot.step == 1
        if kill_at == "group" and num_groups == 2:
            kill()

    collector = BanditCollector(policy, on_group=on_group)
    callback = build_callback(policy, collector, folder, steps)
    model = tiny_model(0, spread=0.02).train()
    if lora_rank:
        attach(model, LoraSettings(rank=lora_rank))
    module = KilledModule(model, tiny_model(0, spread=0.02), GrpoSettings(lr=1e-3, micro_batch_tokens=40, pad_id=PAD))
    module.folder = folder
    arm(module, kill_at, countdown)
    is_one = strategy in ("", "auto")
    devices = Devices() if is_one else Devices(processes=2, strategy=strategy)
    logger = MetricsTable(folder) if ranks.is_first() else None
    run_grpo(module, callback, folder=folder / "checkpoints", steps=steps, devices=devices, logger=logger)
    weights, merged = named_weights(module.model), merged_weights(module.model)
    if not ranks.is_first():
        return
    print(
        json.dumps(
            {
                "fingerprint": hashlib.sha256(b"".join(w.numpy().tobytes() for w in weights.values())).hexdigest(),
                "weights": [float(w.double().sum()) for w in weights.values()],
                "parameters": [w.flatten().tolist() for w in weights.values()] if strategy else [],
                "merged": {name: w.tolist() for name, w in merged.items()} if lora_rank else {},
                "played": collector.played,
                "counted": collector.counted,
                "versions": policy.loaded,
                "history": callback.history[-1],
                "rewards": [row["reward/mean"] for row in callback.history],
                "num_updates": module.num_updates,
            }
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *[*sys.argv[3:], "", ""][:2])
