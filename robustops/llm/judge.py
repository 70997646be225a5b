"""A judge out of a completion endpoint: a system and a user text in, the reply's text out, always at temperature 0."""

from __future__ import annotations

from dataclasses import dataclass

from robustops.llm.completion import Completion


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionJudge:
    completion: Completion
    max_tokens: int = 1024

    async def __call__(self, system: str, user: str) -> str:
        messages = ({"role": "system", "content": system}, {"role": "user", "content": user})
        reply = await self.completion.complete(messages, temperature=0.0, max_tokens=self.max_tokens)
        return reply.text
