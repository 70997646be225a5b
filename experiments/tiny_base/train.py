"""Pre-training of the tiny Base model: a recipe and a tokenizer in, checkpoints and curve.csv out."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch
from curriculum import STAGES, Lesson, Progress, batches, held_out
from model import Recipe, accuracy, forward, new_optimizers, rate
from torch.nn.functional import cross_entropy
from transformers import Qwen3ForCausalLM
from values import Values


def train(
    recipe: Recipe,
    model: Qwen3ForCausalLM,
    tokenizer: Any,
    fragments: Sequence[str],
    folder: Path,
    *,
    minutes: float | None = None,
    report_every: int = 200,
    is_last_stage_only: bool = False,
) -> None:
    """Train until `recipe.tokens`, or for `minutes`; the learning rate follows whichever it is.

    Every `report_every` steps a row of curve.csv and the weights are written into `folder`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = Values(Random(recipe.seed + 1), fragments)
    optimizers = new_optimizers(recipe, model)
    progress, losses = Progress(), list[float]()
    stages = STAGES[-1:] if is_last_stage_only else STAGES
    began = time.monotonic()
    curve = Curve(folder / "curve.csv", model, tokenizer, held_out(tokenizer, fragments, num=32))
    for step, batch in enumerate(batches(tokenizer, values, progress, stages), start=1):
        elapsed = (time.monotonic() - began) / 60
        done = min(1.0, elapsed / minutes if minutes else progress.tokens / recipe.tokens)
        is_last = done >= 1.0
        if is_last or step % report_every == 0:
            curve.add(step, progress.tokens, elapsed, losses)
            losses = []
            model.save_pretrained(folder)
        if is_last:
            return
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate(recipe, step, done) * group["share"]
        logits_NV, labels_N = forward(model, batch, bf16=True)
        loss = cross_entropy(logits_NV, labels_N)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        model.zero_grad()
        losses.append(loss.item())
        progress.tokens += sum(len(lesson.ids) for lesson in batch)


class Curve:
    """curve.csv, a row a report: accuracy on held-out lessons of all target tokens, of digits, of whole lessons."""

    def __init__(self, path: Path, model: Qwen3ForCausalLM, tokenizer: Any, sets: dict[str, list[Lesson]]) -> None:
        self._path, self._model, self._sets = path, model, sets
        self._digit_ids = torch.tensor(tokenizer.convert_tokens_to_ids([str(digit) for digit in range(10)]))
        columns = [f"{name}_{what}" for name in sets for what in ("tokens", "digits", "whole")]
        self._write(["step", "tokens", "minutes", "loss", *columns], mode="w")

    def add(self, step: int, tokens: int, minutes: float, losses: Sequence[float]) -> None:
        scores = {name: accuracy(self._model, lessons, self._digit_ids) for name, lessons in self._sets.items()}
        loss = sum(losses) / max(1, len(losses))
        flat = [round(value, 4) for score in scores.values() for value in (score.tokens, score.digits, score.whole)]
        self._write([step, tokens, round(minutes, 2), round(loss, 4), *flat], mode="a")
        shown = "  ".join(f"{name} {score.tokens:.2f}/{score.digits:.2f}" for name, score in scores.items())
        speed = tokens / max(1e-6, minutes) / 60
        print(
            f"step {step} {tokens / 1e6:.2f}M tokens {minutes:.1f} min {speed:.0f}/s loss {loss:.3f} | {shown}",
            flush=True,
        )

    def _write(self, row: Sequence[object], *, mode: str) -> None:
        with self._path.open(mode, newline="") as file:
            csv.writer(file).writerow(row)
