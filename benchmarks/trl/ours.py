"""Our side of B5: SftModule on the shared demonstrations; prints one JSON line. Run in the project's environment."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

from data import BATCH_SIZE, LEARNING_RATE, WARM_STEPS, sequences
from tensor_bytes import TensorBytes

from robustops.learn.fit import fit
from robustops.learn.model import load_model
from robustops.learn.sft import SftModule, SftSettings, WeightedTokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--num", type=int, required=True)
    parser.add_argument("--packing", action="store_true")
    parser.add_argument("--bytes", action="store_true", help="count tensor bytes of one step instead of timing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(options.model)
    samples = []
    for number, row in enumerate(sequences(model.config.vocab_size, options.num)):
        supervised = [label != -100 for label in row["labels"]]
        weights = tuple(is_on / sum(supervised) for is_on in supervised)
        samples.append(WeightedTokens(source=str(number), token_ids=tuple(row["input_ids"]), weights=weights))
    settings = SftSettings(
        epochs=1,
        lr=LEARNING_RATE,
        batch_size=BATCH_SIZE,
        compute=torch.bfloat16,
        packing=options.packing,
        save_every_steps=10**9,
    )
    with tempfile.TemporaryDirectory() as folder:
        times: list[float] = []
        cpu_times: list[float] = []

        def note(*_: object) -> None:
            times.append(time.perf_counter())
            cpu_times.append(time.process_time())

        module = SftModule(model, samples, [], settings, checkpoints=Path(folder), report=note)
        lengths = [sum(len(sample.token_ids) for sample in step) for step in module.train_dataloader()]
        counter = TensorBytes()
        if options.bytes:
            with counter:
                fit(module)
        else:
            fit(module)
    timed = lengths[WARM_STEPS:]
    print(
        json.dumps(
            {
                "tokens_per_s": sum(timed) / max(1e-9, times[-1] - times[WARM_STEPS - 1]),
                "tokens_per_cpu_s": sum(timed) / max(1e-9, cpu_times[-1] - cpu_times[WARM_STEPS - 1]),
                "bytes_per_token": counter.total / sum(lengths),
                "largest_tensor": counter.largest,
            }
        )
    )


if __name__ == "__main__":
    main()
