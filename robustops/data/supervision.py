"""Episodes into supervised samples: what succeeded in, token ids with a reasoned mask out, or why there is none.

Only what the policy itself decided well is supervised: tool-call blocks that the record does not hold against it, the
words before them that rest on a reply, and the final answer of a native stop, of which nothing but the stop token is
left where its words are not proven. System, user and tool text, inherited turns, malformed and invalid calls and
unsupported words carry no loss but stay in the context. Knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from robustops.agent.hermes import parse
from robustops.core.episode import Episode, Turn
from robustops.data.narration import Support, history_of, judge
from robustops.data.sft import MaskReason, MaskSpan, SampleFacts, SftSample
from robustops.rollout.score import evidence

_REASON_OF_WORDS: Mapping[Support, MaskReason] = {
    "supported": "grounded_narration",
    "unproven": "narration",
    "planning": "planning",
    "unsupported": "unsupported",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """An episode and the name it has in the run that it comes from.

    `given`: policy and request, which words may cite. `reviews`: by turn, what a reviewer says of words that the rules
    leave unproven; it overrules nothing else.
    """

    source: str
    episode: Episode
    domain: str = ""
    given: str = ""
    reviews: Mapping[int, Support] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SftExport:
    """Every episode is in exactly one of the two."""

    samples: tuple[SftSample, ...]
    rejected: tuple[Rejection, ...]


def export(demonstrations: Iterable[Demonstration], *, call_open_id: int, max_tokens: int | None = None) -> SftExport:
    """Samples of the episodes that succeeded in full and fit the context; the others are rejected by name.

    `call_open_id`: the token that opens a tool call; what was sampled before it are words.
    """
    samples, rejected = [], []
    for demonstration in demonstrations:
        spans = tuple(mask_spans(demonstration, call_open_id=call_open_id))
        if (reason := _why_not(demonstration.episode, spans, max_tokens)) is not None:
            rejected.append(Rejection(source=demonstration.source, reason=reason))
            continue
        samples.append(
            SftSample(
                source=demonstration.source,
                token_ids=token_ids_of(demonstration.episode),
                spans=spans,
                facts=_facts(demonstration),
            )
        )
    return SftExport(samples=tuple(samples), rejected=tuple(rejected))


def token_ids_of(episode: Episode) -> tuple[int, ...]:
    """The whole trajectory as it was prompted and sampled."""
    return tuple(token for turn in episode.turns for token in (*turn.context_ids, *turn.sampled_ids))


def _facts(demonstration: Demonstration) -> SampleFacts:
    case, faults = demonstration.episode.case, demonstration.episode.faults
    return SampleFacts(
        task_id=case.task_id,
        domain=demonstration.domain,
        tool_mode=case.tool_mode,
        condition=case.condition,
        fault=faults[0].subtype if faults else "",
    )


def _why_not(episode: Episode, spans: Sequence[MaskSpan], max_tokens: int | None) -> str | None:
    if episode.is_spoilt:
        return f"the gym or engine failed: {episode.error_kind or 'unknown'}"
    if episode.end is None or episode.end.strict is not True:
        return "not successful: a check failed or was not scored"
    if any(not turn.sampled_ids for turn in episode.turns):
        return "a turn without token ids: the policy was not given a codec"
    if max_tokens is not None and spans and spans[-1].end > max_tokens:
        return f"{spans[-1].end} tokens, more than the context of {max_tokens}"
    if not any(span.is_supervised for span in spans):
        return "no valid decision"
    return None


def mask_spans(demonstration: Demonstration, *, call_open_id: int) -> Iterator[MaskSpan]:
    """The spans of all turns in order; neighbours of one turn are kept apart by their reasons."""
    episode = demonstration.episode
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
            parts += _sampled_parts(demonstration, index, call_open_id)
        for length, reason in parts:
            if length:
                yield MaskSpan(start=place, end=place + length, reason=reason)
                place += length


def _sampled_parts(demonstration: Demonstration, index: int, call_open_id: int) -> list[tuple[int, MaskReason]]:
    episode, turn = demonstration.episode, demonstration.episode.turns[index]
    length = len(turn.sampled_ids)
    if not turn.generated:
        return [(length, "inherited")]
    if turn.malformed is not None:
        return [(length, "malformed")]
    if turn.call is None and episode.stop_reason != "stop":
        return [(length, "forced_stop")]
    if turn.call is None:
        support = support_of(demonstration, index)
        if support == "supported":
            return [(length, "final_answer")]
        return [(length - 1, _REASON_OF_WORDS[support]), (1, "final_answer")]  # stopping here was right in any case
    if call_open_id not in turn.sampled_ids:
        return [(length, "malformed")]  # a call of some other notation is nothing to imitate
    opening = turn.sampled_ids.index(call_open_id)
    words = _REASON_OF_WORDS[support_of(demonstration, index)] if words_of(turn) else "narration"
    return [(opening, words), (length - opening, "call")]


def words_of(turn: Turn) -> str:
    """What the policy says besides its call."""
    return parse(turn.text).content


def support_of(demonstration: Demonstration, index: int) -> Support:
    """What the rules say of a turn's words, or the reviewer where they leave it open."""
    turns = demonstration.episode.turns
    found = judge(words_of(turns[index]), history_of(turns[:index], demonstration.given))
    return demonstration.reviews.get(index, found) if found == "unproven" else found
