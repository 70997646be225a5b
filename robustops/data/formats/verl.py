"""verl's Parquet: `messages` for its multi-turn SFT, and the columns of its RL data sets beside them.

`prompt` is the opening, `extra_info` names the task. No check, expected value or graph is in a row: `ground_truth` is
the task's id, which the reward function looks up.

verl hands a column `tools` to the template as it is, and one of objects would give each tool the parameters of all. So
there is none: the system message holds the tools as the student's template renders them, and `tool_definitions` and
`policy`, which verl does not read, hold what it was rendered from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from robustops.core.errors import TableError
from robustops.core.files import write_atomically
from robustops.data.conversation import Conversation, arguments_as_object, arguments_as_text
from robustops.data.formats.beside import dump_sample, load_sample, loaded

DATA_SOURCE = "robustops"
_FUNCTION = pa.struct([("name", pa.string()), ("arguments", pa.string())])
_MESSAGE = pa.struct(
    [
        ("role", pa.string()),
        ("content", pa.string()),
        ("reasoning_content", pa.string()),
        ("tool_calls", pa.list_(pa.struct([("type", pa.string()), ("function", _FUNCTION)]))),
    ]
)
_FACTS = pa.struct([(name, pa.string()) for name in ("task_id", "domain", "tool_mode", "condition", "fault")])
_SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("reason", pa.string()), ("weight", pa.float64())])
SCHEMA = pa.schema(
    [
        ("data_source", pa.string()),
        ("ability", pa.string()),
        ("prompt", pa.list_(_MESSAGE)),
        ("messages", pa.list_(_MESSAGE)),
        ("tool_definitions", pa.string()),
        ("policy", pa.string()),
        ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.string())])),
        ("extra_info", pa.struct([("index", pa.int64()), ("split", pa.string()), ("model", pa.string())])),
        ("source", pa.string()),
        ("token_ids", pa.list_(pa.int64())),
        ("spans", pa.list_(_SPAN)),
        ("facts", _FACTS),
    ]
)


def dump(conversation: Conversation, index: int = 0) -> dict[str, Any]:
    system, *rest = (arguments_as_text(message) for message in conversation.messages)
    messages = [system | {"content": _rendered(conversation)}, *rest]
    opening = next((at for at, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    facts = conversation.sample.facts
    return {
        "data_source": DATA_SOURCE,
        "ability": facts.domain,
        "prompt": messages[:opening],
        "messages": messages,
        "tool_definitions": json.dumps(list(conversation.tools), ensure_ascii=False),
        "policy": system["content"],
        "reward_model": {"style": "rule", "ground_truth": facts.task_id},
        "extra_info": {"index": index, "split": "train", "model": conversation.model},
        **dump_sample(conversation.sample),
    }


def _rendered(conversation: Conversation) -> str:
    """Raises ValueError where tools would be lost."""
    if conversation.rendered_system:
        return conversation.rendered_system
    if conversation.tools:
        raise ValueError(f"{conversation.sample.source}: tools, but no system message that holds them")
    return str(conversation.messages[0]["content"])


def load(row: Mapping[str, Any]) -> Conversation:
    system, *rest = (arguments_as_object(message) for message in row["messages"])
    return Conversation(
        sample=load_sample(row),
        messages=(system | {"content": row["policy"]}, *rest),
        tools=tuple(json.loads(row["tool_definitions"])),
        model=row["extra_info"]["model"],
        rendered_system=system["content"],
    )


def write(path: Path, conversations: Sequence[Conversation]) -> None:
    rows = [dump(conversation, index) for index, conversation in enumerate(conversations)]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), sink)
    write_atomically(path, sink.getvalue().to_pybytes())


def read(path: Path) -> list[Conversation]:
    try:
        rows = pq.read_table(path).to_pylist()
    except pa.ArrowInvalid as error:
        raise TableError(f"{path}: not a Parquet file ({error})") from error
    return [loaded(row, load, f"{path}, row {number}") for number, row in enumerate(rows)]
