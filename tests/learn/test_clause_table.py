"""docs/algorithms.md names only tests and mutations that exist, and every applied mutation is named there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from mutations import MUTATIONS

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (?P<clause>.+?) \| `(?P<test>tests/\S+\.py::\w+)` \| (?P<mutation>.+?) \|$")
TABLES = ("## Clauses", "## Defects seen elsewhere")


def table_lines() -> list[str]:
    """The body rows of the two tables of clauses, whatever they look like."""
    found: list[str] = []
    for part in (ROOT / "docs" / "algorithms.md").read_text().split("\n## ")[1:]:
        if part.splitlines()[0] in [title.removeprefix("## ") for title in TABLES]:
            found += [line for line in part.splitlines() if line.startswith("|")][2:]
    return found


LINES = table_lines()


@cache
def names_in(path: str) -> frozenset[str]:
    if not (ROOT / path).is_file():
        return frozenset()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, functions))


@pytest.mark.parametrize("line", LINES)
def test_row_names_a_test_that_exists_and_a_mutation(line: str) -> None:
    row = ROW.match(line)
    assert row is not None, f"not a row of clause, test and mutation: {line}"
    path, test = row["test"].split("::")
    assert test in names_in(path), f"{row['clause']}: no {test} in {path}"
    if row["mutation"].startswith("*"):
        mutation = MUTATIONS[row["mutation"].strip("*")]
        assert mutation.test == row["test"]


def test_every_applied_mutation_is_in_the_table() -> None:
    named = {row["mutation"].strip("*") for row in map(ROW.match, LINES) if row and row["mutation"].startswith("*")}
    assert named == set(MUTATIONS)


def test_both_tables_were_found() -> None:
    assert len(LINES) > 60
