"""The work of B8: sessions of turns with the lengths of recorded calls, the same for every way. Plain Python."""

from __future__ import annotations

import heapq
import itertools
import random
from dataclasses import dataclass

NUM_SESSIONS, NUM_TURNS, PROMPT_TOKENS, REPLY_TOKENS = 16, 4, 200, 104
TOOL_S = 0.017
# share of recorded calls, and the most tokens that one of them has
CALL_TOKENS = ((0.0, 13), (0.1, 18), (0.25, 20), (0.5, 28), (0.75, 76), (0.9, 173), (0.99, 443), (1.0, 530))
VOCABULARY = 1536
Ids = tuple[int, ...]


def quantile(share: float) -> int:
    """Tokens of a call, between the recorded quantiles in a straight line."""
    for (low, fewer), (high, more) in itertools.pairwise(CALL_TOKENS):
        if share <= high:
            return round(fewer + (more - fewer) * (share - low) / (high - low))
    raise ValueError(f"a share is at most 1, not {share}")


def ids_of(name: str, num: int) -> Ids:
    return tuple(random.Random(name).choices(range(VOCABULARY), k=num))


@dataclass(frozen=True, slots=True)
class Work:
    """`lengths[session][turn]`: tokens to sample."""

    lengths: tuple[tuple[int, ...], ...]

    @classmethod
    def dealt(cls, seed: int, num_batches: int = 1) -> Work:
        num = num_batches * NUM_SESSIONS * NUM_TURNS
        lengths = [quantile((number + 0.5) / num) for number in range(num)]
        random.Random(seed).shuffle(lengths)
        return cls(tuple(tuple(lengths[start : start + NUM_TURNS]) for start in range(0, num, NUM_TURNS)))

    @classmethod
    def equal(cls, num_tokens: int, num_batches: int = 1) -> Work:
        """So many tokens in every turn."""
        return cls(((num_tokens,) * NUM_TURNS,) * (num_batches * NUM_SESSIONS))

    @property
    def num_tokens(self) -> int:
        return sum(map(sum, self.lengths))

    def batches(self) -> list[range]:
        """The sessions that lockstep plays together."""
        starts = range(0, len(self.lengths), NUM_SESSIONS)
        return [range(start, min(start + NUM_SESSIONS, len(self.lengths))) for start in starts]

    @property
    def steps_ratio(self) -> float:
        """Decoding steps in lockstep for one where a finished session makes room for the next at once."""
        in_lockstep = 0
        for sessions in self.batches():
            turns = zip(*(self.lengths[session] for session in sessions), strict=True)
            in_lockstep += sum(map(max, turns))
        ends = [0] * NUM_SESSIONS
        for lengths in self.lengths:
            heapq.heapreplace(ends, ends[0] + sum(lengths))
        return in_lockstep / max(ends)

    def prompt(self, session: int) -> Ids:
        return ids_of(f"prompt {session}", PROMPT_TOKENS)

    def even(self) -> Work:
        """As many tokens, all rows alike and a single turn."""
        return Work(((round(self.num_tokens / NUM_SESSIONS),),) * NUM_SESSIONS)


def reply_to(session: int, turn: int) -> Ids:
    return ids_of(f"reply {session}/{turn}", REPLY_TOKENS)
