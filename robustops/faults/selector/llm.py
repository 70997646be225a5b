"""The selector that asks a language model: a task's evidence in, checked candidates out. Prompts are files beside it.

A reply that is not exactly what was asked for is sent back with the reason, a bounded number of times.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robustops.core.errors import PolicyError
from robustops.faults.catalogue import KINDS
from robustops.faults.labels import Candidate
from robustops.faults.selector.evidence import TaskEvidence, as_json
from robustops.llm.completion import Completion, Message


class _Proposal(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    tool: str
    subtype: str
    reason: str = Field(min_length=1)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    candidates: list[_Proposal]


class _Unusable(Exception):
    """An answer that is refused; the message is for the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSelector:
    """`max_tries`: answers of which one must be usable. Temperature is 0, so that a second run asks the same."""

    completion: Completion
    max_tries: int = 3
    max_tokens: int = 4096

    async def __call__(self, evidence: TaskEvidence) -> tuple[Candidate, ...]:
        """Raises PolicyError, naming the task, when no try gave a usable answer."""
        messages: list[Message] = [
            {"role": "system", "content": prompt("system.md")},
            {"role": "user", "content": _question(evidence)},
        ]
        problem = ""
        for _ in range(self.max_tries):
            reply = await self.completion.complete(messages, temperature=0.0, max_tokens=self.max_tokens)
            try:
                if reply.finish == "length":
                    raise _Unusable(f"it was cut off after {self.max_tokens} tokens; give shorter reasons")
                return read_answer(reply.text, evidence.tool_names)
            except _Unusable as error:
                problem = str(error)
            messages += [
                {"role": "assistant", "content": reply.text},
                {"role": "user", "content": prompt("refused.md").replace("{problem}", problem)},
            ]
        raise PolicyError(
            f"selector: task {evidence.task.task_id!r}: no usable answer in {self.max_tries} tries; the last: {problem}"
        )


def read_answer(text: str, tools: Sequence[str]) -> tuple[Candidate, ...]:
    """Raises _Unusable, in words for the model, for anything but the JSON that was asked for."""
    try:
        answer = _Answer.model_validate_json(text.strip())
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the text"
        raise _Unusable(f"{where}: {first['msg']}") from error
    seen: set[tuple[str, str]] = set()
    for proposal in answer.candidates:
        pair = (proposal.tool, proposal.subtype)
        if proposal.tool not in tools:
            raise _Unusable(f"there is no tool {proposal.tool!r}; the tools are {', '.join(tools)}")
        if proposal.subtype not in KINDS:
            raise _Unusable(f"there is no kind {proposal.subtype!r}; the kinds are {', '.join(KINDS)}")
        if pair in seen:
            raise _Unusable(f"{proposal.tool} with {proposal.subtype} is proposed twice")
        seen.add(pair)
    return tuple(Candidate(tool=one.tool, subtype=one.subtype, reason=one.reason) for one in answer.candidates)


def _question(evidence: TaskEvidence) -> str:
    return prompt("user.md").replace("{evidence}", json.dumps(as_json(evidence), ensure_ascii=False, indent=1))


def prompt(name: str) -> str:
    return (files("robustops.faults.selector") / "prompts" / name).read_text(encoding="utf-8")
