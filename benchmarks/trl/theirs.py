"""TRL's side of B5: SFTTrainer on the shared demonstrations; prints one JSON line. Runs where TRL is installed.

With --export it loads a file of `collect do=export` instead and says what TRL made of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import torch
from datasets import Dataset, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import SFTConfig, SFTTrainer

sys.path.insert(0, str(Path(__file__).resolve().parent))

from demonstrations import BATCH_SIZE, COUNTED_EPOCHS, LEARNING_RATE, MAX_LENGTH, WARM_STEPS, sequences
from quiet import QUIET
from tensor_bytes import tensor_bytes


class Clock(TrainerCallback):
    """Notes when each step ended."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.cpu_times: list[float] = []

    def on_step_end(self, args, state, control, **kwargs):
        self.times.append(time.perf_counter())
        self.cpu_times.append(time.process_time())


class Counting(SFTTrainer):
    """Notes the real tokens of each step."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.tokens: list[int] = []

    def training_step(self, model, inputs, *args, **kwargs):
        mask = inputs.get("attention_mask")
        self.tokens.append(int(mask.sum()) if mask is not None else inputs["input_ids"].numel())
        return super().training_step(model, inputs, *args, **kwargs)


def trainer_of(options: argparse.Namespace, rows: Dataset, folder: str, clock: Clock) -> Counting:
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32)
    config = SFTConfig(
        output_dir=folder,
        per_device_train_batch_size=options.batch_size,
        num_train_epochs=COUNTED_EPOCHS if options.bytes else 1,
        learning_rate=LEARNING_RATE,
        bf16=True,
        max_length=MAX_LENGTH,
        packing=options.packing,
        **QUIET,
    )
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Counting(model=model, args=config, train_dataset=rows, processing_class=tokenizer, callbacks=[clock])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--num", type=int, default=32)
    parser.add_argument("--packing", action="store_true")
    parser.add_argument("--batch-size", type=int, default=BATCH_SIZE)
    parser.add_argument("--bytes", action="store_true", help="count tensor bytes instead of timing")
    parser.add_argument("--export", type=Path, help="hf.jsonl of a collect run")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.export is not None:
        rows = load_dataset("json", data_files=str(options.export), split=f"train[:{options.num}]")
        expected = [row["token_ids"] for row in rows]
        rows = rows.select_columns(["messages", "tools"])
    else:
        vocabulary = AutoModelForCausalLM.from_pretrained(options.model).config.vocab_size
        rows = Dataset.from_list(sequences(vocabulary, options.num))
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        trainer = trainer_of(options, rows, folder, clock)
        if options.bytes:
            print(json.dumps(asdict(tensor_bytes(trainer.train))))
            return
        result = trainer.train()
    if options.export is None and len(clock.times) <= WARM_STEPS:
        raise SystemExit(
            f"{options.num} demonstrations make {len(clock.times)} steps; the first {WARM_STEPS} are not timed"
        )
    timed, after = sum(trainer.tokens[WARM_STEPS:]), min(WARM_STEPS, len(clock.times)) - 1
    found = {
        "tokens_per_s": timed / max(1e-9, clock.times[-1] - clock.times[after]),
        "tokens_per_cpu_s": timed / max(1e-9, clock.cpu_times[-1] - clock.cpu_times[after]),
        "loss": result.training_loss,
    }
    if options.export is not None:
        made = [row["input_ids"] for row in trainer.train_dataset]
        found["same_tokens"] = sum(ids[: len(want)] == want for ids, want in zip(made, expected, strict=True))
        found["num_rows"] = len(made)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
