"""Hugging Face's conversational rows, JSON Lines: `messages` and `tools`, as TRL and most trainers read them.

Arguments and tool definitions are JSON text: their objects differ from row to row, and Arrow would give each the keys
of all. TRL's SFTTrainer reads `tools` in that form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from robustops.core.json_lines import write_lines
from robustops.data.conversation import Conversation, arguments_as_object, arguments_as_text
from robustops.data.formats.beside import dump_sample, load_sample, read_rows


def dump(conversation: Conversation) -> dict[str, Any]:
    return {
        "messages": [arguments_as_text(message) for message in conversation.messages],
        "tools": json.dumps(list(conversation.tools), ensure_ascii=False) if conversation.tools else None,
        "model": conversation.model,
        **dump_sample(conversation.sample),
    }


def load(row: Mapping[str, Any]) -> Conversation:
    return Conversation(
        sample=load_sample(row),
        messages=tuple(arguments_as_object(message) for message in row["messages"]),
        tools=tuple(json.loads(row["tools"])) if row["tools"] else (),
        model=row["model"],
    )


def write(path: Path, conversations: Sequence[Conversation]) -> None:
    write_lines(path, map(dump, conversations))


def read(path: Path) -> list[Conversation]:
    return read_rows(path, load)
