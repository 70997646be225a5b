"""Edges by rule: a task's checks and schema in, prerequisites with their evidence out. What is uncertain is left out.

Only checks that ask for something to be there take part; a guard (nothing else changed) depends on nothing. A parent's
row must be one that the task makes: one of its tools creates rows of that table.

- lookup: the child goes through rows of the parent's table, and names them by the parent's own conditions.
- foreign key: both name the same key, in the child as a declared reference to the parent's table; the key stands in no
  text of the task, and no tool changes such rows, so that the row can only be a new one. Its key must be one that is
  counted up (7, INC_007): a check cannot know the random key of a row that is yet to be made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from robustops.data.graphs.source import GraphSource, IndexedCheck
from robustops.data.graphs.sql import Equal, Rows, Statement, read

_CREATES = frozenset(
    ("add", "book", "create", "enlist", "import", "insert", "new", "open", "post", "register", "schedule", "upload")
)
_CHANGES = frozenset(("assign", "change", "close", "edit", "modify", "move", "patch", "set", "update"))

_COUNTED = re.compile(r"(?:[A-Za-z]+_)?\d{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """`child` cannot count unless `parent` passes."""

    parent: int
    child: int
    rule: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    check: IndexedCheck
    statement: Statement


def rule_edges(source: GraphSource) -> list[Edge]:
    """In the order of the checks, at most one for each pair.

    Where several checks speak of one parent row, only the one whose conditions all the others contain is known to be
    a prerequisite; without such a one, none is.
    """
    found = [_Read(check=check, statement=s) for check in source.checks if (s := read(check.query)) is not None]
    wanted = [item for item in found if asks_for_something(item.check.comparison, item.check.expected)]
    edges = []
    for child in wanted:
        candidates: dict[str, list[tuple[_Read, Edge]]] = {}
        for parent in wanted:
            if parent.check.index == child.check.index or parent.statement.num_unread:
                continue
            edge = next(_edges(parent, child, source), None)
            if edge is not None:
                candidates.setdefault(parent.statement.main.table, []).append((parent, edge))
        edges += [edge for rivals in candidates.values() for edge in _weakest(rivals)]
    return sorted(edges, key=lambda edge: (edge.parent, edge.child))


def _weakest(rivals: list[tuple[_Read, Edge]]) -> list[Edge]:
    """The edge from the check that asks for least, if it is one."""
    conditions = [_conditions(parent.statement) for parent, _ in rivals]
    least = [
        edge for (_, edge), own in zip(rivals, conditions, strict=True) if all(own <= other for other in conditions)
    ]
    return least[:1]


def _conditions(statement: Statement) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (rows.table, item.column, item.value) for rows in (statement.main, *statement.through) for item in rows.where
    )


def asks_for_something(comparison: str, expected: Any) -> bool:
    """False for a guard, which holds before anything was done: nothing counted, or fewer than a limit."""
    if comparison == "less_than":
        return False
    is_nothing = expected in (0, "0", None, False, [], "")
    return comparison == "greater_than" or not is_nothing


def _edges(parent: _Read, child: _Read, source: GraphSource) -> Iterator[Edge]:
    rows = parent.statement.main
    if not rows.where or not _is_made(rows.table, source, _CREATES):
        return
    above, below = parent.check.index, child.check.index
    for through in child.statement.through:
        if through.table == rows.table and _names_the_same(through, rows, source):
            shown = ", ".join(f"{item.column} = {item.value}" for item in sorted(through.where & rows.where))
            yield Edge(
                parent=above, child=below, rule="lookup", why=f"goes through the row of {rows.table} with {shown}"
            )
    for item in _shared_key(rows, child.statement.main, source):
        why = f"its {item.column} {item.value} is the key of the new row of {rows.table}"
        yield Edge(parent=above, child=below, rule="foreign key", why=why)


def _names_the_same(through: Rows, rows: Rows, source: GraphSource) -> bool:
    """One's conditions contain the other's, and they single a row out by something else than its key.

    A row whose key is known was there before; a lone number is a flag that many rows share.
    """
    info = source.schema.get(rows.table)
    shared = through.where & rows.where
    if info is not None and any(item.column == info.key for item in through.where | rows.where):
        return False
    is_telling = len(shared) > 1 or any(not item.value.lstrip("-").replace(".", "").isdigit() for item in shared)
    return is_telling and (through.where <= rows.where or rows.where <= through.where)


def _shared_key(rows: Rows, other: Rows, source: GraphSource) -> Iterator[Equal]:
    parent, child = source.schema.get(rows.table), source.schema.get(other.table)
    if parent is None or child is None or rows.table == other.table or _is_made(rows.table, source, _CHANGES):
        return
    keys = {item.value for item in rows.where if item.column == parent.key and _COUNTED.fullmatch(item.value)}
    for item in sorted(other.where):
        is_reference = child.references.get(item.column) == rows.table
        if is_reference and item.value in keys and not _is_stated(item.value, source):
            yield item


def _is_stated(value: str, source: GraphSource) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", f"{source.policy}\n{source.request}") is not None


def _is_made(table: str, source: GraphSource, verbs: frozenset[str]) -> bool:
    """Whether a tool's name says that it does this to rows of the table: a verb, and a word of the table's name."""
    nouns = {_singular(word) for word in table.casefold().split("_")}
    for tool in source.tools:
        words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool).casefold())
        if verbs.intersection(words) and nouns.intersection(map(_singular, words)):
            return True
    return False


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
