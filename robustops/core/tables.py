"""Result tables: the only thing that leaves the house. Rows and episodes in, Parquet and JSON Lines out, and back.

A run folder holds `run.json`, `episodes.parquet` (one `EpisodeRow` per planned case) and `trajectories.jsonl` (one
episode a line, in the order of the rows). Files are replaced atomically; an append is flushed line by line.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from robustops.core.errors import TableError

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """One case and attempt, flat. None means unknown or unscored, never zero."""

    run: str
    model: str
    stage: str
    case_id: str
    task_id: str
    tool_mode: str
    condition: str
    attempt: int
    domain: str
    split: str
    seed: int
    success: bool | None  # parity with the benchmark's rule
    success_strict: bool | None
    checks_passed: int
    checks_gated: int
    checks_total: int
    checks_scored: int
    progress: float | None
    quality: float | None
    reward: float | None
    fault_subtype: str | None
    fault_planned: bool
    fault_hit: bool
    fault_count: int
    turns: int
    tool_calls: int
    bad_calls: int
    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int
    cached_tokens: int
    wall_s: float
    stop_reason: str
    error_kind: str
    damage_rows: int | None
    damage_severity: str | None
    supplemented: bool
    manifest_sha: str
    weight_version: int
    policy_mode: str


_ARROW = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
EPISODE_SCHEMA = pa.schema(
    [pa.field(f.name, _ARROW[str(f.type).split(" | ")[0]], nullable="None" in str(f.type)) for f in fields(EpisodeRow)],
    metadata={"schema_version": str(SCHEMA_VERSION)},
)


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` with `content`; a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_episodes(path: Path, rows: Sequence[EpisodeRow]) -> None:
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=EPISODE_SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_atomically(path, sink.getvalue().to_pybytes())


def read_episodes(path: Path) -> list[EpisodeRow]:
    """Raises TableError naming the file and the columns that are missing."""
    if not path.is_file():
        raise TableError(f"{path}: no such table; give a run folder that holds episodes.parquet")
    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise TableError(f"{path}: not a Parquet file ({error}); was the run interrupted? Run it again") from error
    missing = [name for name in EPISODE_SCHEMA.names if name not in table.column_names]
    if missing:
        raise TableError(f"{path}: columns missing: {', '.join(missing)}; was it written by an older version?")
    return [EpisodeRow(**row) for row in table.select(EPISODE_SCHEMA.names).to_pylist()]


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(value, indent=1, ensure_ascii=False, default=str) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise TableError(f"{path}: no such file") from error
    except json.JSONDecodeError as error:
        raise TableError(f"{path}: not JSON (line {error.lineno}: {error.msg})") from error
    if not isinstance(value, dict):
        raise TableError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Append one JSON line and flush it to disk, so that a kill costs at most the line being written."""
    append_lines(path, [value])


def append_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Append JSON lines and flush them to disk together."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values)
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """JSON Lines, one object a line, from a gzip file where the name ends in `.gz`.

    A last line cut short by a kill is left out; TableError for anything else that is not JSON Lines.
    """
    with _open_text(path) as file:
        for number, line in enumerate(_text_of(file, path), start=1):
            if not line.endswith("\n"):
                return
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise TableError(f"{path}:{number}: not JSON ({error.msg})") from error


def _open_text(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _text_of(file: IO[str], path: Path) -> Iterator[str]:
    try:
        yield from file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{path}: not a whole gzip file ({error}); copy or make it again") from error


def set_name(split: str, sha256: str) -> str:
    """Ids repeat between generated sets, so a name alone does not tell them apart."""
    return f"{split}@{sha256[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """First line of every list file: split manifest, fault manifest, labels, graphs, plans, demonstrations.

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
