"""What a reader must find: the rows of hf.jsonl as they stand in the file. Plain Python, for every environment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Chat = list[tuple[str, str, tuple[tuple[str, str], ...]]]  # role, text, calls as name and arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    source: str
    chat: Chat
    tools: tuple[str, ...]
    token_ids: list[int]
    mask: list[int]


def expected(folder: Path) -> list[Expected]:
    with (folder / "hf.jsonl").open(encoding="utf-8") as file:
        return [_row(json.loads(line)) for line in file]


def _row(row: Mapping[str, Any]) -> Expected:
    mask = [0] * len(row["token_ids"])
    for span in row["spans"]:
        mask[span["start"] : span["end"]] = [int(span["weight"] > 0)] * (span["end"] - span["start"])
    definitions = json.loads(row["tools"]) if row["tools"] else []
    return Expected(
        source=row["source"],
        chat=chat(row["messages"]),
        tools=tuple(tool["function"]["name"] for tool in definitions),
        token_ids=row["token_ids"],
        mask=mask,
    )


def chat(messages: Sequence[Mapping[str, Any]]) -> Chat:
    return [(message["role"], message["content"], tuple(_calls(message))) for message in messages]


def _calls(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"], sorted_json(call["function"]["arguments"])


def sorted_json(arguments: str | Mapping[str, Any]) -> str:
    """Text and object alike, so that the order of keys does not matter."""
    return json.dumps(json.loads(arguments) if isinstance(arguments, str) else arguments, sort_keys=True)


def is_start(longer: Sequence[int], token_ids: Sequence[int]) -> bool:
    """Templates may end the last message with a line break, which nobody sampled."""
    return list(longer[: len(token_ids)]) == list(token_ids) and len(longer) - len(token_ids) <= 1


def report(reader: str, **found: object) -> None:
    print(json.dumps({"reader": reader, **found}))
