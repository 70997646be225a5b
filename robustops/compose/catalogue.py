"""All tools that the servers of a task advertise: domains in, tool schemas out, those of several servers merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from robustops.core.task import ToolSchema
from robustops.gym.session import Gym


async def catalogues(gym: Gym, domains: Iterable[str]) -> dict[str, Sequence[ToolSchema]]:
    """By domain. Connections are given back: episodes run in an event loop of their own, which cannot use them."""
    try:
        return {domain: await gym.catalogue(domain) for domain in sorted(domains)}
    finally:
        await gym.close()


def merged(domains: Iterable[str], tools: Mapping[str, Sequence[ToolSchema]]) -> list[ToolSchema]:
    """Of a task's domains, in its order: a name that two servers share is the first one's."""
    found: dict[str, ToolSchema] = {}
    for tool in (tool for domain in domains for tool in tools[domain]):
        found.setdefault(tool.name, tool)
    return list(found.values())
