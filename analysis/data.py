"""What a file of demonstrations holds: counts by domain, tool mode and fault, lengths, masks and reasons, coverage.

    python -m analysis.data FILE [--cap 32768] [--out DIR]

FILE is an sft.jsonl or the folder of a collect run; with the run's episodes beside it, coverage is a share of the
tasks that were tried.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from rich.console import Console

from analysis.arguments import answer, command_parser, parse
from analysis.document import Document, Section, Table
from analysis.figures import BLUE, ORANGE, draw
from analysis.render import to_terminal
from analysis.report import write
from analysis.result import percent
from robustops.core.episode_row import read_episodes
from robustops.core.errors import TableError, UserError
from robustops.core.listing import Header, read_listing

SAMPLES, EPISODES = "sft.jsonl", "episodes.parquet"
SUPERVISED = frozenset({"call", "final_answer", "grounded_narration"})
PERCENTILES = (0, 5, 25, 50, 75, 95, 100)
COUNTED = {"domain": "Domain", "tool_mode": "Tool mode", "condition": "Condition", "fault": "Fault"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrations:
    """Lines of one file. `tried`: the task and tool mode of every episode beside it, None where it stands alone."""

    name: str
    header: Header
    rows: tuple[Mapping[str, Any], ...]
    tried: frozenset[tuple[str, str]] | None

    @property
    def lengths(self) -> list[int]:
        return [len(row["token_ids"]) for row in self.rows]


def load(path: Path) -> Demonstrations:
    """Raises TableError for a file that holds no demonstration."""
    file = path / SAMPLES if path.is_dir() else path
    header, rows = read_listing(file, kind="sft")
    if not rows:
        raise TableError(f"{file}: no demonstration in it; collect again")
    if any("facts" not in row for row in rows):
        raise TableError(f"{file}: written before demonstrations had facts; `collect do=export` writes it again")
    beside = file.parent / EPISODES
    tried = {(row.task_id, row.tool_mode) for row in read_episodes(beside)} if beside.is_file() else None
    return Demonstrations(
        name=file.parent.name or file.stem,
        header=header,
        rows=tuple(rows),
        tried=frozenset(tried) if tried is not None else None,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    return answer(lambda: _run(_parse(arguments)), mistakes=(UserError, ValueError))


def _run(args: argparse.Namespace) -> None:
    demonstrations = load(args.file)
    out = args.out or (args.file if args.file.is_dir() else args.file.parent) / "data_card"
    document = card(demonstrations, cap=args.cap)
    write(document, out)
    to_terminal(document, Console())
    print(f"data card: {out / 'report.html'}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command_parser("analysis.data", __doc__)
    parser.add_argument("file", type=Path, metavar="FILE", help="sft.jsonl, or the folder of a collect run")
    parser.add_argument("--cap", type=int, default=32768, help="tokens that a context holds (default 32768)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where it goes (default: data_card/ beside FILE)")
    return parse(parser, arguments)


def card(demonstrations: Demonstrations, *, cap: int) -> Document:
    lengths = demonstrations.lengths
    supervised = sum(count for reason, count in tokens_by_reason(demonstrations.rows).items() if reason in SUPERVISED)
    return Document(
        title=f"Demonstrations of {demonstrations.name}",
        summary=(
            f"{len(lengths)} demonstrations of {sum(lengths)} tokens; {percent(supervised / sum(lengths))} of them "
            "carry loss.",
            f"Made by {demonstrations.header.source}; rows hash to {demonstrations.header.sha256[:12]}.",
            _cap_reading(lengths, cap),
        ),
        sections=(
            _counts(demonstrations.rows),
            _coverage(demonstrations),
            _lengths(lengths, cap),
            _masks(demonstrations.rows),
        ),
    )


def _counts(rows: Sequence[Mapping[str, Any]]) -> Section:
    tables, figures = [], []
    for key, title in COUNTED.items():
        counts = Counter(row["facts"][key] or "none" for row in rows)
        shown = tuple((name, str(count), percent(count / len(rows))) for name, count in counts.most_common())
        tables.append(Table(title=f"By {title.lower()}", columns=(title, "demonstrations", "share"), rows=shown))
        caption = f"Demonstrations by {title.lower()}, n = {len(rows)}."
        figures.append(draw(f"by_{key}", caption, _bars(counts, "demonstrations"), height=1 + 0.35 * len(counts)))
    return Section(title="Counts", tables=tuple(tables), figures=tuple(figures), is_key=True)


def _bars(counts: Mapping[str, int], unit: str, colours: Mapping[str, str] | None = None) -> Callable[[Axes], None]:
    """Horizontal bars, the largest on top, each with its number."""
    names = sorted(counts, key=lambda name: counts[name])

    def plot(ax: Axes) -> None:
        bars = ax.barh(names, [counts[name] for name in names], color=[(colours or {}).get(n, BLUE) for n in names])
        ax.bar_label(bars, padding=3)
        ax.set_xlabel(unit)
        ax.grid(axis="y", visible=False)

    return plot


def coverage(rows: Sequence[Mapping[str, Any]]) -> dict[str, set[tuple[str, str]]]:
    """Pairs of task and tool mode with a clean demonstration, with one after a fault, with either."""
    found: dict[str, set[tuple[str, str]]] = {"clean": set(), "fault": set()}
    for row in rows:
        facts = row["facts"]
        found[facts["condition"]].add((facts["task_id"], facts["tool_mode"]))
    return {**found, "either": found["clean"] | found["fault"], "both": found["clean"] & found["fault"]}


def _coverage(demonstrations: Demonstrations) -> Section:
    found, tried = coverage(demonstrations.rows), demonstrations.tried
    rows = tuple(
        (name, str(len(pairs)), percent(len(pairs) / len(tried)) if tried else "unknown")
        for name, pairs in found.items()
    )
    tasks = {task_id for task_id, _ in found["either"]}
    reading = f"{len(tasks)} tasks in {len(found['either'])} pairs of task and tool mode"
    reading += f", of {len(tried)} pairs that were tried." if tried else "; no episodes.parquet beside the file."
    table = Table(
        title="Pairs of task and tool mode",
        columns=("demonstrated", "pairs", "of those tried"),
        rows=rows,
        readings=(reading,),
    )
    return Section(title="Coverage", tables=(table,), is_key=True)


def _cap_reading(lengths: Sequence[int], cap: int) -> str:
    over = sum(length > cap for length in lengths)
    return f"The longest has {max(lengths)} tokens; {over} of {len(lengths)} exceed the cap of {cap}."


def _lengths(lengths: Sequence[int], cap: int) -> Section:
    values = np.percentile(lengths, PERCENTILES)
    columns = ("percentile", "tokens", "of the cap")
    rows = tuple(
        (f"{level}%", f"{value:.0f}", percent(value / cap)) for level, value in zip(PERCENTILES, values, strict=True)
    )

    def plot(ax: Axes) -> None:
        ax.hist(lengths, bins=min(40, max(5, len(set(lengths)))), color=BLUE)
        if max(lengths) > cap / 4:
            ax.axvline(cap, color=ORANGE, linestyle="--", label=f"cap {cap}")
            ax.legend()
        ax.set_xlabel("tokens of a demonstration")
        ax.set_ylabel("demonstrations")

    return Section(
        title="Lengths",
        tables=(Table(title="Tokens of a demonstration", columns=columns, rows=rows),),
        figures=(draw("lengths", f"Lengths of {len(lengths)} demonstrations.", plot),),
        is_key=True,
    )


def tokens_by_reason(rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        for start, end, reason in row["spans"]:
            counts[reason] += end - start
    return counts


def _masks(rows: Sequence[Mapping[str, Any]]) -> Section:
    counts = tokens_by_reason(rows)
    spans = Counter(reason for row in rows for _, _, reason in row["spans"])
    total, sampled = sum(counts.values()), sum(counts.values()) - counts["context"]
    shown = tuple(
        (
            reason,
            "yes" if reason in SUPERVISED else "no",
            str(spans[reason]),
            str(count),
            percent(count / total),
            percent(count / sampled) if reason != "context" else "",
        )
        for reason, count in counts.most_common()
    )
    table = Table(
        title="Tokens by reason",
        columns=("reason", "loss", "spans", "tokens", "of all", "of what was sampled"),
        rows=shown,
    )
    colours = {reason: ORANGE for reason in counts if reason not in SUPERVISED}
    inside = {reason: count for reason, count in counts.items() if reason != "context"}
    caption = f"Sampled tokens by reason, n = {sampled}; blue carries loss, orange does not."
    figure = draw("masks", caption, _bars(inside, "tokens", colours), height=1 + 0.35 * len(inside))
    return Section(title="Masks", tables=(table,), figures=(figure,), is_key=True)


if __name__ == "__main__":
    sys.exit(main())
