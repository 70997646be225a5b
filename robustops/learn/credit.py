"""Token-local credit: one trajectory's advantage and its evidence in, one advantage per trained token out.

Shapes: T the trained tokens of one trajectory: the sampled ids of its generated turns, one turn after the other.
Source: docs/algorithms.md. Runs after whitening and is never whitened again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from robustops.core.episode import Episode, Turn
from robustops.rollout.score import Evidence

QualityCredit = Literal["temporal", "uniform"]
BAD_CAP = -0.5  # confirmed bad calls and no-progress repeated reads
STOP_CAP = 0.0  # the native stop of a failed trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTags:
    """Token ids of `<tool_call>` and `</tool_call>`, each a single token."""

    open_id: int
    close_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Trained tokens start..stop, stop excluded."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    num_tokens: int
    bad: tuple[Span, ...] = ()
    repeated: tuple[Span, ...] = ()
    native_stop: Span | None = None


def call_span(turn: Turn, tags: CallTags, offset: int) -> Span:
    """Opening tag through closing tag; to the end of the turn where the block is malformed or never closed.

    Narration before the block stays outside. A block that was found unusable without any opening tag is the whole turn.
    """
    ids = turn.sampled_ids
    start = ids.index(tags.open_id) if tags.open_id in ids else 0
    stop = len(ids)
    if turn.malformed is None and tags.close_id in ids[start:]:
        stop = ids.index(tags.close_id, start) + 1
    return Span(start=offset + start, stop=offset + stop)


def spans(episode: Episode, evidence: Evidence, tags: CallTags) -> Spans:
    """Where the marked calls and the native stop lie among the trained tokens."""
    bad, repeated = set(evidence.bad_turns), set(evidence.repeated_turns)
    found_bad, found_repeated, offset = [], [], 0
    native_stop = None
    for index, turn in enumerate(episode.turns):
        if not turn.generated:
            continue
        if index in bad:
            found_bad.append(call_span(turn, tags, offset))
        if index in repeated:
            found_repeated.append(call_span(turn, tags, offset))
        end = offset + len(turn.sampled_ids)
        is_last = index == len(episode.turns) - 1
        if is_last and episode.stop_reason == "stop" and turn.call is None and turn.malformed is None:
            native_stop = Span(start=offset, stop=end)
        offset = end
    return Spans(num_tokens=offset, bad=tuple(found_bad), repeated=tuple(found_repeated), native_stop=native_stop)


def _in(marked: Sequence[Span], num_tokens: int) -> Tensor:
    inside_T = torch.zeros(num_tokens, dtype=torch.bool)
    for span in marked:
        inside_T[span.start : span.stop] = True
    return inside_T


def temporal_quality(quality: float, marked: Spans) -> Tensor:
    """Spread a quality term of `quality` a token over the tokens that earned it; the sum over tokens is unchanged.

    Positive: evenly over the tokens after the last bad call. Negative: evenly over the bad calls. Uniform where no such
    token exists.
    """
    earned_T = torch.ones(marked.num_tokens, dtype=torch.bool)
    if marked.bad and quality > 0:
        earned_T[: marked.bad[-1].stop] = False
    elif marked.bad and quality < 0:
        earned_T = _in(marked.bad, marked.num_tokens)
    if not bool(earned_T.any()):
        earned_T = torch.ones(marked.num_tokens, dtype=torch.bool)
    return earned_T.double() * (quality * marked.num_tokens / max(1, int(earned_T.sum())))


def token_advantages(
    marked: Spans,
    *,
    advantage: float,
    quality: float,
    is_failed: bool,
    quality_credit: QualityCredit = "temporal",
    has_caps: bool = True,
) -> Tensor:
    """A'_T in fp64: the advantage, of which `quality` is the part from Q, moved in time; then the caps.

    A cap is min(A, cap): it never raises an advantage that is already lower; where both apply the lower cap wins.
    """
    advantage_T = torch.full((marked.num_tokens,), advantage, dtype=torch.float64)
    if quality_credit == "temporal" and quality != 0:
        advantage_T += temporal_quality(quality, marked) - quality
    if not has_caps:
        return advantage_T
    if is_failed and marked.native_stop is not None:
        advantage_T[marked.native_stop.start : marked.native_stop.stop].clamp_(max=STOP_CAP)
    for span in (*marked.bad, *marked.repeated):
        advantage_T[span.start : span.stop].clamp_(max=BAD_CAP)
    return advantage_T
