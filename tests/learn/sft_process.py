"""A tiny SFT run of as many ranks as there are processes; the first prints one JSON line at its end."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import torch
from test_sft_module import demonstrations
from tiny_qwen3 import tiny_model

from robustops.learn import ranks
from robustops.learn.fit import Devices, fit
from robustops.learn.lora import LoraSettings, attach, merged_weights
from robustops.learn.metrics_table import MetricsTable
from robustops.learn.model import named_weights
from robustops.learn.sft import SftModule, SftSettings


def main(
    folder: Path,
    strategy: str,
    packing: bool,
    lora_rank: int = 0,
    is_checkpointed: bool = False,
    interrupt_at: int = 0,
) -> None:
    """Seven demonstrations, three a step: the last step has one, so one of two ranks has nothing to do.

    `interrupt_at`: the step in which the first rank gets a SIGTERM.
    """
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    settings = SftSettings(epochs=2, lr=1e-3, batch_size=3, micro_batch_tokens=40, packing=packing)
    notes: list[int] = []

    def report(done: int, total: int, note: str) -> None:
        notes.append(done)
        if done == interrupt_at - 1:
            signal.raise_signal(signal.SIGTERM)  # as the next step begins

    model = tiny_model(0, spread=0.02)
    if is_checkpointed:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    if lora_rank:
        attach(model, LoraSettings(rank=lora_rank))
    module = SftModule(
        model,
        demonstrations(7),
        demonstrations(3, seed=1),
        settings,
        checkpoints=folder / "checkpoints",
        report=report,
    )
    devices = Devices(processes=2, strategy=strategy) if strategy else Devices()
    try:
        fit(module, devices=devices, logger=MetricsTable(folder) if ranks.is_first() else None)
    except KeyboardInterrupt:
        print(json.dumps({"saved": module.saved_step}))
        return
    last = named_weights(module.model)
    module.keep_best()
    best = named_weights(module.model)
    merged = merged_weights(module.model)
    if ranks.is_first():
        weights = {name: [each[name].tolist() for each in (last, best)] for name in last}
        whole = {name: weight.tolist() for name, weight in merged.items()}
        print(json.dumps({"weights": weights, "merged": whole, "best_loss": module.best_loss, "notes": notes}))
