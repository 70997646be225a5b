"""The flat result row of one case and attempt: rows in, a Parquet table out, and back. It is what `analysis` reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from robustops.core.errors import TableError
from robustops.core.files import SCHEMA_VERSION, write_atomically


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
