"""The same work for both sides of B9: prompts, rewards, and the turns that they take. Plain Python, for both sides."""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

NUM_PROMPTS, GROUP_SIZE, NEW_TOKENS = 8, 4, 64
LEARNING_RATE, KL_COEF, MAX_GRAD_NORM = 1e-6, 0.001, 1.0
NUM_TEXTS, NUM_CHECKS = 64, 64
WORDS = ("open", "the", "case", "of", "account", "find", "its", "contract", "update", "priority", "a", "note", "for")


def prompts(num_words: int) -> list[str]:
    return [" ".join(Random(number).choices(WORDS, k=num_words)) for number in range(NUM_TEXTS)]


def passed_checks(token_ids: Sequence[int], member: int) -> int:
    """Of NUM_CHECKS. Members of a group differ even where they sampled the same: every group has a signal."""
    return (zlib.crc32(repr(list(token_ids)).encode()) + member) % NUM_CHECKS


def arguments(description: str | None) -> argparse.Namespace:
    """What each side is started with."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--words", type=int, required=True, help="in a prompt; a word is 1.6 tokens")
    return parser.parse_args()


class Turns:
    """Steps of the two sides alternate: a line from standard input starts a step, its times go to standard output."""

    def __init__(self) -> None:
        self._started = 0.0

    def start(self) -> None:
        sys.stdin.readline()
        self._started = time.perf_counter()

    def end(self, *, rollout_s: float, num_tokens: int) -> None:
        step_s = time.perf_counter() - self._started
        found = {"step_s": step_s, "rollout_s": rollout_s, "train_s": step_s - rollout_s, "num_tokens": num_tokens}
        print(json.dumps(found), flush=True)
