"""One episode's prompt, as it grows: samples and replies in, the next `Prompt` out. Token in, token out.

The prompt is only ever appended to; what was sampled is never tokenised again. Knows no gym and no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from robustops.agent.hermes import Decision
from robustops.agent.policy import Message, Prompt
from robustops.core.episode import ToolResult, Turn
from robustops.core.task import Case, Task, ToolSchema


class Opening(Protocol):
    @property
    def messages(self) -> Sequence[Message]: ...

    @property
    def token_ids(self) -> Sequence[int]: ...


class ChatCodec(Protocol):
    """What a rollout needs of the chat codec (robustops.agent.codec.Codec)."""

    def start(self, task: Task, tools: Sequence[ToolSchema]) -> Opening: ...

    def parse(self, text: str) -> Decision: ...

    def assistant_message(self, decision: str) -> Message: ...

    def tool_message(self, result: ToolResult) -> Message: ...

    def continuation(self, sampled_ids: Sequence[int], result: ToolResult) -> tuple[int, ...]: ...


class Dialogue:
    """`context_ids` are those appended since the last sample; `num_tokens` counts the whole prompt."""

    def __init__(self, codec: ChatCodec, task: Task, tools: Sequence[ToolSchema]) -> None:
        opening = codec.start(task, tools)
        self.tools = tuple(tools)
        self.context_ids: tuple[int, ...] = tuple(opening.token_ids)
        self._codec = codec
        self._past_ids: list[int] = []
        self._messages: list[Message] = list(opening.messages)
        self._num_turns = 0

    @property
    def num_tokens(self) -> int:
        return len(self._past_ids) + len(self.context_ids)

    def prompt(self, case: Case) -> Prompt:
        return Prompt(
            case_id=case.case_id,
            task_id=case.task_id,
            turn=self._num_turns,
            token_ids=(*self._past_ids, *self.context_ids),
            messages=tuple(self._messages),
            tools=self.tools,
        )

    def advance(self, turn: Turn) -> None:
        """Take in one turn that got a reply.

        Raises ValueError for a turn of another dialogue: its context is not what this prompt ends with.
        """
        if turn.context_ids != self.context_ids:
            raise ValueError(f"turn {self._num_turns} does not continue this prompt: its context ids differ")
        if turn.shown is None:
            raise ValueError(f"turn {self._num_turns} has no reply to go on from")
        self._past_ids += [*turn.context_ids, *turn.sampled_ids]
        self._messages += [self._codec.assistant_message(turn.text), self._codec.tool_message(turn.shown)]
        self.context_ids = self._codec.continuation(turn.sampled_ids, turn.shown)
        self._num_turns += 1
