"""Which lessons come when, and batches of them as ids. Values in, batches out; knows no model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
from dialogues import dialogue
from lessons import Segment, choosing, copying, filling, looking_up, reciting
from loose import loose_dialogue
from torch import Tensor
from values import Values

LESSONS: dict[str, Callable[[Values], list[Segment]]] = {
    "recite": reciting,
    "copy_short": lambda values: copying(values, longest=4),
    "copy": copying,
    "lookup_1": lambda values: looking_up(values, sizes=(1,)),
    "lookup_small": lambda values: looking_up(values, sizes=(1, 3), max_fields=5),
    "lookup": looking_up,
    "choose": choosing,
    "fill": filling,
    "dialogue_short": lambda values: dialogue(values, is_short=True),
    "dialogue": dialogue,
    "loose": loose_dialogue,
}
MEASURED = ("recite", "copy", "lookup_1", "lookup", "choose", "dialogue", "loose")
MAX_LENGTH = 1100


@dataclass(frozen=True, slots=True)
class Stage:
    """Until so many training tokens: tokens a batch, and how often each lesson comes."""

    until: float
    batch_tokens: int
    weights: dict[str, float]


# Copying must be learned before anything that rests on it, in one plain form first.
STAGES = (
    Stage(0.6e6, 2000, {"recite": 0.9, "lookup_1": 0.1}),
    Stage(1.0e6, 2000, {"recite": 0.2, "copy_short": 0.5, "lookup_1": 0.3}),
    Stage(1.6e6, 2000, {"copy_short": 0.2, "copy": 0.3, "lookup_1": 0.3, "lookup_small": 0.2}),
    Stage(2.6e6, 2000, {"copy": 0.15, "fill": 0.1, "lookup_small": 0.25, "lookup": 0.2, "dialogue_short": 0.3}),
    Stage(
        4.0e6, 3000, {"fill": 0.1, "lookup": 0.25, "choose": 0.1, "dialogue_short": 0.2, "dialogue": 0.1, "loose": 0.25}
    ),
    Stage(math.inf, 4000, {"fill": 0.05, "lookup": 0.1, "choose": 0.15, "dialogue": 0.3, "loose": 0.4}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One lesson as ids; `target[i]` says that id i is to be predicted."""

    ids: list[int]
    target: list[bool]


@dataclass(slots=True)
class Progress:
    """Training tokens seen so far; the loop advances it, the curriculum follows it."""

    tokens: int = 0


def encode(tokenizer: Any, segments: Sequence[Segment]) -> Lesson:
    """Segment by segment, as an episode grows."""
    texts = [text for text, _ in segments]
    ids: list[int] = []
    target: list[bool] = []
    encodings = tokenizer.backend_tokenizer.encode_batch(texts, add_special_tokens=False)
    for encoding, (_, is_target) in zip(encodings, segments, strict=True):
        ids += encoding.ids
        target += [is_target] * len(encoding.ids)
    return Lesson(ids=ids, target=target)


def usable(lesson: Lesson) -> bool:
    return any(lesson.target) and len(lesson.ids) <= MAX_LENGTH


def batches(
    tokenizer: Any, values: Values, progress: Progress, stages: Sequence[Stage] = STAGES
) -> Iterator[list[Lesson]]:
    """Endless batches of lessons of like length; a stage's `batch_tokens` bounds the padded size."""
    while True:
        stage = next(stage for stage in stages if progress.tokens < stage.until)
        names, weights = list(stage.weights), list(stage.weights.values())
        pool: list[Lesson] = []
        total = 0
        while total < 24 * stage.batch_tokens:
            lesson = encode(tokenizer, LESSONS[values.rng.choices(names, weights)[0]](values))
            if usable(lesson):
                pool.append(lesson)
                total += len(lesson.ids)
        pool.sort(key=lambda lesson: len(lesson.ids))
        groups: list[list[Lesson]] = [[]]
        for lesson in pool:
            if groups[-1] and (len(groups[-1]) + 1) * len(lesson.ids) > stage.batch_tokens:
                groups.append([])
            groups[-1].append(lesson)
        values.rng.shuffle(groups)
        yield from groups


def held_out(tokenizer: Any, fragments: Sequence[str], num: int) -> dict[str, list[Lesson]]:
    """Lessons of a stream that training never draws from, by name."""
    sets = {}
    for name in MEASURED:
        values = Values(Random(f"held out {name}"), fragments)
        lessons = (encode(tokenizer, LESSONS[name](values)) for _ in range(num))
        sets[name] = [lesson for lesson in lessons if usable(lesson)]
    return sets


def tensors(batch: Sequence[Lesson]) -> tuple[Tensor, Tensor]:
    """ids_BT padded with 0, and predicts_BT: position t is to predict id t + 1."""
    longest = max(len(lesson.ids) for lesson in batch)
    ids_BT = torch.zeros(len(batch), longest, dtype=torch.long)
    predicts_BT = torch.zeros(len(batch), longest, dtype=torch.bool)
    for row, lesson in enumerate(batch):
        ids_BT[row, : len(lesson.ids)] = torch.tensor(lesson.ids)
        predicts_BT[row, : len(lesson.ids) - 1] = torch.tensor(lesson.target[1:])
    return ids_BT, predicts_BT
