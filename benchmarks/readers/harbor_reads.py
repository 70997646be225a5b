"""Harbor's ATIF models on atif.jsonl: a row that they refuse ends this. Runs where the package `harbor` lies."""

from __future__ import annotations

import sys
from pathlib import Path

from expected import Chat, expected, report, sorted_json
from harbor.models.trajectories import Step, Trajectory

ROLES = {"system": "system", "user": "user", "agent": "assistant"}


def chat_of(steps: list[Step]) -> Chat:
    found: Chat = []
    for step in steps:
        calls = tuple((call.function_name, sorted_json(call.arguments)) for call in step.tool_calls or ())
        found.append((ROLES[step.source], str(step.message), calls))
        if step.observation is not None:
            found += [("tool", str(result.content), ()) for result in step.observation.results]
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = expected(folder)
    with (folder / "atif.jsonl").open(encoding="utf-8") as file:
        rows = [Trajectory.model_validate_json(line) for line in file]
    same_chats = same_ids = same_tools = 0
    for row, want in zip(rows, wanted, strict=True):
        same_chats += chat_of(row.steps) == want.chat
        definitions = row.agent.tool_definitions or []
        same_tools += tuple(tool["function"]["name"] for tool in definitions) == want.tools
        metrics = [step.metrics for step in row.steps if step.metrics is not None]
        same_ids += all(
            item.completion_token_ids
            == want.token_ids[item.prompt_tokens : item.prompt_tokens + item.completion_tokens]
            for item in metrics
        )
    report("harbor Trajectory", rows=len(rows), same_chats=same_chats, same_tools=same_tools, same_sampled_ids=same_ids)


if __name__ == "__main__":
    main()
