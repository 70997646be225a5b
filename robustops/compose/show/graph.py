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
from robustops.core.tables import read_listing, write_atomically
from robustops.core.task import Check, CheckGraph
from robustops.data.task_set import TaskSet, graph_of, read_graphs

TIP = (
    '<defs><marker id=tip viewBox="0 0 10 10" refX=10 refY=5 markerWidth=8 markerHeight=8 orient=auto>'
    '<path d="M0 0L10 5L0 10z" fill="#0072b2"/></marker></defs>'
)
BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, MARGIN = 260, 58, 90, 22, 16


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
    height = max(y for _, y in places.values()) + BOX_HEIGHT + MARGIN
    arrows = "".join(_arrow(places, edge, why.get(edge, "")) for edge in graph.edges)
    boxes = "".join(_box(places[check.index], check) for check in checks)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
        "<style>body{font:15px system-ui;margin:2em}svg text{font:13px system-ui}</style>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(request)}</p>"
        f'<svg width="{width}" height="{height}" role=img aria-label="check graph">{TIP}{arrows}{boxes}</svg>'
        "<p>An arrow leads from a prerequisite to the check that cannot count without it.</p></html>\n"
    )


def _arrow(places: Mapping[int, tuple[int, int]], edge: tuple[int, int], why: str) -> str:
    (x1, y1), (x2, y2) = places[edge[0]], places[edge[1]]
    start, end = f"{x1 + BOX_WIDTH},{y1 + BOX_HEIGHT // 2}", f"{x2},{y2 + BOX_HEIGHT // 2}"
    return (
        f'<path d="M{start}L{end}" stroke="#0072b2" stroke-width=2 fill=none marker-end="url(#tip)">'
        f"<title>{html.escape(why)}</title></path>"
    )


def _box(place: tuple[int, int], check: Check) -> str:
    x, y = place
    return (
        f'<g><title>{html.escape(_asked(check))}</title><rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}"'
        f' rx=6 fill="#f4f4f4" stroke="#555"/><text x="{x + 10}" y="{y + 24}" font-weight=bold>{check.index}</text>'
        f'<text x="{x + 10}" y="{y + 44}">{html.escape(check.name[:36])}</text></g>'
    )
