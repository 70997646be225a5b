"""Rewards of one episode: recorded turns and verdicts in, exact S, P, Q and the evidence behind Q out.

Pure functions over `Episode`. Knows no gym, no model, no hidden label: a bad call is one that the record itself
confirms. Rules and exemptions are tabled in docs/algorithms.md.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from robustops.core.episode import Episode, FaultEvent, Turn, Verdict
from robustops.core.signature import call_signature

BadReason = Literal["malformed", "error", "duplicate_write"]
ProgressKind = Literal["gated", "independent", "none"]
REPEAT_FROM = 3  # the third occurrence of the same read is the first that is marked


@dataclass(frozen=True, slots=True, kw_only=True)
class BadCall:
    """`turn` indexes Episode.turns."""

    turn: int
    reason: BadReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the record confirms about the generated calls. `num_calls` is C, `len(bad)` is B, one per turn."""

    num_calls: int
    bad: tuple[BadCall, ...]
    repeated_turns: tuple[int, ...]

    @property
    def bad_turns(self) -> tuple[int, ...]:
        return tuple(call.turn for call in self.bad)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardWeights:
    """Weights of S, P and Q; none negative, so that components cannot cancel each other in a group."""

    success: float = 1.0
    progress: float = 0.3
    quality: float = 0.1

    def __post_init__(self) -> None:
        if min(self.success, self.progress, self.quality) < 0:
            raise ValueError(f"reward weights must not be negative, got {self}")

    @property
    def exact(self) -> tuple[Fraction, Fraction, Fraction]:
        """The decimal numbers as written: 0.3 is 3/10, not its binary neighbour."""
        return Fraction(str(self.success)), Fraction(str(self.progress)), Fraction(str(self.quality))


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """S, P and Q of one scorable episode. Fractions are exact integer pairs that know 2/4 = 1/2.

    `ratios`: numerator and denominator of each in turn, in lowest terms; normalisation reads them for every member.
    """

    success: bool
    progress: Fraction
    quality: Fraction
    evidence: Evidence
    ratios: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ratios = (int(self.success), 1, *self.progress.as_integer_ratio(), *self.quality.as_integer_ratio())
        object.__setattr__(self, "ratios", ratios)

    @property
    def raw(self) -> tuple[Fraction, Fraction, Fraction]:
        return Fraction(self.success), self.progress, self.quality

    def reward(self, weights: RewardWeights) -> Fraction:
        """R = w_S S + w_P P + w_Q Q (docs/algorithms.md), exact."""
        return sum((w * x for w, x in zip(weights.exact, self.raw, strict=True)), Fraction(0))


def score(episode: Episode, *, progress: ProgressKind = "gated") -> Score | None:
    """S, P, Q of an episode, or None where it is unscorable: no check, a skipped check, or infrastructure failed.

    Source: docs/algorithms.md. Raises ValueError if boundary and end verdicts are about different checks.
    """
    start, end = episode.boundary, episode.end
    if episode.is_spoilt or start is None or end is None:
        return None
    if start.strict is None or end.strict is None:
        return None
    if [check.index for check in start.checks] != [check.index for check in end.checks]:
        raise ValueError(f"{episode.case.case_id}: verdicts at boundary and end are about different checks")
    found = evidence(episode)
    num_bad = len(found.bad)
    assert num_bad <= found.num_calls, f"{episode.case.case_id}: {num_bad} bad of {found.num_calls} calls"
    quality = 1 - Fraction(num_bad, max(1, found.num_calls)) if end.strict else Fraction(0)
    return Score(success=end.strict, progress=_progress(start, end, progress), quality=quality, evidence=found)


def _progress(start: Verdict, end: Verdict, kind: ProgressKind) -> Fraction:
    if kind == "gated":
        return Fraction(end.gated - start.gated, end.total)
    if kind == "independent":
        return Fraction(end.passed - start.passed, end.total)
    return Fraction(0)


def evidence(episode: Episode) -> Evidence:
    """Confirmed bad calls and repeated reads among the generated turns; the inherited prefix is seen, never marked.

    Source: docs/algorithms.md. Also defined for unscorable episodes.
    """
    attempts = [index for index, turn in enumerate(episode.turns) if turn.generated and _is_attempt(episode, index)]
    duplicates = _duplicate_writes(episode.turns)
    bad = []
    for index in attempts:
        turn = episode.turns[index]
        if turn.malformed is not None:
            bad.append(BadCall(turn=index, reason="malformed"))
        elif index in duplicates:
            bad.append(BadCall(turn=index, reason="duplicate_write"))
        elif _is_caller_error(turn):
            bad.append(BadCall(turn=index, reason="error"))
    repeated = [index for index in _repeated_reads(episode.turns) if episode.turns[index].generated]
    return Evidence(num_calls=len(attempts), bad=tuple(bad), repeated_turns=tuple(repeated))


def _is_attempt(episode: Episode, index: int) -> bool:
    """A call, or a malformed block; a block cut off by the output budget is a forced stop, not an attempt."""
    turn = episode.turns[index]
    if turn.call is not None:
        return True
    is_cut = episode.stop_reason == "length" and index == len(episode.turns) - 1
    return turn.malformed is not None and not is_cut


def _is_caller_error(turn: Turn) -> bool:
    """The tool itself refused: unknown tool, arguments its schema rejects, or an explicit error."""
    return turn.fault is None and turn.native is not None and turn.native.is_error


def _changed_state(turn: Turn | FaultEvent) -> bool:
    """Only two recorded hashes that differ are evidence of a change."""
    return bool(turn.hash_before and turn.hash_after) and turn.hash_before != turn.hash_after


def _duplicate_writes(turns: Iterable[Turn]) -> frozenset[int]:
    """Turns that commit a write again which a `lost_ack` had hidden but committed, where a read-back would have told.

    Exempt: nothing of the hidden write is left (the state is again what it was before it), or the repetition changed
    nothing. A repetition that is itself hidden by the same fault did commit, so it is a duplicate as well.
    """
    hidden: dict[str, str] = {}  # signature of a hidden write -> state hash before it
    found: set[int] = set()
    for index, turn in enumerate(turns):
        record = turn.fault or turn
        if turn.call is None or not _changed_state(record):
            continue
        signature = call_signature(turn.call.name, turn.call.arguments)
        if signature in hidden and record.hash_before != hidden[signature]:
            found.add(index)
        elif turn.fault is not None and turn.fault.subtype == "lost_ack":
            hidden[signature] = turn.fault.hash_before
        else:
            hidden.pop(signature, None)
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadKey:
    """Two reads with equal keys taught the agent nothing new."""

    signature: str
    observation_sha: str
    state_hash: str


def read_key(turn: Turn) -> ReadKey | None:
    """The key of a read that may count as an occurrence; None for writes, errors and replies touched by a fault."""
    if turn.call is None or turn.shown is None or turn.fault is not None:
        return None
    is_read = bool(turn.hash_before) and turn.hash_before == turn.hash_after
    if not is_read or turn.shown.is_error or not turn.shown.executed:
        return None
    return ReadKey(
        signature=call_signature(turn.call.name, turn.call.arguments),
        observation_sha=hashlib.sha256(turn.shown.observation.encode()).hexdigest(),
        state_hash=turn.hash_after,
    )


def _repeated_reads(turns: Iterable[Turn]) -> list[int]:
    seen: Counter[ReadKey] = Counter()
    found = []
    for index, turn in enumerate(turns):
        key = read_key(turn)
        if key is not None:
            seen[key] += 1
            if seen[key] >= REPEAT_FROM:
                found.append(index)
    return found
