"""Sources in, index.html and its data files out. Data are scripts, since a page opened from disk may load nothing else.

Every text goes through JSON with `<`, `>`, `&` and the two line separators of JavaScript escaped, so that no recorded
text can end its script; the page itself sets text only, never HTML.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.source import Source
from analysis.viewer.episode import episode, searchable, summary
from robustops.core.errors import TableError, UserError
from robustops.core.files import write_atomically

ASSETS = Path(__file__).resolve().parent / "assets"
SINGLE_FILE = 200  # episodes up to which everything stands in index.html
CHUNK_BYTES = 1_000_000
LIMITS: tuple[int | None, ...] = (None, 16_000, 8_000, 4_000, 2_000, 1_000, 500, 200)
ESCAPES = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    num_episodes: int
    num_bytes: int
    text_limit: int | None


class _TooLarge(Exception):
    pass


def write_pages(sources: Sequence[Source], out: Path, *, max_bytes: int) -> Pages:
    """Texts are cut at the largest limit that fits. Raises UserError where none does, or `out` cannot be written."""
    for limit in LIMITS:
        try:
            index, chunks = _collect(sources, limit, max_bytes)
        except _TooLarge:
            continue
        try:
            num_bytes = _write(out, index, chunks)
        except OSError as error:
            raise UserError(f"{out}: cannot write there ({error.strerror}); give another folder with --out") from error
        return Pages(num_episodes=index["num_episodes"], num_bytes=num_bytes, text_limit=limit)
    raise UserError(f"{max_bytes / 1e6:g} MB do not hold these episodes, however short their texts; give fewer runs")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(ESCAPES)


def _collect(sources: Sequence[Source], limit: int | None, max_bytes: int) -> tuple[dict[str, Any], list[str]]:
    """The index, and the chunks as JSON texts."""
    cases: dict[str, dict[str, Any]] = {}
    tasks: dict[str, dict[str, Any]] = {}
    chunks: list[str] = []
    pending: list[str] = []
    total = waiting = num_episodes = 0
    for number, source in enumerate(sources):
        advantages = source.advantages()
        for key, row, line in source.episodes():
            try:
                text = script_json(episode(line, advantages.get(_member(line)), limit=limit))
            except (KeyError, TypeError) as error:
                raise TableError(
                    f"{source.folder}: case {row.case_id}: not an episode ({error!r}); written by another version?"
                ) from error
            size = len(text.encode())
            if pending and waiting + size > CHUNK_BYTES:
                chunks.append(f"[{','.join(pending)}]")
                pending, waiting = [], 0
            case = cases.setdefault(key, _case(key, row))
            case["fault"] = case["fault"] or row.fault_subtype
            case["words"] = " ".join(dict.fromkeys((case["words"] + " " + searchable(line)).split()))
            case["runs"][number] = {**summary(row), "chunk": len(chunks), "at": len(pending)}
            tasks.setdefault(row.task_id, _task(source, row.task_id, limit))
            pending.append(text)
            waiting, total, num_episodes = waiting + size, total + size, num_episodes + 1
            if total > max_bytes:
                raise _TooLarge
    if pending:
        chunks.append(f"[{','.join(pending)}]")
    names = [source.name for source in sources]
    index = {"runs": names, "cases": list(cases.values()), "tasks": tasks, "num_episodes": num_episodes}
    if total + len(script_json(index).encode()) > max_bytes:
        raise _TooLarge
    return index, chunks


def _member(line: Mapping[str, Any]) -> tuple[str, int]:
    source = line.get("source") or {}
    return source.get("group", ""), source.get("member", 0)


def _case(key: str, row: Any) -> dict[str, Any]:
    return {
        "key": key,
        "task": row.task_id,
        "mode": row.tool_mode,
        "condition": row.condition,
        "attempt": row.attempt,
        "domain": row.domain,
        "fault": None,
        "words": "",
        "runs": {},
    }


def _task(source: Source, task_id: str, limit: int | None) -> dict[str, Any]:
    task = source.tasks.get(task_id) or {}
    keep = None if limit is None else 4 * limit
    cut_off = {name: str(task.get(name) or "")[:keep] for name in ("request", "policy", "template")}
    queries = {check["index"]: check.get("query", "") for check in task.get("checks") or ()}
    return {**cut_off, "queries": queries}


def _write(out: Path, index: dict[str, Any], chunks: Sequence[str]) -> int:
    """Returns the bytes written. What an earlier call left in data/ goes."""
    files = {}
    is_single = index["num_episodes"] <= SINGLE_FILE
    if not is_single:
        files = {f"data/chunk{number}.js": f"chunk({number},{text});\n" for number, text in enumerate(chunks)}
        files["data/index.js"] = f"index({script_json(index)});\n"
    files["index.html"] = _page(index, chunks) if is_single else _page(None, ())
    if (out / "data").is_dir():
        shutil.rmtree(out / "data")
    for name, text in files.items():
        write_atomically(out / name, text.encode())
    return sum(len(text.encode()) for text in files.values())


def _page(index: dict[str, Any] | None, chunks: Sequence[str]) -> str:
    """With the data inside, or with a reference to data/index.js."""
    environment = Environment(loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("viewer.html.jinja").render(
        style=Markup((ASSETS / "viewer.css").read_text()),  # our own files, which are safe as they are
        scripts=[Markup((ASSETS / name).read_text()) for name in ("data.js", "episode.js", "list.js", "main.js")],
        data=list(_data(index, chunks)),
    )


def _data(index: dict[str, Any] | None, chunks: Sequence[str]) -> Iterator[Markup]:
    if index is None:
        return
    for number, text in enumerate(chunks):
        yield Markup(f"chunk({number},{text});")
    yield Markup(f"index({script_json(index)});")
