"""Chat codec: tasks, samples and replies in, token ids and decisions out. Token in, token out.

The prompt of a turn is the previous ids plus a rendered suffix; sampled history is never tokenised again. One call per
turn: sampling stops at `</tool_call>` or the end-of-turn, and `continuation` appends what the template puts after it.
Knows no gym and no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from robustops.agent import hermes
from robustops.agent.hermes import CALL_CLOSE, CALL_OPEN, END_OF_TURN, Decision, write_decision
from robustops.agent.policy import Message
from robustops.agent.template import Template, assistant_message, render, take_apart
from robustops.agent.views import ToolView, observation_text, system_text, template_tools
from robustops.core.episode import ToolCall, ToolResult
from robustops.core.errors import ConfigError
from robustops.core.task import Task, ToolSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Where an episode starts; `token_ids` include the generation prompt."""

    messages: tuple[Message, ...]
    token_ids: tuple[int, ...]


class Codec:
    """One tokenizer and its template in one view. Immutable after load; safe to share between episodes."""

    def __init__(self, tokenizer: Any, template: Template, tool_schema: ToolView) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._view = tool_schema
        self.eos_id: int = tokenizer.convert_tokens_to_ids(END_OF_TURN)
        self.call_open_id: int = tokenizer.convert_tokens_to_ids(CALL_OPEN)
        self.call_close_id: int = tokenizer.convert_tokens_to_ids(CALL_CLOSE)
        self.stop_ids: tuple[int, ...] = (self.call_close_id, self.eos_id)

    @classmethod
    def load(cls, folder: Path, *, tool_schema: ToolView) -> Codec:
        """Raises ConfigError for a folder without a tokenizer, or a template that is not hermes or rewrites history."""
        if not folder.is_dir():
            raise ConfigError(f"{folder}: no such model folder; set model.path=FOLDER to one with tokenizer files")
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{folder}: holds no loadable tokenizer ({str(error).splitlines()[0]})") from error
        for token in (END_OF_TURN, CALL_OPEN, CALL_CLOSE):
            if len(tokenizer.encode(token, add_special_tokens=False)) != 1:
                raise ConfigError(f"{folder}: {token!r} is not a single token; use a Qwen3 or hermes tokenizer")
        return cls(tokenizer, take_apart(tokenizer, END_OF_TURN, where=str(folder)), tool_schema)

    def start(self, task: Task, tools: Sequence[ToolSchema]) -> Opening:
        """The first prompt of an episode: policy, tools and request. Nothing else of the task is looked at."""
        messages: tuple[Message, ...] = (
            {"role": "system", "content": system_text(task, tools, self._view)},
            {"role": "user", "content": task.request},
        )
        text = render(self._tokenizer, messages, tools=template_tools(tools, self._view))
        return Opening(messages=messages, token_ids=self.encode(text))

    def parse(self, text: str) -> Decision:
        """Read a sample's text, with or without its stop token. Never raises."""
        return hermes.parse(text)

    def assistant_message(self, decision: Decision | str) -> Message:
        """The turn as a chat message; a malformed turn stays the text it was."""
        if isinstance(decision, str):
            parsed = self.parse(decision)
            if parsed.malformed is not None:
                return {"role": "assistant", "content": decision.removesuffix(END_OF_TURN)}
            decision = parsed
        return assistant_message(call=decision.call, content=decision.content, reasoning=decision.reasoning)

    def tool_message(self, result: ToolResult) -> Message:
        return {"role": "tool", "content": observation_text(result, self._view)}

    def continuation(self, sampled_ids: Sequence[int], result: ToolResult) -> tuple[int, ...]:
        """Ids after a sample: what is missing of its end-of-turn, the reply, the next generation prompt."""
        has_end_of_turn = bool(sampled_ids) and sampled_ids[-1] == self.eos_id
        reply = observation_text(result, self._view)
        return self.encode(self._template.continuation(reply, has_end_of_turn=has_end_of_turn))

    def encode_decision(self, *, call: ToolCall | None, content: str) -> tuple[int, ...]:
        """Ids of a turn as the model would have to emit it, through its stop token."""
        text = write_decision(call=call, content=content)
        return self.encode(text if call is not None else text + END_OF_TURN)

    def call_span(self, sampled_ids: Sequence[int]) -> range:
        """Positions of the tool-call block within a sample; an unclosed one reaches to the end. Empty without one."""
        ids = list(sampled_ids)
        if self.call_open_id in ids:
            first = ids.index(self.call_open_id)
            last = ids.index(self.call_close_id, first) if self.call_close_id in ids[first:] else len(ids) - 1
            return range(first, last + 1)
        if self.call_close_id in ids:  # a closing tag without its opening: malformed as a whole
            return range(len(ids))
        return range(0)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def count(self, text: str) -> int:
        return len(self.encode(text))

    @property
    def vocabulary_size(self) -> int:
        return len(self._tokenizer)
