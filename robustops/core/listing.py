"""A list file: JSON Lines whose first line, the header, says what the rows are, of which task set, and hashes them.

Split manifests, fault manifests, labels, graphs, plans and demonstrations are such files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from robustops.core.errors import TableError
from robustops.core.files import SCHEMA_VERSION, write_atomically
from robustops.core.json_lines import read_lines


def set_name(split: str, sha256: str) -> str:
    """Ids repeat between generated sets, so a name alone does not tell them apart."""
    return f"{split}@{sha256[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """First line of a list file.

    `split`: a name, or with the task set that the rows are of, as `set_name` writes it.
    """

    kind: str
    split: str
    source: str
    sha256: str
    schema_version: int = SCHEMA_VERSION

    @property
    def split_name(self) -> str:
        return self.split.partition("@")[0]

    @property
    def of_set(self) -> str:
        """How the task set's hash begins; empty where the header names none."""
        return self.split.partition("@")[2]

    def is_of_another_set(self, sha256: str) -> bool:
        """An empty hash, of a set that is not there yet, and a header that names no set contradict nothing."""
        return bool(sha256) and not sha256.startswith(self.of_set)


def content_sha256(rows: Iterable[Mapping[str, Any]]) -> str:
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def write_listing(path: Path, rows: Sequence[Mapping[str, Any]], *, kind: str, split: str, source: str) -> Header:
    """Write a list file: the header with the hash of the rows, then the rows."""
    header = Header(kind=kind, split=split, source=source, sha256=content_sha256(rows))
    lines = [asdict(header), *rows]
    text = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines)
    write_atomically(path, text.encode())
    return header


def read_listing(path: Path, *, kind: str) -> tuple[Header, list[dict[str, Any]]]:
    """Read a list file. Raises TableError for a wrong kind, version or hash, naming what was found."""
    header = read_header(path, kind=kind)
    rows = list(read_lines(path))[1:]
    if (found := content_sha256(rows)) != header.sha256:
        raise TableError(
            f"{path}: its rows hash to {found[:12]}, its header says {header.sha256[:12]}; "
            "it was edited or cut: rebuild it"
        )
    return header, rows


def read_header(path: Path, *, kind: str) -> Header:
    """The first line of a list file, without looking at the rows. Raises TableError for a wrong kind or version."""
    if not path.is_file():
        raise TableError(f"{path}: no such file; expected a {kind} file")
    first = next(read_lines(path), None)
    if not isinstance(first, dict) or set(first) != {f.name for f in fields(Header)}:
        raise TableError(f"{path}:1: expected a header line with {', '.join(f.name for f in fields(Header))}")
    header = Header(**first)
    if header.schema_version != SCHEMA_VERSION:
        raise TableError(f"{path}: schema version {header.schema_version}, expected {SCHEMA_VERSION}")
    if header.kind != kind:
        raise TableError(f"{path}: holds {header.kind!r}, expected {kind!r}")
    return header
