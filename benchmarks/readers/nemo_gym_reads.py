"""NeMo Gym's own models on nemo_gym.jsonl: a row that they refuse ends this. Runs where the package `nemo_gym` lies."""

from __future__ import annotations

import sys
from pathlib import Path

from expected import Chat, expected, report, sorted_json
from nemo_gym.base_resources_server import BaseVerifyResponse


def chat_of(row: BaseVerifyResponse) -> Chat:
    """Words and the call behind them are two items there and one message here."""
    found: Chat = [(item.role, item.content, ()) for item in row.responses_create_params.input]
    words: str | None = None
    for item in row.response.output:
        if item.type == "message":
            if words is not None:
                found.append(("assistant", words, ()))
            words = item.content[0].text
        elif item.type == "function_call":
            found.append(("assistant", words or "", ((item.name, sorted_json(item.arguments)),)))
            words = None
        elif item.type == "function_call_output":
            if words is not None:
                found.append(("assistant", words, ()))
                words = None
            found.append(("tool", item.output, ()))
    return found if words is None else [*found, ("assistant", words, ())]


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = expected(folder)
    with (folder / "nemo_gym.jsonl").open(encoding="utf-8") as file:
        rows = [BaseVerifyResponse.model_validate_json(line) for line in file]
    same_chats = same_tools = 0
    for row, want in zip(rows, wanted, strict=True):
        same_chats += chat_of(row) == want.chat
        same_tools += tuple(tool["name"] for tool in row.responses_create_params.tools) == want.tools
    report("NeMo Gym BaseVerifyResponse", rows=len(rows), same_chats=same_chats, same_tools=same_tools)


if __name__ == "__main__":
    main()
