"""Groups of the RL step in progress, on disk as they finish: what a killed run has collected is not collected again.

`<folder>/step-000012.groups`: a header that names the weights, then one record per slot, each flushed to disk before
the next. A torn last record is cut off. A journal under other weights is thrown away: its samples are off-policy.
"""

from __future__ import annotations

import logging
import os
import pickle
import re
import struct
import zlib
from pathlib import Path
from typing import Any

from robustops.rollout.groups import Outcome

log = logging.getLogger(__name__)
_FRAME = struct.Struct(">QI")  # length and CRC-32 of the pickle that follows


class GroupJournal:
    """`weights`: fingerprint of the weights that the groups are sampled from."""

    def __init__(self, folder: Path, step: int, weights: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / f"step-{step:06d}.groups"
        self.found: dict[str, Outcome] = self._open(weights)

    def write(self, slot_id: str, outcome: Outcome) -> None:
        self._append((slot_id, outcome))

    def _open(self, weights: str) -> dict[str, Outcome]:
        records, end = _read(self._path) if self._path.exists() else ([], 0)
        if records and records[0] == weights:
            if end < self._path.stat().st_size:
                log.warning("%s: the last group was not written to its end; it is collected again", self._path)
                os.truncate(self._path, end)
            return dict(records[1:])
        if records:
            log.warning("%s was sampled from other weights; its %d groups are dropped", self._path, len(records) - 1)
        self._path.unlink(missing_ok=True)
        self._append(weights)
        return {}

    def _append(self, record: Any) -> None:
        body = pickle.dumps(record)
        with self._path.open("ab") as file:
            file.write(_FRAME.pack(len(body), zlib.crc32(body)) + body)
            file.flush()
            os.fsync(file.fileno())


def drop_journals(folder: Path, *, before: int) -> None:
    """Delete journals of steps that no kept checkpoint can come back to."""
    for path in folder.glob("step-*.groups"):
        match = re.fullmatch(r"step-(\d+)\.groups", path.name)
        if match and int(match.group(1)) < before:
            path.unlink()


def _read(path: Path) -> tuple[list[Any], int]:
    """Whole records and the offset where they end."""
    content, offset, records = path.read_bytes(), 0, []
    while offset + _FRAME.size <= len(content):
        length, checksum = _FRAME.unpack_from(content, offset)
        body = content[offset + _FRAME.size : offset + _FRAME.size + length]
        if len(body) < length or zlib.crc32(body) != checksum:
            break
        records.append(pickle.loads(body))
        offset += _FRAME.size + length
    return records, offset
