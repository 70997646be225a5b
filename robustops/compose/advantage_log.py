"""The advantage of every trained token, for people to look at: batches in, `advantages.jsonl` in the run folder out.

A line an episode, named by its group and member as in `trajectories.jsonl`; a step that is repeated after a kill writes
its lines again, and the later ones count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from robustops.core.episode import Episode, EpisodeGroup
from robustops.core.files import cut_unfinished_line
from robustops.core.json_lines import append_lines
from robustops.learn.batch import TrainingBatch

ADVANTAGES = "advantages.jsonl"


class AdvantageLog:
    """`decode`: token ids to text."""

    def __init__(self, folder: Path, decode: Callable[[Sequence[int]], str]) -> None:
        self._path = folder / ADVANTAGES
        self._is_whole = False
        self._piece = cache(lambda token: decode([token]))  # as many as the vocabulary has, and every step reads them

    def add(self, groups: Sequence[EpisodeGroup], batch: TrainingBatch) -> None:
        if not self._is_whole and self._path.is_file():
            cut_unfinished_line(self._path)
        self._is_whole = True
        append_lines(self._path, self._lines(groups, batch))

    def _lines(self, groups: Sequence[EpisodeGroup], batch: TrainingBatch) -> Iterator[dict[str, Any]]:
        trained = iter(batch.trajectories)
        for group in groups:
            for member, episode in enumerate(group.episodes):
                if episode.generated:  # the batch leaves the others out
                    turns = self._turns(episode, next(trained).advantage_T.tolist())
                    yield {"group": group.group_id, "member": member, "turns": turns}

    def _turns(self, episode: Episode, advantages: Sequence[float]) -> list[dict[str, Any]]:
        turns, start = [], 0
        for turn in episode.turns:
            start += len(turn.context_ids)
            end = start + len(turn.sampled_ids)
            pieces = [self._piece(token) for token in turn.sampled_ids]
            values = [round(value, 5) for value in advantages[start:end]]
            turns.append(
                {"pieces": pieces, "advantages": values} if turn.generated else {"pieces": [], "advantages": []}
            )
            start = end
        return turns
