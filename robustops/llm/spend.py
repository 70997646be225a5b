"""What an endpoint was used for: counts of requests, tokens and money. Replies in, totals out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from robustops.llm.completion import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens. `cached`: of prompt tokens the provider had cached; None means as `prompt`."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def of(self, usage: Usage) -> float:
        cached_price = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt_tokens - usage.cached_tokens
        return (
            fresh * self.prompt + usage.cached_tokens * cached_price + usage.completion_tokens * self.completion
        ) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """Totals so far. `num_retries` counts tries after the first; `num_failures` requests that got no reply at all."""

    num_replies: int = 0
    num_retries: int = 0
    num_failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0

    def with_reply(self, usage: Usage, price: Price) -> Spend:
        return replace(
            self,
            num_replies=self.num_replies + 1,
            prompt_tokens=self.prompt_tokens + usage.prompt_tokens,
            completion_tokens=self.completion_tokens + usage.completion_tokens,
            cached_tokens=self.cached_tokens + usage.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + usage.reasoning_tokens,
            cost_usd=self.cost_usd + price.of(usage),
        )

    def plus(self, other: Spend) -> Spend:
        """Both together, as of two processes of one run."""
        return Spend(**{item.name: getattr(self, item.name) + getattr(other, item.name) for item in fields(self)})
