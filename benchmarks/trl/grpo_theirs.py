"""TRL's side of B9: GRPOTrainer, which generates with transformers; a JSON line a step. Runs where TRL is installed."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

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
from quiet import QUIET


def reward(completion_ids, **_) -> list[float]:
    return [passed_checks(ids, row % GROUP_SIZE) / NUM_CHECKS for row, ids in enumerate(completion_ids)]


class Timed(GRPOTrainer):
    """Notes how long the sampling of a step took, and how many tokens it gave."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.rollout_s, self.num_tokens = 0.0, 0

    def _generate(self, prompts):
        start = time.perf_counter()
        found = super()._generate(prompts)
        self.rollout_s, self.num_tokens = time.perf_counter() - start, sum(map(len, found[1]))
        return found


class Alternate(TrainerCallback):
    def __init__(self) -> None:
        self.trainer: Timed | None = None
        self._turns = Turns()

    def on_step_begin(self, args, state, control, **kwargs):
        self._turns.start()

    def on_step_end(self, args, state, control, **kwargs):
        assert self.trainer is not None
        self._turns.end(rollout_s=self.trainer.rollout_s, num_tokens=self.trainer.num_tokens)


def config_of(folder: str, steps: int) -> GRPOConfig:
    num_rows = NUM_PROMPTS * GROUP_SIZE
    return GRPOConfig(
        output_dir=folder,
        max_steps=steps,
        per_device_train_batch_size=num_rows,
        num_generations=GROUP_SIZE,
        max_completion_length=NEW_TOKENS,
        generation_kwargs={"min_new_tokens": NEW_TOKENS},
        temperature=1.0,
        learning_rate=LEARNING_RATE,
        beta=KL_COEF,
        max_grad_norm=MAX_GRAD_NORM,
        bf16=False,
        **QUIET,
    )


def main() -> None:
    options = arguments(__doc__)
    torch.set_num_threads(1)
    alternate = Alternate()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Timed(
            model=AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32),
            reward_funcs=reward,
            args=config_of(folder, options.steps),
            train_dataset=Dataset.from_dict({"prompt": prompts(options.words)}),
            processing_class=AutoTokenizer.from_pretrained(options.model, padding_side="left"),
            callbacks=[alternate],
        )
        alternate.trainer = trainer
        trainer.train()


if __name__ == "__main__":
    main()
