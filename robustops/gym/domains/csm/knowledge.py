"""Searching knowledge articles: filters choose rows, the search text orders them, no row is dropped for no match.

The score is a reconstruction from recorded replies (80 of 89 recorded scores exactly, the others within 9 points):
good for the order, not for the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from robustops.gym.domain import Domain, Tool
from robustops.gym.operations.filters import Filters
from robustops.gym.operations.kind import Call, Kind, Operation
from robustops.gym.operations.rows import RowShape, rows_schema

TITLE_TOKEN, BODY_TOKEN = 5, 1
TITLE_PAIR, BODY_PAIR = 15, 4
TITLE_TRIPLE, BODY_TRIPLE = 20, 5
TITLE_NUMBER = 3
TITLE_PHRASE, BODY_PHRASE = 68, 37
PUBLISHED = 0.5


def score(search_text: str, *, title: str, body: str, state: str) -> float:
    """How well an article fits; 0.5 for a published one without any match."""
    query, title, body = search_text.lower(), title.lower(), body.lower()
    tokens = re.findall(r"\w+", query)
    # In titles each punctuation mark becomes one space, so that ` & ` separates a pair; in bodies runs collapse.
    title_words, body_words = re.sub(r"[^\w\s]", " ", title), re.sub(r"[\W_]+", " ", body)
    total = 0.0
    for token in tokens:
        total += TITLE_TOKEN * title.count(token) + BODY_TOKEN * body.count(token)
        if token.isdigit() and token in title and re.search(rf"\b{token}\b", body):
            total += TITLE_NUMBER
    for length, in_title, in_body in ((2, TITLE_PAIR, BODY_PAIR), (3, TITLE_TRIPLE, BODY_TRIPLE)):
        for phrase in _phrases(tokens, length):
            total += in_title * (phrase in title_words) + in_body * (phrase in body_words)
    if phrase := query.strip():
        total += TITLE_PHRASE * (phrase in title) + BODY_PHRASE * (phrase in body)
    return total + (PUBLISHED if state == "published" else 0.0)


def _phrases(tokens: Sequence[str], length: int) -> list[str]:
    return [" ".join(tokens[start : start + length]) for start in range(len(tokens) - length + 1)]


def _search(domain: Domain, tool: Tool) -> Operation:
    shape = RowShape(domain, tool.table, tool.reply)
    filters = Filters(domain, tool.table, [param for param in tool.params if param.columns])
    head = f"SELECT {shape.columns} FROM knowledge"
    tail = " ORDER BY sys_created_on DESC, knowledge_id"

    def run(call: Call, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
        where = filters.where(call, arguments)
        rows = call.database.rows(head + where.text + tail, where.values)
        found = [shape.show(row) for row in rows]
        if search_text := arguments.get("search_text"):
            for article in found:
                article["score"] = score(
                    search_text, title=article["title"] or "", body=article["body"] or "", state=article["state"]
                )
            found.sort(key=lambda article: -article["score"])  # stable: newest first within a score
        limit = arguments.get("limit")
        return found if limit is None else found[: max(limit, 0)]

    return run


def _output(tool: Tool) -> dict[str, Any]:
    schema = rows_schema(tool.table, tool.reply)
    relevance = {"type": "number", "description": "How well the article fits the search text, if there is one."}
    schema["items"]["properties"] = {**schema["items"]["properties"], "score": relevance}
    return schema


SEARCH_KNOWLEDGE = Kind(compile=_search, output=_output)
