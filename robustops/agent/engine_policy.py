"""A policy on an engine in this process: token ids in, sampled ids with their logprobs out, weights replaced between.

Coroutines reach the engine through the pump. Knows no engine library and no trainer: named tensors come in, a probe
elsewhere proves that they arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from robustops.agent.policy import Prompt, Sample, SampleStore, Sampling
from robustops.agent.pump import Engine, EnginePump
from robustops.core.errors import ConfigError, PolicyError


def check_model_folder(folder: Path) -> None:
    """Raise ConfigError for a folder that is no model."""
    if not (folder / "config.json").is_file():
        raise ConfigError(f"model.path: no config.json in '{folder}'; give the folder of a Hugging Face model")


class LocalEngine(Engine, Protocol):
    """What a policy needs of an engine beside sampling; nothing here is called while requests run."""

    weight_version: int

    def load_weights(self, named_tensors: Iterable[tuple[str, Any]], version: int) -> None:
        """Raises PolicyError for weights that are not the model's."""

    def reset_prefix_cache(self) -> bool:
        """Forget what was computed from earlier weights; False where some of it is still in use."""

    def score(self, token_ids: Sequence[int]) -> tuple[float, ...]: ...

    def sleep(self) -> None: ...

    def wake_up(self) -> None: ...

    def shutdown(self) -> None: ...


class EnginePolicy:
    """`deterministic` and `seed`: as of EnginePump."""

    def __init__(self, engine: LocalEngine, *, deterministic: bool, seed: int) -> None:
        self._engine = engine
        self._pump = EnginePump(engine, deterministic=deterministic, seed=seed)

    @property
    def weight_version(self) -> int:
        return self._engine.weight_version

    async def act(self, prompt: Prompt, sampling: Sampling) -> Sample:
        return await self._pump.act(prompt, sampling)

    def remember(self, store: SampleStore | None) -> None:
        self._pump.remember(store)

    def join(self, num: int = 1) -> None:
        self._pump.join(num)

    def leave(self, num: int = 1) -> None:
        self._pump.leave(num)

    async def load_weights(self, named_tensors: Iterable[tuple[str, Any]], version: int) -> None:
        """Replace all weights (checkpoint names, any float dtype; a tied head may be left out), empty the prefix cache.

        Raises PolicyError while requests are running, for weights that are not the model's, and when cached blocks
        could not be freed.
        """
        if not self._pump.is_idle:
            raise PolicyError(f"weights {version}: requests are still running; load weights between steps")
        self._engine.load_weights(named_tensors, version)
        if not self._engine.reset_prefix_cache():
            raise PolicyError(f"weights {version}: the prefix cache could not be reset; blocks are still in use")

    def score(self, token_ids: Sequence[int]) -> tuple[float, ...]:
        """Logprob of each token but the first, given those before it; does not read the prefix cache."""
        if not self._pump.is_idle:
            raise PolicyError("score: requests are still running")
        return self._engine.score(token_ids)

    def sleep(self) -> None:
        """Give the memory of weights and key-value cache back while the trainer works, where the engine can."""
        self._engine.sleep()

    def wake_up(self) -> None:
        self._engine.wake_up()

    async def close(self) -> None:
        await self._pump.close()
        self._engine.shutdown()
