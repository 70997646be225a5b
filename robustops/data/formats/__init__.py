"""Demonstrations in the formats of other trainers: conversations in, a file out, and back without loss.

One module a format. All keep the tokens, the mask with its reasons and the weights beside the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustops.core.errors import TableError
from robustops.data.conversation import Conversation
from robustops.data.formats import atif, hf, nemo_gym, verl


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """`file`: its name in an export folder."""

    file: str
    write: Callable[[Path, Sequence[Conversation]], None]
    read: Callable[[Path], list[Conversation]]


FORMATS: Mapping[str, Format] = {
    "hf": Format(file="hf.jsonl", write=hf.write, read=hf.read),
    "verl": Format(file="verl.parquet", write=verl.write, read=verl.read),
    "nemo_gym": Format(file="nemo_gym.jsonl", write=nemo_gym.write, read=nemo_gym.read),
    "atif": Format(file="atif.jsonl", write=atif.write, read=atif.read),
}


def read_conversations(path: Path, name: str) -> list[Conversation]:
    """Raises TableError for a missing file, or naming the row that is no conversation."""
    if name not in FORMATS:
        raise TableError(f"format {name!r}: unknown, expected one of {', '.join(FORMATS)}")
    if not path.is_file():
        raise TableError(f"{path}: no such file; `python -m robustops.collect do=export run.dir=FOLDER` writes one")
    return FORMATS[name].read(path)
