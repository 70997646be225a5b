"""A policy of fake servers, and what tests ask of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import torch
from fake_vllm import FakeVllm

from robustops.agent.policy import Prompt, Sampling
from robustops.agent.vllm_server import ServerOptions, ServerPolicy


class Clock:
    """Nothing but waiting takes time."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def policy_of(servers, tmp_path, *, clock: Clock | None = None, **options) -> ServerPolicy:
    chosen = ServerOptions(
        urls=tuple(server.url for server in servers),
        model="m",
        weights_folder=tmp_path / "weights",
        **{"poll_s": 0.01, **options},
    )
    timing = {} if clock is None else {"clock": clock, "sleep": clock.sleep}
    return ServerPolicy(chosen, stop_ids=(6, 7), decode=lambda ids: " ".join(map(str, ids)), **timing)


def prompt(case: str = "case") -> Prompt:
    return Prompt(case_id=case, task_id="task", turn=3, token_ids=(1, 2, 3), messages=(), tools=())


def act(policy: ServerPolicy, *cases: str):
    async def run():
        try:
            wanted = Sampling(temperature=0.7, max_tokens=9, seed=4)
            return await asyncio.gather(*(policy.act(prompt(case), wanted) for case in cases or ("case",)))
        finally:
            await policy.close()

    return asyncio.run(run())


def weights(value: float) -> list[tuple[str, torch.Tensor]]:
    return [("a.weight", torch.full((2, 3), value))]


def load(policy: ServerPolicy, value: float, version: int) -> None:
    asyncio.run(policy.load_weights(weights(value), version))


class FakeProcess:
    """A server that ended, and is there again once it was asked to start."""

    def __init__(self, server: FakeVllm) -> None:
        self.server, self.revived = server, 0
        self.has_ended, self.log_file = True, Path("vllm-server.log")

    def revive(self) -> None:
        self.revived += 1
        self.has_ended = False
        self.server.unhealthy_polls = 0

    def make_ready(self) -> None:
        self.revive()

    def close(self) -> None:
        pass
