"""Edges by a language model: the same sources as the rules in, prerequisites with their evidence out.

An edge that the model is not certain of, or gives no reason for, is left out. A graph with an unknown check, a
self-edge or a cycle is refused as a whole, by name: a model that makes one has not understood the task.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from robustops.core.task import CheckGraph
from robustops.data.graphs.found import FoundGraph, checked
from robustops.data.graphs.rules import Edge
from robustops.data.graphs.source import GraphSource
from robustops.llm.completion import Completion

MAX_TOKENS = 4096
_SYSTEM = (
    "You are given a task for an assistant that works through tools, and the SQL checks that judge the final "
    "database. Find necessary prerequisites between the checks: an edge says that the second check cannot truly be met "
    "unless the first one passes, because the record it speaks of must first exist or be changed. Order of work alone, "
    "a shared topic, or two fields of one record are no edge; a check that nothing else was changed has none. Leave "
    "out what you are not certain of; no edge at all is a good answer. Answer with one JSON object and nothing else: "
    '{"edges": [{"parent": <index>, "child": <index>, "certain": true or false, "why": "which shared record, and where '
    'both checks name it"}]}'
)


async def ask_graph(source: GraphSource, completion: Completion) -> FoundGraph:
    """A reply that holds no graph refuses this task's alone: what the others' answers cost is not lost."""
    messages = ({"role": "system", "content": _SYSTEM}, {"role": "user", "content": question(source)})
    reply = await completion.complete(messages, temperature=0.0, max_tokens=MAX_TOKENS)
    num_checks = len(source.checks)
    try:
        edges = list(_edges(read_answer(reply.text)))
    except ValueError as error:
        graph = CheckGraph(num_checks=num_checks)
        return FoundGraph(task_id=source.task_id, graph=graph, refused=str(error))
    return checked(source.task_id, num_checks, edges)


def question(source: GraphSource) -> str:
    """All that the model is told."""
    schema = {
        name: {"key": table.key, "columns": list(table.columns), "references": dict(table.references)}
        for name, table in source.schema.items()
    }
    checks = [
        {
            "index": check.index,
            "name": check.name,
            "query": check.query,
            "comparison": check.comparison,
            "expected": check.expected,
        }
        for check in source.checks
    ]
    parts = {"policy": source.policy, "request": source.request, "tools": source.tools, "checks": checks}
    return json.dumps({**parts, "schema": schema}, ensure_ascii=False, indent=1, default=str)


def read_answer(text: str) -> list[Mapping[str, Any]]:
    """The edges as the model wrote them, from the last JSON object that has any. Raises ValueError without one."""
    decoder = json.JSONDecoder()
    for match in reversed(list(re.finditer(r"\{", text))):
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("edges"), list):
            return [edge for edge in value["edges"] if isinstance(edge, dict)]
    raise ValueError(f"the reply holds no edges: {text[:200]!r}")


def _edges(answer: list[Mapping[str, Any]]) -> Iterator[Edge]:
    seen = set()
    for edge in answer:
        parent, child, why = edge.get("parent"), edge.get("child"), str(edge.get("why") or "").strip()
        if edge.get("certain") is not True or not why or type(parent) is not int or type(child) is not int:
            continue
        if (parent, child) not in seen:
            seen.add((parent, child))
            yield Edge(parent=parent, child=child, rule="model", why=why)
