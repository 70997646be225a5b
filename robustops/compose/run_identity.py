"""What all rows of a run share, and which runs may share a folder: a configuration in, a `RunIdentity` out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast

from robustops.config import RunConfig
from robustops.config.model import ApiConfig
from robustops.rollout.rows import RunIdentity
from robustops.rollout.score import ProgressKind, RewardWeights


def weights_of(config: RunConfig) -> RewardWeights:
    success, progress, quality = config.reward.weights
    return RewardWeights(success=success, progress=progress, quality=quality)


def identity_of(
    config: RunConfig, folder: Path, *, model: str, stage: str, split: str, policy_mode: str
) -> RunIdentity:
    """What all rows of this run share."""
    return RunIdentity(
        run=folder.name,
        model=model,
        stage=stage,
        split=split,
        seed=config.seed,
        policy_mode=policy_mode,
        settings_sha=settings_sha(config),
        weights=weights_of(config),
        progress=cast(ProgressKind, config.reward.progress),
    )


# Keys that change no episode: how much runs at once, where results go, how many cases are asked for.
WITHOUT_EFFECT: Mapping[str, frozenset[str] | None] = {
    "run": None,
    "logger": None,
    "hardware": None,
    "engine": frozenset({"concurrency", "gpu_memory_utilization", "kv_cache_mib"}),
    "gym": frozenset({"pool", "max_consecutive_failures"}),
    "evaluation": frozenset({"conditions", "attempts", "arms", "supplement", "supplement_temperature"}),
}


def settings_sha(config: RunConfig) -> str:
    """Hash of the settings that shape episodes and of the model: no folder mixes the results of two.

    How fast an endpoint may be asked, and what it costs, may change when a run goes on; which one it is may not.
    """
    settings = {}
    api = ApiConfig(base_url=config.model.api.base_url, model=config.model.api.model)
    config = replace(config, model=replace(config.model, api=api))
    for group, value in asdict(config).items():
        without = WITHOUT_EFFECT.get(group, frozenset())
        if without is not None:
            settings[group] = {k: v for k, v in value.items() if k not in without} if without else value
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
    for path in sorted(Path(config.model.path).expanduser().absolute().glob("*.safetensors")):
        digest.update(path.name.encode())
        digest.update(sampled_bytes(path))
    return digest.hexdigest()


def sampled_bytes(path: Path, *, num_samples: int = 64, sample_bytes: int = 65536) -> bytes:
    """The size of a file and evenly spaced parts of it: enough to tell two checkpoints apart, cheap for large ones."""
    size = path.stat().st_size
    parts = [str(size).encode()]
    with path.open("rb") as file:
        for number in range(num_samples):
            file.seek(max(0, size - sample_bytes) * number // max(1, num_samples - 1))
            parts.append(file.read(sample_bytes))
    return b"".join(parts)
