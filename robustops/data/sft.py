"""Demonstrations into supervised samples: successful episodes in, token ids with a reasoned mask out, and back.

Only what the policy itself decided well is supervised: tool-call blocks that the record does not hold against it, and
the final answer of a native stop. System, user and tool text, inherited turns, narration before a call, malformed and
invalid calls carry no loss but stay in the context. Knows no tokenizer and no tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from robustops.core.episode import Episode, Turn
from robustops.core.errors import TableError
from robustops.core.tables import Header, read_listing, write_listing
from robustops.rollout.score import evidence

MaskReason = Literal[
    "call",  # supervised: a valid tool call, from its opening tag through its stop token
    "final_answer",  # supervised: the whole last message of a native stop
    "context",  # system, user and tool text, template tokens
    "inherited",  # sampled before the boundary that this episode continues from
    "narration",  # the policy's own words before a call: planning, or claims that nothing supports
    "malformed",  # a tool-call block that could not be read
    "invalid_call",  # refused by the tool, or a duplicate of a write
    "repeated_read",  # the third and later time that the same read taught nothing
    "forced_stop",  # a message without a call that a budget cut off
]
SUPERVISED: frozenset[MaskReason] = frozenset({"call", "final_answer"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskSpan:
    """Tokens `start`..`end` (exclusive) and why they are supervised or not. A supervised span is one decision."""

    start: int
    end: int
    reason: MaskReason

    @property
    def is_supervised(self) -> bool:
        return self.reason in SUPERVISED


@dataclass(frozen=True, slots=True, kw_only=True)
class SftSample:
    """One trajectory. `source` names the episode it was made from. The spans tile the tokens without gaps.

    Raises ValueError for spans that do not, or of which none is supervised.
    """

    source: str
    token_ids: tuple[int, ...]
    spans: tuple[MaskSpan, ...]

    def __post_init__(self) -> None:
        place = 0
        for span in self.spans:
            if span.start != place or span.end <= span.start:
                raise ValueError(f"{self.source}: span {span.start}..{span.end} does not follow token {place}")
            place = span.end
        if place != len(self.token_ids):
            raise ValueError(f"{self.source}: spans end at token {place} of {len(self.token_ids)}")
        if not self.num_decisions:
            raise ValueError(f"{self.source}: no valid decision to supervise")

    @property
    def num_decisions(self) -> int:
        """D_i: valid decisions, each with the same share of the loss."""
        return sum(span.is_supervised for span in self.spans)

    @property
    def weights(self) -> tuple[float, ...]:
        """Loss weight per token, 1 / (D_i * supervised tokens of its decision); they add up to 1.

        Source: algorithms.md, section 7.
        """
        weights = [0.0] * len(self.token_ids)
        for span in self.spans:
            if span.is_supervised:
                share = 1 / (self.num_decisions * (span.end - span.start))
                weights[span.start : span.end] = [share] * (span.end - span.start)
        return tuple(weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SftExport:
    """Every episode is in exactly one of the two."""

    samples: tuple[SftSample, ...]
    rejected: tuple[Rejection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """An episode and the name it has in the run that it comes from."""

    source: str
    episode: Episode


def export(demonstrations: Iterable[Demonstration], *, call_open_id: int) -> SftExport:
    """Samples of the episodes that succeeded in full; the others are rejected by name.

    `call_open_id`: the token that opens a tool call; what was sampled before it is narration.
    """
    samples, rejected = [], []
    for demonstration in demonstrations:
        episode, source = demonstration.episode, demonstration.source
        spans = tuple(mask_spans(episode, call_open_id=call_open_id))
        if (reason := _why_not(episode, spans)) is not None:
            rejected.append(Rejection(source=source, reason=reason))
            continue
        token_ids = tuple(token for turn in episode.turns for token in (*turn.context_ids, *turn.sampled_ids))
        samples.append(SftSample(source=source, token_ids=token_ids, spans=spans))
    return SftExport(samples=tuple(samples), rejected=tuple(rejected))


def _why_not(episode: Episode, spans: Sequence[MaskSpan]) -> str | None:
    if episode.stop_reason == "infrastructure":
        return f"the gym or engine failed: {episode.error_kind or 'unknown'}"
    if episode.end is None or episode.end.strict is not True:
        return "not successful: a check failed or was not scored"
    if any(not turn.sampled_ids for turn in episode.turns):
        return "a turn without token ids: the policy was not given a codec"
    if not any(span.is_supervised for span in spans):
        return "no valid decision"
    return None


def mask_spans(episode: Episode, *, call_open_id: int) -> Iterator[MaskSpan]:
    """The spans of all turns in order; neighbours of one turn are kept apart by their reasons."""
    found = evidence(episode)
    bad, repeated = set(found.bad_turns), set(found.repeated_turns)
    place = 0
    for index, turn in enumerate(episode.turns):
        parts: list[tuple[int, MaskReason]] = [(len(turn.context_ids), "context")]
        if index in bad and turn.malformed is None:
            parts.append((len(turn.sampled_ids), "invalid_call"))
        elif index in repeated:
            parts.append((len(turn.sampled_ids), "repeated_read"))
        else:
            parts += _sampled_parts(turn, call_open_id, is_native_stop=episode.stop_reason == "stop")
        for length, reason in parts:
            if length:
                yield MaskSpan(start=place, end=place + length, reason=reason)
                place += length


def _sampled_parts(turn: Turn, call_open_id: int, *, is_native_stop: bool) -> list[tuple[int, MaskReason]]:
    length = len(turn.sampled_ids)
    if not turn.generated:
        return [(length, "inherited")]
    if turn.malformed is not None:
        return [(length, "malformed")]
    if turn.call is None:
        return [(length, "final_answer" if is_native_stop else "forced_stop")]
    if call_open_id not in turn.sampled_ids:
        return [(length, "malformed")]  # a call of some other notation is nothing to imitate
    opening = turn.sampled_ids.index(call_open_id)
    return [(opening, "narration"), (length - opening, "call")]


def save_samples(path: Path, samples: Sequence[SftSample], *, split: str, source: str) -> Header:
    """Write a list file. `source` says where the episodes come from and which tokenizer the ids belong to."""
    rows = [
        {
            "source": sample.source,
            "token_ids": list(sample.token_ids),
            "spans": [[span.start, span.end, span.reason] for span in sample.spans],
        }
        for sample in samples
    ]
    return write_listing(path, rows, kind="sft", split=split, source=source)


def load_samples(path: Path) -> tuple[Header, tuple[SftSample, ...]]:
    """Raises TableError naming the row that is no sample."""
    header, rows = read_listing(path, kind="sft")
    return header, tuple(_sample(row, f"{path}:{number}") for number, row in enumerate(rows, start=2))


def _sample(row: dict[str, Any], where: str) -> SftSample:
    try:
        spans = []
        for start, end, reason in row["spans"]:
            if reason not in get_args(MaskReason):
                raise ValueError(f"unknown mask reason {reason!r}, expected one of {', '.join(get_args(MaskReason))}")
            spans.append(MaskSpan(start=start, end=end, reason=reason))
        return SftSample(source=row["source"], token_ids=tuple(row["token_ids"]), spans=tuple(spans))
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{where}: not an SFT sample ({type(error).__name__}: {error})") from error
