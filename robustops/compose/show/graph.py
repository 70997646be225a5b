"""Draw a task's check graph: in the terminal as a table of levels, as HTML with arrows."""

from __future__ import annotations

import argparse
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from robustops.compose.show.options import add_task
from robustops.core.files import write_atomically
from robustops.core.listing import read_listing
from robustops.core.task import Check, CheckGraph
from robustops.data.task_set import TaskSet, graph_of, read_graphs

TIP = (
    '<defs><marker id=tip viewBox="0 0 10 10" refX=10 refY=5 markerWidth=8 markerHeight=8 orient=auto>'
    '<path d="M0 0L10 5L0 10z" class=tip /></marker></defs>'
)
STYLE = (
    ":root{color-scheme:light dark;--line:#0072b2;--box:#f4f4f4;--rim:#555}"
    "@media(prefers-color-scheme:dark){:root{--line:#56b4e9;--box:#26292e;--rim:#999}}"
    "body{font:15px/1.5 system-ui;margin:2em auto;max-width:75em;padding:0 1em}h2{font-size:1.1em}div{overflow-x:auto}"
    "svg text{font:13px system-ui;fill:currentColor}.index{font-weight:bold}"
    "rect{fill:var(--box);stroke:var(--rim)}"
    ".arrow{stroke:var(--line)}.tip{fill:var(--line)}code{font-size:12px;overflow-wrap:anywhere}li{margin:.4em 0}"
)
BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, MARGIN = 260, 58, 90, 22, 16
NAME_LENGTH = 34  # letters that a box is wide


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("--graphs", type=Path, metavar="FILE", help="as split.graphs; default: the task set's own")
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page instead")


def run(options: argparse.Namespace) -> None:
    task_set = TaskSet.load(options.tasks)
    task = task_set.task(options.task)
    path = options.graphs or options.tasks / "graphs.jsonl"
    graphs = read_graphs(path, task_set.split) if options.graphs else task_set.graphs
    graph, why = graph_of(task, graphs, path), evidence(path, task.task_id)
    if options.html is None:
        draw(Console(), task.request, task.checks, graph, why)
        return
    write_atomically(options.html, page(task.task_id, task.request, task.checks, graph, why).encode())
    print(options.html)


def evidence(path: Path, task_id: str) -> dict[tuple[int, int], str]:
    """Why each edge is there, where the file says so."""
    rows = [row for row in read_listing(path, kind="graphs")[1] if row["task_id"] == task_id]
    return {(e["edge"][0], e["edge"][1]): f"{e['rule']}: {e['why']}" for row in rows for e in row.get("evidence", ())}


def levels(graph: CheckGraph) -> list[list[int]]:
    """Checks by the length of the longest way to them."""
    depth = [0] * graph.num_checks
    for _ in range(graph.num_checks):  # the longest way has fewer steps than there are checks
        for parent, child in graph.edges:
            depth[child] = max(depth[child], depth[parent] + 1)
    return [[index for index in range(graph.num_checks) if depth[index] == level] for level in range(max(depth) + 1)]


def draw(
    console: Console, request: str, checks: Sequence[Check], graph: CheckGraph, why: Mapping[tuple[int, int], str]
) -> None:
    console.print(Text(request, style="bold"))
    table = Table("check", "name", "needs", "query", show_lines=False)
    for level, indices in enumerate(levels(graph)):
        for index in indices:
            needs = sorted(parent for parent, child in graph.edges if child == index)
            reasons = "\n".join(f"{parent}: {why[parent, index]}" for parent in needs if (parent, index) in why)
            shown = "\n".join(filter(None, (", ".join(map(str, needs)), reasons)))
            name = Text("  " * level + ("└ " if level else "") + checks[index].name)
            table.add_row(str(index), name, Text(shown), Text(_asked(checks[index])))
    console.print(table)


def _asked(check: Check) -> str:
    return f"{check.query} {check.comparison} {check.expected!r}"


def page(
    title: str, request: str, checks: Sequence[Check], graph: CheckGraph, why: Mapping[tuple[int, int], str]
) -> str:
    """One page without scripts; names and queries are escaped."""
    places = {
        index: (MARGIN + level * (BOX_WIDTH + GAP_X), MARGIN + row * (BOX_HEIGHT + GAP_Y))
        for level, indices in enumerate(levels(graph))
        for row, index in enumerate(indices)
    }
    width = max(x for x, _ in places.values()) + BOX_WIDTH + MARGIN
    height = max(y for _, y in places.values()) + BOX_HEIGHT + GAP_Y + MARGIN
    arrows = "".join(_arrow(places, edge, why.get(edge, "")) for edge in graph.edges)
    boxes = "".join(_box(places[check.index], check) for check in checks)
    reasons = "".join(_reason(checks, edge, why.get(edge, "no evidence is stored")) for edge in graph.edges)
    asked = "".join(
        f"<li value={c.index}>{html.escape(c.name)}<br><code>{html.escape(_asked(c))}</code>" for c in checks
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title><style>{STYLE}</style>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(request)}</p>"
        f"<h2>{len(checks)} checks, {len(graph.edges)} prerequisites</h2>"
        f'<div><svg width="{width}" height="{height}" role=img aria-label="check graph">'
        f"{TIP}{arrows}{boxes}</svg></div>"
        "<p>An arrow leads from a prerequisite to the check that cannot count without it.</p>"
        f"<ul>{reasons}</ul><h2>What each check asks</h2><ol>{asked}</ol></html>\n"
    )


def _reason(checks: Sequence[Check], edge: tuple[int, int], why: str) -> str:
    parent, child = (f"{index} {checks[index].name}" for index in edge)
    return f"<li>{html.escape(parent)} → {html.escape(child)}: {html.escape(why)}"


def _arrow(places: Mapping[int, tuple[int, int]], edge: tuple[int, int], why: str) -> str:
    """Straight to the next column; past other columns it runs between two rows, so that it crosses no box."""
    (x1, y1), (x2, y2) = places[edge[0]], places[edge[1]]
    points = [(x1 + BOX_WIDTH, y1 + BOX_HEIGHT // 2), (x2, y2 + BOX_HEIGHT // 2)]
    if x2 - x1 > BOX_WIDTH + GAP_X:
        lane = y2 + BOX_HEIGHT + GAP_Y // 2
        points[1:1] = [(x1 + BOX_WIDTH + GAP_X // 2, lane), (x2 - GAP_X // 2, lane)]
    line = "L".join(f"{x},{y}" for x, y in points)
    return (
        f'<path d="M{line}" class=arrow stroke-width=2 fill=none marker-end="url(#tip)">'
        f"<title>{html.escape(why)}</title></path>"
    )


def _box(place: tuple[int, int], check: Check) -> str:
    x, y = place
    name = check.name if len(check.name) <= NAME_LENGTH else check.name[: NAME_LENGTH - 1] + "…"
    return (
        f'<g><title>{html.escape(_asked(check))}</title><rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}"'
        f' rx=6 /><text x="{x + 10}" y="{y + 24}" class=index>{check.index}</text>'
        f'<text x="{x + 10}" y="{y + 44}">{html.escape(name)}</text></g>'
    )
