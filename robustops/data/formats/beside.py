"""What every format keeps beside its messages: a sample's tokens, spans, weights and facts, as plain JSON, and back.

Spans are objects of one shape, since Arrow has no list of mixed types. A weight is that of each token of its span.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from robustops.core.errors import TableError
from robustops.core.json_lines import read_lines
from robustops.data.conversation import Conversation
from robustops.data.sft import SampleFacts, SftSample, read_spans


def dump_sample(sample: SftSample) -> dict[str, Any]:
    weights = sample.weights
    spans = [
        {"start": span.start, "end": span.end, "reason": span.reason, "weight": weights[span.start]}
        for span in sample.spans
    ]
    return {
        "source": sample.source,
        "token_ids": list(sample.token_ids),
        "spans": spans,
        "facts": asdict(sample.facts),
    }


def load_sample(row: Mapping[str, Any]) -> SftSample:
    """Raises KeyError, TypeError or ValueError for a row that is none."""
    return SftSample(
        source=row["source"],
        token_ids=tuple(row["token_ids"]),
        spans=read_spans([(span["start"], span["end"], span["reason"]) for span in row["spans"]]),
        facts=SampleFacts(**row["facts"]),
    )


def read_rows(path: Path, load: Callable[[Mapping[str, Any]], Conversation]) -> list[Conversation]:
    return [loaded(row, load, f"{path}:{number}") for number, row in enumerate(read_lines(path), start=1)]


def loaded(row: Mapping[str, Any], load: Callable[[Mapping[str, Any]], Conversation], where: str) -> Conversation:
    """Raises TableError naming the row."""
    try:
        return load(row)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise TableError(f"{where}: not a conversation ({type(error).__name__}: {error})") from error
