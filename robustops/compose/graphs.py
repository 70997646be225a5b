"""Check graphs for a task set: by rule, or by asking `model.api`; compared with the known ones where there are any."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from robustops.compose.completion import build_completion
from robustops.compose.progress import progress
from robustops.compose.tasks import open_task_set
from robustops.config import RunConfig
from robustops.core.listing import set_name, write_listing
from robustops.core.task import Part
from robustops.data.graphs.ask import ask_graph
from robustops.data.graphs.found import FoundGraph, checked, compare
from robustops.data.graphs.rules import rule_edges
from robustops.data.graphs.source import GraphSource, source_of
from robustops.data.task_set import TaskSet
from robustops.data.tasks import DOMAIN_OF_SERVER
from robustops.gym.domain import Domain
from robustops.gym.domains import FOLDERS, load_domain
from robustops.rollout.concurrency import run_bounded

GRAPHS = "graphs.jsonl"


def make_graphs(config: RunConfig, folder: Path) -> None:
    """Write `graphs.jsonl` for every runnable task, or with split.limit for a sample of split.part."""
    task_set = open_task_set(config)
    sources = [source_of(task_set.task(task_id), declared_domain) for task_id in chosen(config, task_set)]
    found = asyncio.run(_asked(config, sources)) if config.graphs.kind == "llm" else list(_ruled(sources))
    path = folder / GRAPHS
    source = f"{config.graphs.kind}, {config.model.api.model}" if config.graphs.kind == "llm" else "rules"
    of_set = set_name(config.split.name, task_set.split.sha256)
    write_listing(path, [item.row() for item in found], kind="graphs", split=of_set, source=source)
    print(_summary(found, task_set, path), flush=True)


def chosen(config: RunConfig, task_set: TaskSet) -> list[str]:
    if config.split.limit is not None:
        part = cast(Part, config.split.part)
        return list(task_set.split.select(part, limit=config.split.limit, seed=config.seed))
    return [entry.task_id for entry in task_set.split.entries.values() if entry.runnable]


@cache
def declared_domain(server: str) -> Domain | None:
    """None for a server whose tables are not declared here."""
    name = DOMAIN_OF_SERVER.get(server, "")
    return load_domain(name) if name in FOLDERS else None


def _ruled(sources: Sequence[GraphSource]) -> Iterator[FoundGraph]:
    with progress("graphs") as report:
        for number, source in enumerate(sources, start=1):
            yield checked(source.task_id, len(source.checks), rule_edges(source))
            report(number, len(sources), "")


async def _asked(config: RunConfig, sources: Sequence[GraphSource]) -> list[FoundGraph]:
    completion = build_completion(config)
    done = 0
    with progress("graphs") as report:

        async def ask(source: GraphSource) -> FoundGraph:
            nonlocal done
            found = await ask_graph(source, completion)
            done += 1
            report(done, len(sources), f"${completion.spend.cost_usd:.2f}")
            return found

        try:
            return await run_bounded(sources, ask, concurrency=config.model.api.concurrency)
        finally:
            await completion.close()


def _summary(found: Sequence[FoundGraph], task_set: TaskSet, path: Path) -> str:
    refused = [item for item in found if item.refused]
    edges = sum(len(item.graph.edges) for item in found)
    lines = [
        f"{len(found)} graphs, {sum(bool(item.graph.edges) for item in found)} with edges ({edges} in all); {path}"
    ]
    if task_set.graphs:
        lines.append(f"against the graphs of the task set: {compare(found, task_set.graphs).reading()}")
    lines += [f"refused: {item.task_id}: {item.refused}" for item in refused]
    return "\n".join(lines)
