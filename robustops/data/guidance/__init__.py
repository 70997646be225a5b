"""What a teacher is told besides the task: messages in, messages out. The texts are beside this.

Guidance stands at the end of the system message, for the teacher's eyes alone: the tokens of an episode, and so every
count and every exported sample, are those of the prompt without it. Knows no task, no check and no fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from robustops.agent.policy import Message, Policy, Prompt, Sample, Sampling

_FOLDER = Path(__file__).resolve().parent
EXECUTION = (_FOLDER / "execution.md").read_text(encoding="utf-8").strip()
RECOVERY = (_FOLDER / "recovery.md").read_text(encoding="utf-8").strip()
SEPARATOR = "\n\n"


def guided(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """The same conversation with `text` at the end of its system message. Raises ValueError where there is none."""
    first, *others = messages
    if first["role"] != "system":
        raise ValueError(f"guidance belongs into a system message; the conversation starts with {first['role']!r}")
    return ({**first, "content": f"{first['content']}{SEPARATOR}{text}"}, *others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guided:
    """A policy that sees its prompts with guidance. Their token ids, which are what is recorded, stay without it."""

    policy: Policy
    text: str

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        return await self.policy.act(replace(prompt, messages=guided(prompt.messages, self.text)), sampling)

    async def close(self) -> None:
        await self.policy.close()
