"""A codec of one token per character and small policies for the desk, for tests that need no model."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from robustops.agent import hermes
from robustops.agent.hermes import Decision
from robustops.agent.policy import Message, Prompt, Sample, Sampling
from robustops.core.episode import ToolCall, ToolResult
from robustops.core.task import Task, ToolSchema

END = "<|im_end|>"


@dataclass(frozen=True)
class DeskOpening:
    messages: tuple[Message, ...]
    token_ids: tuple[int, ...]


class DeskCodec:
    """Token ids are code points, so that a prompt can be read."""

    def start(self, task: Task, tools: Sequence[ToolSchema]) -> DeskOpening:
        system = task.policy + "\n" + "\n".join(tool.name for tool in tools)
        messages = ({"role": "system", "content": system}, {"role": "user", "content": task.request})
        return DeskOpening(messages=messages, token_ids=self.encode(f"{system}\n{task.request}\n"))

    def parse(self, text: str) -> Decision:
        return hermes.parse(text.removesuffix(END))

    def assistant_message(self, decision: str) -> Message:
        return {"role": "assistant", "content": decision}

    def tool_message(self, result: ToolResult) -> Message:
        return {"role": "tool", "content": result.text}

    def continuation(self, sampled_ids: Sequence[int], result: ToolResult) -> tuple[int, ...]:
        return self.encode(f"\n[{result.text}]\n")

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))


def call_text(tool: str, /, **arguments: Any) -> str:
    return hermes.write_decision(call=ToolCall(name=tool, arguments=arguments), content="")


@dataclass
class DeskPolicy:
    """Says what `decide` makes of a prompt; keeps every prompt and sampling it was given.

    `yields`: how often it lets others run before it answers, to mix up the order of finishing.
    """

    decide: Callable[[Prompt], str]
    yields: Callable[[Prompt], int] = lambda prompt: 0
    weight_version: int = 7
    prompts: list[Prompt] = field(default_factory=list)
    samplings: list[Sampling] = field(default_factory=list)

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        self.prompts.append(prompt)
        self.samplings.append(sampling)
        for _ in range(self.yields(prompt)):
            await asyncio.sleep(0)
        text = self.decide(prompt)
        if not text.endswith("</tool_call>"):
            text += END
        ids = tuple(map(ord, text))
        cut = ids[: sampling.max_tokens]
        return Sample(
            token_ids=cut,
            logprobs=(-0.5,) * len(cut),
            text="".join(map(chr, cut)),
            finish="stop" if len(cut) == len(ids) else "length",
            weight_version=self.weight_version,
            cached_tokens=1,
        )

    async def close(self) -> None:
        pass


def replies(prompt: Prompt) -> list[str]:
    return [message["content"] for message in prompt.messages if message["role"] == "tool"]


def wish(prompt: Prompt) -> tuple[str, str]:
    """Account and title, from the request."""
    account, title = prompt.messages[1]["content"].removeprefix("Open a case for ").split(" about: ")
    return account, title


def careful(prompt: Prompt) -> str:
    """Looks the account up, opens the case, retries what was not executed and reads back what is uncertain."""
    return _solve(prompt, is_careful=True)


def careless(prompt: Prompt) -> str:
    """The same, but takes any error for a failure and simply tries again."""
    return _solve(prompt, is_careful=False)


def _solve(prompt: Prompt, *, is_careful: bool) -> str:
    account, title = wish(prompt)
    account_id: int | None = None
    is_done, is_uncertain = False, False
    for text in replies(prompt):
        value = _json(text)
        rows = value if isinstance(value, list) else [value]
        if any("title" in row and row["title"] == title for row in rows if isinstance(row, dict)):
            is_done = True
        elif isinstance(value, dict) and "timeout" in str(value.get("error")):
            is_uncertain = True
        elif isinstance(value, dict) and value.get("name") == account:
            account_id = value["account_id"]
        elif isinstance(value, list):
            is_uncertain = False
    if is_done:
        return "Done."
    if account_id is None:
        return call_text("find_account", name=account)
    if is_uncertain and is_careful:
        return call_text("list_cases", account_id=account_id)
    return call_text("create_case", account_id=account_id, title=title)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None
