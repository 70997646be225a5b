"""A policy behind a chat endpoint: a prompt's messages out, one reply in, re-encoded as the Base model would write it.

The endpoint's reply is brought into hermes text and Base token ids, so that its tokens are counted with the same
tokenizer and under the same budget as everybody's. Such samples carry no logprobs and cannot be trained on.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from robustops.agent.hermes import CALL_CLOSE, CALL_OPEN
from robustops.agent.policy import Message, Prompt, Sample, Sampling
from robustops.agent.views import chat_tool
from robustops.core.episode import ToolCall
from robustops.llm.completion import Completion, Reply, RequestedCall


class Encoder(Protocol):
    """What is needed of the codec."""

    def encode_decision(self, *, call: ToolCall | None, content: str) -> tuple[int, ...]: ...

    def encode(self, text: str) -> tuple[int, ...]: ...

    def decode(self, ids: Sequence[int]) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Encoded:
    ids: tuple[int, ...]
    dropped_calls: int


class ApiPolicy:
    """Several calls in one reply: the first is kept, the others are counted in `Sample.dropped_calls`."""

    def __init__(self, completion: Completion, codec: Encoder) -> None:
        self._completion = completion
        self._codec = codec

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        reply = await self._completion.complete(
            chat_messages(prompt.messages),
            tools=[chat_tool(tool) for tool in prompt.tools],
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
        )
        encoded = self._encode(reply)
        # The endpoint counted its own tokens; the budget is in Base tokens, so it is applied once more here.
        ids = encoded.ids[: sampling.max_tokens]
        is_cut = reply.finish == "length" and not reply.tool_calls
        return Sample(
            token_ids=ids,
            logprobs=(),
            text=self._codec.decode(ids),
            finish="length" if is_cut or len(encoded.ids) > sampling.max_tokens else "stop",
            cached_tokens=reply.usage.cached_tokens,
            reasoning_tokens=reply.usage.reasoning_tokens,
            dropped_calls=encoded.dropped_calls,
        )

    async def close(self) -> None:
        await self._completion.close()

    def _encode(self, reply: Reply) -> _Encoded:
        if reply.tool_calls:
            first, *others = reply.tool_calls
            # Some servers leave the block they parsed in the text as well; it must not be read as a second one.
            call, content = read_call(first), reply.text.partition(CALL_OPEN)[0].strip()
            if call is not None:
                ids = self._codec.encode_decision(call=call, content=content)
            else:
                ids = self._codec.encode(f"{content}\n{as_sent(first)}" if content else as_sent(first))
            return _Encoded(ids=ids, dropped_calls=len(others))
        before, closed, after = reply.text.partition(CALL_CLOSE)
        if closed:  # a server without a tool parser: the block stands in the text, and one call is one turn
            return _Encoded(ids=self._codec.encode(before + closed), dropped_calls=after.count(CALL_CLOSE))
        if reply.finish == "length":  # cut by the endpoint: no stop token was ever sampled
            return _Encoded(ids=self._codec.encode(reply.text), dropped_calls=0)
        return _Encoded(ids=self._codec.encode_decision(call=None, content=reply.text.strip()), dropped_calls=0)


def read_call(requested: RequestedCall) -> ToolCall | None:
    """The call, or None when its arguments are no JSON object."""
    try:
        arguments = json.loads(requested.arguments)
    except (ValueError, RecursionError):
        return None
    return ToolCall(name=requested.name, arguments=arguments) if isinstance(arguments, dict) else None


def as_sent(requested: RequestedCall) -> str:
    """A call whose arguments cannot be read, as text: the codec then finds the block malformed, and says why."""
    return f'{CALL_OPEN}\n{{"name": {json.dumps(requested.name)}, "arguments": {requested.arguments}}}\n{CALL_CLOSE}'


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Template messages as chat endpoints want them: arguments as text, calls and replies tied by an id.

    A reply to a malformed block has no call to refer to; it goes out as the user turn that the template makes of it.
    """
    sent: list[dict[str, Any]] = []
    open_id = ""
    for number, message in enumerate(messages):
        role, content = message["role"], message.get("content")
        if role == "tool" and open_id:
            sent.append({"role": "tool", "tool_call_id": open_id, "content": content})
        elif role == "tool":
            sent.append({"role": "user", "content": f"<tool_response>\n{content}\n</tool_response>"})
        elif message.get("tool_calls"):
            open_id = f"call_{number:04d}"
            function = message["tool_calls"][0]["function"]
            arguments = json.dumps(dict(function["arguments"]), ensure_ascii=False)
            call = {"id": open_id, "type": "function", "function": {"name": function["name"], "arguments": arguments}}
            sent.append({"role": role, "content": content or None, "tool_calls": [call]})
            continue
        else:
            sent.append({"role": role, "content": content})
        open_id = ""
    return sent
