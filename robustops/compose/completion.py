"""From `model.api` to the client of an endpoint, and to the judge that asks it."""

from __future__ import annotations

from robustops.config import RunConfig
from robustops.core.errors import ConfigError
from robustops.llm.http import Endpoint, HttpCompletion
from robustops.llm.judge import CompletionJudge
from robustops.llm.spend import Price


def build_completion(config: RunConfig) -> HttpCompletion:
    api = config.model.api
    if not api.base_url:
        raise ConfigError("model.api.base_url: no endpoint; write model.api.base_url=http://HOST:PORT/v1")
    price = Price(prompt=api.usd_per_million_input, completion=api.usd_per_million_output)
    endpoint = Endpoint(
        url=api.base_url,
        model=api.model or config.model.name,
        key_env=api.key_env,
        concurrency=api.concurrency,
        requests_per_minute=api.requests_per_minute,
        price=price,
    )
    return HttpCompletion(endpoint)


def judge_of(config: RunConfig) -> CompletionJudge | None:
    """The judge of response checks: the model's own endpoint; without one such checks stay unscored."""
    return CompletionJudge(completion=build_completion(config)) if config.model.api.base_url else None
