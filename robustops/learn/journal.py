"""The RL step in progress, on disk as it is sampled: what a killed run has asked of an engine is not asked again.

`<folder>/step-000012.journal`: a header that names the weights, then records of JSON, each with length and checksum:
the samples that became known together (handed to the system at once, so that they survive a kill), and each finished
group (flushed to the disk). A torn last record is cut off. A journal under other weights is thrown away: its samples
are off-policy. Samples leave memory as they are handed out, and the disk with the journal of their step.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import struct
import zlib
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from robustops.agent.policy import Request, Sample
from robustops.core.errors import TableError
from robustops.rollout.group_wire import dump_outcome, load_outcome
from robustops.rollout.groups import Outcome

log = logging.getLogger(__name__)
_FRAME = struct.Struct(">QI")  # length and CRC-32 of the JSON that follows
_HEADER = {"kind": "header", "version": 1}


class StepJournal:
    """A SampleStore, and the finished groups of one step by slot id in `found`.

    `weights`: names the weights, and whatever else its samples and groups depend on. `has_groups`: False keeps samples
    only, so that a resumed run plays every group again from them.
    """

    def __init__(self, folder: Path, step: int, weights: str, *, has_groups: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.found: dict[str, Outcome] = {}
        self.num_found = 0  # samples
        self.num_new_tokens = 0  # that an engine sampled in this process, for whatever became of them
        self._samples: defaultdict[str, deque[Sample]] = defaultdict(deque)
        self._path = folder / f"step-{step:06d}.journal"
        self._has_groups = has_groups
        self._is_full = False
        self._end = self._open({**_HEADER, "weights": weights})

    def write(self, slot_id: str, outcome: Outcome) -> None:
        """Raises TableError when the disk refuses."""
        if not self._has_groups:
            return
        try:
            self._append({"kind": "group", "slot": slot_id, "outcome": dump_outcome(outcome)}, is_synced=True)
        except OSError as error:
            raise TableError(
                f"{self._path}: a group could not be written ({error}); free disk space and run the same command again"
            ) from error

    def find(self, requests: Sequence[Request]) -> list[Sample] | None:
        keys = [_key(request) for request in requests]
        if any(len(self._samples.get(key, ())) < number for key, number in Counter(keys).items()):
            return None
        return [self._samples[key].popleft() for key in keys]

    def keep(self, requests: Sequence[Request], samples: Sequence[Sample]) -> None:
        self.num_new_tokens += sum(len(sample.token_ids) for sample in samples)
        if self._is_full:
            return
        pairs = zip(requests, samples, strict=True)
        kept = [{"key": _key(request), "sample": _dump_sample(sample)} for request, sample in pairs]
        try:
            self._append({"kind": "samples", "samples": kept})
        except OSError as error:  # these only save time
            log.warning("%s: samples are no longer kept (%s)", self._path, error)
            self._is_full = True

    def _open(self, header: Mapping[str, Any]) -> int:
        """Read what is there under the same weights, or begin anew; returns where the next record goes."""
        records, end = _read(self._path) if self._path.exists() else ([], 0)
        if records and records[0] == header:
            if end < self._path.stat().st_size:
                log.warning("%s: its last record was not written to its end and is made again", self._path)
                os.truncate(self._path, end)
            for record in records[1:]:
                self._take(record)
            return end
        if records:
            log.warning(
                "%s was sampled from other weights or with other settings; its %d records are dropped",
                self._path,
                len(records) - 1,
            )
        self._path.unlink(missing_ok=True)
        self._end = 0
        self._append(header, is_synced=True)
        return self._end

    def _take(self, record: Mapping[str, Any]) -> None:
        if record["kind"] == "group":
            self.found[record["slot"]] = load_outcome(record["outcome"])
        else:
            self.num_found += len(record["samples"])
            for entry in record["samples"]:
                self._samples[entry["key"]].append(_load_sample(entry["sample"]))

    def _append(self, record: Mapping[str, Any], *, is_synced: bool = False) -> None:
        """Raises OSError; what was written of the record is then cut off again."""
        body = json.dumps(record, separators=(",", ":")).encode()
        try:
            with self._path.open("ab") as file:
                file.write(_FRAME.pack(len(body), zlib.crc32(body)) + body)
                file.flush()
                if is_synced:
                    os.fsync(file.fileno())
        except OSError:
            os.truncate(self._path, self._end)
            raise
        self._end += _FRAME.size + len(body)


def drop_journals(folder: Path, *, before: int) -> None:
    """Delete journals of steps that no kept checkpoint can come back to."""
    for path in folder.glob("step-*.journal"):
        match = re.fullmatch(r"step-(\d+)\.journal", path.name)
        if match and int(match.group(1)) < before:
            path.unlink()


def _key(request: Request) -> str:
    """What a sample is drawn from, besides the weights: equal requests are exchangeable."""
    prompt, sampling = request.prompt, request.sampling
    about = (prompt.case_id, prompt.turn, sampling.temperature, sampling.max_tokens, sampling.seed)
    digest = hashlib.sha256(json.dumps(about).encode())
    digest.update(array("q", prompt.token_ids).tobytes())
    return digest.hexdigest()[:32]


def _dump_sample(sample: Sample) -> dict[str, Any]:
    return {field.name: getattr(sample, field.name) for field in fields(sample)}


def _load_sample(line: Mapping[str, Any]) -> Sample:
    return Sample(**{**line, "token_ids": tuple(line["token_ids"]), "logprobs": tuple(line["logprobs"])})


def _read(path: Path) -> tuple[list[Any], int]:
    """Whole records and the offset where they end."""
    content, offset, records = path.read_bytes(), 0, []
    while offset + _FRAME.size <= len(content):
        length, checksum = _FRAME.unpack_from(content, offset)
        body = content[offset + _FRAME.size : offset + _FRAME.size + length]
        if len(body) < length or zlib.crc32(body) != checksum:
            break
        records.append(json.loads(body))
        offset += _FRAME.size + length
    return records, offset
