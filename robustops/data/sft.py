"""Supervised samples: token ids with a reasoned mask, their loss weights, and the file they are kept in.

Which tokens are supervised is decided in `data.supervision`. Knows no tokenizer, no episode and no tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from robustops.core.errors import SplitError, TableError
from robustops.core.listing import Header, read_listing, write_listing

SAMPLES = "sft.jsonl"  # in a collect run's folder

MaskReason = Literal[
    "call",  # supervised: a valid tool call, from its opening tag through its stop token
    "final_answer",  # supervised: the last message of a native stop, or its stop token where nothing proves its words
    "grounded_narration",  # supervised with the call it precedes: every word of it rests on a reply
    "context",  # system, user and tool text, template tokens
    "inherited",  # sampled before the boundary that this episode continues from
    "narration",  # the policy's own words before a call that nothing proves
    "unsupported",  # words that claim an action without a receipt, or a value that was never shown
    "planning",  # words about what comes next that rest on no reply
    "malformed",  # a tool-call block that could not be read
    "invalid_call",  # refused by the tool, or a duplicate of a write
    "repeated_read",  # the third and later time that the same read taught nothing
    "forced_stop",  # a message without a call that a budget cut off
]
DECISIONS: frozenset[MaskReason] = frozenset({"call", "final_answer"})
SUPERVISED: frozenset[MaskReason] = DECISIONS | {"grounded_narration"}
_TOKENIZER, _TOOLS = ", tokenizer ", ", tools "  # in a header's source, before a vocabulary's hash and a tool view


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskSpan:
    """Tokens `start`..`end` (exclusive) and why they are supervised or not."""

    start: int
    end: int
    reason: MaskReason

    @property
    def is_supervised(self) -> bool:
        return self.reason in SUPERVISED

    @property
    def num_tokens(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFacts:
    """What a data card counts; changes no loss. `fault`: the subtype that struck, empty for a clean trajectory."""

    task_id: str = ""
    domain: str = ""
    tool_mode: str = ""
    condition: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SftSample:
    """One trajectory. `source` names the episode it was made from. The spans tile the tokens without gaps.

    Raises ValueError for spans that do not, or that hold no decision.
    """

    source: str
    token_ids: tuple[int, ...]
    spans: tuple[MaskSpan, ...]
    facts: SampleFacts = SampleFacts()

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
        return sum(span.reason in DECISIONS for span in self.spans)

    def decisions(self) -> Iterator[tuple[MaskSpan, ...]]:
        """The supervised spans of each decision: a call with the grounded words before it, or a final answer."""
        words: list[MaskSpan] = []
        for span in self.spans:
            if span.reason == "grounded_narration":
                words.append(span)
            elif span.reason in DECISIONS:
                yield (*words, span)
                words = []

    @property
    def weights(self) -> tuple[float, ...]:
        """Loss weight per token, 1 / (D_i * supervised tokens of its decision); they add up to 1.

        Source: docs/algorithms.md.
        """
        weights = [0.0] * len(self.token_ids)
        for decision in self.decisions():
            share = 1 / (self.num_decisions * sum(span.num_tokens for span in decision))
            for span in decision:
                weights[span.start : span.end] = [share] * span.num_tokens
        return tuple(weights)


def save_samples(
    path: Path,
    samples: Sequence[SftSample],
    *,
    split: str,
    source: str,
    vocabulary_sha256: str = "",
    tool_view: str = "",
) -> Header:
    """Write a list file. `split`: the part, and after an @ the task set; `source`: where the episodes come from.

    `vocabulary_sha256`: of the tokenizer that the ids belong to; `tool_view`: how the prompts show tools, as
    `model.tool_schema` says. Both are written behind the source.
    """
    rows = [
        {
            "source": sample.source,
            "token_ids": list(sample.token_ids),
            "spans": [[span.start, span.end, span.reason] for span in sample.spans],
            "facts": asdict(sample.facts),
        }
        for sample in samples
    ]
    if vocabulary_sha256:
        source = f"{source}{_TOKENIZER}{vocabulary_sha256[:12]}"
    if tool_view:
        source = f"{source}{_TOOLS}{tool_view}"
    return write_listing(path, rows, kind="sft", split=split, source=source)


def samples_file(path: Path) -> Path:
    """The file itself, or the one in a collect run's folder. Raises TableError where there is none."""
    found = path / SAMPLES if path.is_dir() else path
    if not found.is_file():
        raise TableError(
            f"algorithm.demonstrations: {found} does not exist; `python -m robustops.collect run.dir=FOLDER` makes it"
        )
    return found


def refuse_foreign(header: Header, path: Path, *, set_sha256: str, vocabulary_sha256: str, tool_view: str) -> None:
    """Raise SplitError for demonstrations of another part than train or of another task set, TableError for token ids
    of another tokenizer or prompts of another view of the tools. An empty hash, and what the header does not name, is
    not compared.
    """
    if header.split_name != "train":
        raise SplitError(f"{path}: demonstrations of part {header.split_name!r}; only 'train' may be trained on")
    if header.is_of_another_set(set_sha256):
        raise SplitError(
            f"algorithm.demonstrations: {path} was collected on task set {header.of_set}, this run has "
            f"{set_sha256[:12]}; collect on this set and write algorithm.demonstrations=FOLDER"
        )
    of_tokenizer, shown = _named(header, _TOKENIZER), _named(header, _TOOLS)
    if of_tokenizer and vocabulary_sha256 and not vocabulary_sha256.startswith(of_tokenizer):
        raise TableError(
            f"algorithm.demonstrations: {path} holds ids of tokenizer {of_tokenizer}, this model has "
            f"{vocabulary_sha256[:12]}; collect with model.path=... and write algorithm.demonstrations=FOLDER"
        )
    if shown and shown != tool_view:
        raise TableError(
            f"algorithm.demonstrations: {path} shows tools in the {shown} view, this run has "
            f"model.tool_schema={tool_view}; write model.tool_schema={shown}, or collect with "
            f"model.tool_schema={tool_view} and write algorithm.demonstrations=FOLDER"
        )


def _named(header: Header, mark: str) -> str:
    """The word behind `mark` in the source; empty where it is not there."""
    return header.source.partition(mark)[2].partition(",")[0]


def load_samples(path: Path) -> tuple[Header, tuple[SftSample, ...]]:
    """Raises TableError naming the row that is no sample."""
    header, rows = read_listing(path, kind="sft")
    return header, tuple(_sample(row, f"{path}:{number}") for number, row in enumerate(rows, start=2))


def _sample(row: dict[str, Any], where: str) -> SftSample:
    try:
        return SftSample(
            source=row["source"],
            token_ids=tuple(row["token_ids"]),
            spans=read_spans(row["spans"]),
            facts=SampleFacts(**row.get("facts", {})),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{where}: not an SFT sample ({type(error).__name__}: {error})") from error


def read_spans(rows: Sequence[Sequence[Any]]) -> tuple[MaskSpan, ...]:
    """From [start, end, reason]. Raises ValueError for an unknown reason."""
    spans = []
    for start, end, reason in rows:
        if reason not in get_args(MaskReason):
            raise ValueError(f"unknown mask reason {reason!r}, expected one of {', '.join(get_args(MaskReason))}")
        spans.append(MaskSpan(start=start, end=end, reason=reason))
    return tuple(spans)
