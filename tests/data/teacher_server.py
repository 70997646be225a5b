"""The scripted expert behind a chat endpoint, in a thread of its own, which keeps what it was asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robustops.data.expert_endpoint import ExpertEndpoint, listening
from robustops.data.task_set import TaskSet

USAGE = {"prompt_tokens": 100, "completion_tokens": 20}


@dataclass
class WatchedExpert:
    """Says that each reply took the same tokens. `bodies`: every request it got."""

    expert: ExpertEndpoint
    bodies: list[Mapping[str, Any]] = field(default_factory=list)

    def reply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self.bodies.append(body)
        return {**self.expert.reply(body), "usage": USAGE}


@contextmanager
def served_expert(root: Path, narration: str = "") -> Iterator[tuple[str, WatchedExpert]]:
    """Yields the URL up to the version."""
    endpoint, ready = WatchedExpert(ExpertEndpoint.of(TaskSet.load(root), narration)), threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        found.update(stop=asyncio.Event(), loop=asyncio.get_running_loop())
        async with listening(endpoint.reply, "127.0.0.1", 0) as url:
            found["url"] = url
            ready.set()
            await found["stop"].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield found["url"], endpoint
    finally:
        found["loop"].call_soon_threadsafe(found["stop"].set)
        thread.join(30)
