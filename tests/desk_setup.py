"""What an episode on the desk is played with, for tests of episodes, groups and evaluations."""

from typing import Any

from desk_agent import DeskCodec, DeskPolicy
from desk_gym import DeskGym, desk_verify

from robustops.agent.policy import Sampling
from robustops.rollout.play import Limits
from robustops.rollout.setup import Setup

LIMITS = Limits(max_context_tokens=20_000, reserve_tokens=200, max_turns=12, max_tokens_per_turn=400)


def desk_setup(
    policy: DeskPolicy, *, seed: int = 5, gym: Any = None, verify: Any = desk_verify, temperature: float = 1.0
) -> Setup:
    return Setup(
        gym=gym or DeskGym(),
        policy=policy,
        codec=DeskCodec(),
        verify=verify,
        limits=LIMITS,
        sampling=Sampling(temperature=temperature),
        seed=seed,
    )
