"""The same demonstrations for both sides of B5: seed in, token ids and labels out. Plain Python, for both sides."""

from __future__ import annotations

from random import Random

NUM_SEQUENCES, LEAST, MOST = 256, 120, 1028  # the mean is 574 tokens
SUPERVISED_SHARE = 0.16  # as in the expert's demonstrations
BATCH_SIZE, MAX_LENGTH, LEARNING_RATE = 8, 2048, 1e-4
WARM_STEPS = 2  # run, and not timed
COUNTED_EPOCHS = 2  # over one batch, where bytes are counted: the optimiser's state is there in the second step


def sequences(vocabulary: int, num: int = NUM_SEQUENCES) -> list[dict[str, list[int]]]:
    """`labels` are -100 outside the supervised stretches: calls of about 22 tokens, and what they leave of a reply."""
    rng, made = Random(0), []
    for _ in range(num):
        length = rng.randint(LEAST, MOST)
        ids = [rng.randrange(vocabulary) for _ in range(length)]
        labels, place = [-100] * length, 60
        while place < length:
            labels[place : place + 22] = ids[place : place + 22]
            place += round(22 / SUPERVISED_SHARE)
        made.append({"input_ids": ids, "labels": labels})
    return made
